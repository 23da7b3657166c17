//! The weights of the encoders: what `loggia models` shows, how they are installed, and what a service does with them.

use std::path::Path;

use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT};

const PICTURES: &str = "efficientnet-lite0.f16";
const TEXTS: &str = "potion-base-8m.i8";

/// Runs a command on a data folder that does not choose an encoder.
fn run(data: &Path, args: &[&str]) -> ProgramOutput {
    ProgramOutput::of(process::command(&LOGGIA, data).env_remove("LOGGIA_VECTORS").args(args))
}

/// Returns the report of `loggia models`.
fn report(data: &Path) -> Value {
    run(data, &["--json", "models"]).json()
}

#[test]
fn without_weights_the_built_in_encoder_is_used() {
    let data = tempfile::tempdir().unwrap();
    let weights = data.path().join("weights");
    let missing = |model: &str, encodes: &str, licence: &str, file: &str| {
        json!({"model": model, "encodes": encodes, "licence": licence, "file": weights.join(file), "state": "missing",
               "bytes": null, "problem": null})
    };
    let expected = json!({
        "weights": [
            missing("efficientnet-lite0", "pictures", "Apache-2.0", PICTURES),
            missing("potion-base-8m", "texts", "MIT", TEXTS),
        ],
        "encoder": {"name": "loggia-1", "weights": weights, "fault": null},
        "vectors": null,
    });
    assert_eq!(report(data.path()), expected);
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
    let checked = run(data.path(), &["config", "--check"]).stdout;
    let sentence = format!("the encoder loggia-1 computes vectors (weights: {})", weights.display());
    assert_eq!(checked.lines().last(), Some(&*sentence));
}

#[test]
fn a_damaged_file_is_reported_and_does_not_prevent_a_start() {
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir(data.path().join("weights")).unwrap();
    let file = data.path().join("weights").join(TEXTS);
    std::fs::write(&file, "").unwrap();
    let shown = run(data.path(), &["models"]).ended(3).stdout;
    let fault = format!("{} is empty, where the file with the SHA-256 ", file.display());
    assert!(shown.contains(&format!("\n{fault}")), "{shown}");
    assert!(shown.contains("\nthe encoder loggia-1 computes vectors, since "), "{shown}");
    let checked = run(data.path(), &["--json", "config", "--check"]).json();
    assert!(!checked["findings"].to_string().contains(TEXTS), "{checked}");
    assert!(checked["encoder"]["fault"].as_str().unwrap().starts_with(&fault), "{checked}");
    let found = run(data.path(), &["doctor"]).stdout;
    assert!(found.contains(&format!("warning   weights: {fault}")), "{found}");
}

#[test]
fn a_folder_without_right_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, from) = (folder.path().join("data"), folder.path().join("from"));
    let fetch = || run(&data, &["models", "fetch", from.to_str().unwrap()]).ended(1).stderr;
    let shown = from.display();
    assert_eq!(
        fetch().trim(),
        format!(
            "loggia: there is no folder {shown}; name one that holds the files which docs/models.md lists"
        )
    );
    std::fs::create_dir_all(from.join("hub/snapshots")).unwrap();
    std::fs::write(from.join("notes.txt"), "x").unwrap();
    assert!(fetch().starts_with(&format!("loggia: {shown} holds no weights; put ")), "{}", fetch());
    std::fs::write(from.join("hub/snapshots/tokenizer.json"), "{}").unwrap();
    let expected = format!(
        "loggia: {shown}/hub/snapshots/tokenizer.json has 2 of 683666 bytes and the SHA-256 \
         44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a, where the file with the SHA-256 \
         e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50 belongs; "
    );
    assert!(fetch().starts_with(&expected), "{}", fetch());
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn installed_weights_replace_the_vectors_of_the_built_in_encoder() {
    let Some(weights) = kit::weights() else { return };
    let Some(mut service) = Service::with(&["--no-demo", "--vectors", "builtin"]).await else { return };
    let lines: Vec<Value> = ["One", "Two", "Three"]
        .map(|name| json!({"name": name, "category": "art", "intro": format!("The {name} is of oak.")}))
        .into();
    service.import(&lines).await;
    let data = service.folder.path().to_owned();
    let wait_for = async |vectors: Value| {
        kit::wait_until(TIMEOUT, &vectors.to_string(), async || report(&data)["vectors"] == vectors).await;
    };
    wait_for(json!([{"encoder": "loggia-1", "visual": 0, "semantic": 3}])).await;

    // The folder of another machine, where files have other names.
    let from = tempfile::tempdir().unwrap();
    std::fs::create_dir(from.path().join("deeper")).unwrap();
    std::fs::copy(weights.join(TEXTS), from.path().join("deeper/a")).unwrap();
    let fetch = run(&data, &["--json", "models", "fetch", from.path().to_str().unwrap()]);
    let installed = fetch.json();
    assert_eq!(
        (&installed["installed"][0]["model"], &installed["missing"]),
        (&json!("potion-base-8m"), &json!(["efficientnet-lite0"])),
        "{installed}"
    );
    let bytes = |folder: &Path| std::fs::read(folder.join(TEXTS)).unwrap();
    assert!(bytes(&data.join("weights")) == bytes(&weights), "it is a copy");
    assert!(data.join("weights/NOTICES.txt").exists());
    let states: Vec<Value> =
        report(&data)["weights"].as_array().unwrap().iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["missing", "ready"]);

    assert!(service.loggia.terminate().await.success());
    let mut command = process::command(&LOGGIA, &data);
    command.env("LOGGIA_VECTORS", "auto").env("LOGGIA_LOG", "info").args(["up", "--no-demo"]);
    service.loggia = process::Loggia::spawn_command(command, &data);
    wait_for(json!([{"encoder": "loggia-1+potion-base-8m", "visual": 0, "semantic": 3}])).await;
    let ends = "all vectors of another encoder have been computed again";
    kit::wait_until(TIMEOUT, ends, async || service.loggia.stderr().contains(ends)).await;
    let log = service.loggia.stderr();
    let begins = "another encoder has computed the vectors of these projects; they are computed again";
    assert!(log.contains(begins) && log.contains("loggia-1+potion-base-8m"), "{log}");
}
