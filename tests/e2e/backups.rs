//! Backups, and the checks of a folder, a backup or a log.

use std::path::{Path, PathBuf};

use image::{ImageFormat, Rgb, RgbImage};
use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, json as run_json};

/// Starts a service with a project that shows two pictures.
async fn with_pictures() -> Option<Service> {
    let service = Service::empty().await?;
    for (name, shade) in [("front.png", 200), ("back.png", 60)] {
        let path = service.folder.path().join(name);
        RgbImage::from_pixel(400, 300, Rgb([shade, 90, 60]))
            .save_with_format(path, ImageFormat::Png)
            .unwrap();
    }
    let pictures =
        json!([{"source": "front.png", "alt": "The front"}, {"source": "back.png", "alt": "The back"}]);
    let record = json!({"slug": "stair-house", "name": "Stair House", "category": "architecture", "pictures": pictures});
    service.import(&[record]).await;
    Some(service)
}

fn widths(media: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![media.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false if entry.ends_with("320.webp") => found.push(entry),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn outcome(output: ProgramOutput) -> (Option<i32>, String) {
    (output.status.code(), output.stdout + &output.stderr)
}

#[tokio::test]
async fn pictures_are_verified_in_the_folder_and_in_the_backup() {
    let Some(service) = with_pictures().await else { return };
    let (folder, elsewhere) = (service.folder.path().to_owned(), tempfile::tempdir().unwrap());
    let run = |folder: &Path, args: &[&str]| outcome(process::run(&LOGGIA, folder, args));
    let expected = json!({"pictures": 2, "repaired": 0, "faults": [], "missing": []});
    assert_eq!(run_json(&folder, &["verify", "media"]), std::slice::from_ref(&expected));

    let backup = elsewhere.path().join("backup");
    let copied = service.json(&["backup", backup.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&copied["pictures"], &copied["media"]["files"]), (&json!(2), &json!(10)));
    assert_eq!(run_json(&folder, &["backup", "verify", backup.to_str().unwrap()]), [copied]);

    // A damaged form in the folder, and then a missing picture.
    let widths_before = widths(&folder.join("media"));
    std::fs::write(&widths_before[0], "").unwrap();
    let (status, text) = run(&folder, &["verify", "media"]);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("320.webp is not what it was") && text.contains("1 DAMAGED OR MISSING"), "{text}");
    let repaired = run_json(&folder, &["verify", "media", "--repair"]).pop().unwrap();
    assert_eq!(repaired, json!({"pictures": 2, "repaired": 1, "faults": [], "missing": []}));
    assert_eq!(run_json(&folder, &["verify", "media"]), [expected]);
    std::fs::remove_dir_all(widths_before[0].parent().unwrap()).unwrap();
    let (status, text) = run(&folder, &["verify", "media"]);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("is missing; restore it from a backup, or attach it again"), "{text}");
    let (status, text) = run(&folder, &["verify", "--repair"]);
    assert_eq!((status, text.contains("--repair restores pictures")), (Some(2), true), "{text}");

    // The same damaged form in the backup.
    std::fs::write(&widths(&backup.join("media"))[0], "").unwrap();
    let restored = elsewhere.path().join("restored");
    for args in
        [["backup", "verify", backup.to_str().unwrap()].as_slice(), &["restore", backup.to_str().unwrap()]]
    {
        let (status, text) = run(&restored, args);
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains("of its 10 picture files 1 is not what was written"), "{text}");
    }
    assert!(!restored.join("media").exists());
}

#[tokio::test]
async fn a_log_is_compared_with_a_stored_head() {
    let Some(mut service) = Service::empty().await else { return };
    let (folder, elsewhere) = (service.folder.path().to_owned(), tempfile::tempdir().unwrap());
    let record = |n: usize| json!({"slug": format!("house-{n}"), "name": "A House", "category": "art"});
    service.import(&[record(1), record(2)]).await;
    let at = |name: &str| elsewhere.path().join(name).to_str().unwrap().to_owned();
    let backup = at("backup");
    service.json(&["backup", &backup]);
    let head: Value = service.json(&["events", "head"]).pop().unwrap();
    assert_eq!(head["position"], 2);
    std::fs::write(at("head.json"), head.to_string()).unwrap();
    let printed = process::run(&LOGGIA, &folder, &["events", "head"]).stdout;
    std::fs::write(at("head.txt"), printed).unwrap();
    service.import(&[record(3)]).await;
    assert!(service.loggia.terminate().await.success());

    let against = |folder: &Path, file: &str| {
        outcome(process::run(&LOGGIA, folder, &["events", "verify", "--against", file]))
    };
    for file in [&backup, &at("backup/manifest.json"), &at("head.json"), &at("head.txt")] {
        let (status, text) = against(&folder, file);
        assert_eq!((status, text.contains("it agrees with")), (Some(0), true), "{text}");
    }
    // The log of the backup is shorter than this head.
    let newer = run_json(&folder, &["events", "head"]).pop().unwrap();
    std::fs::write(at("newer.json"), newer.to_string()).unwrap();
    let restored = elsewhere.path().join("restored");
    run_json(&restored, &["restore", &backup]);
    let (status, text) = against(&restored, &at("newer.json"));
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("position 3: the event is missing"), "{text}");
    // The same position with another history.
    let mut other = head;
    other["hash"] = json!("ab".repeat(32));
    std::fs::write(at("other.json"), other.to_string()).unwrap();
    let (status, text) = against(&folder, &at("other.json"));
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("position 2: the event has another hash than in"), "{text}");
    std::fs::write(at("nothing.json"), "{}").unwrap();
    assert_eq!(against(&folder, &at("nothing.json")).0, Some(1));
}

#[test]
fn only_the_newest_backups_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (data, backups) = (folder.path().join("data"), folder.path().join("backups"));
    let file = folder.path().join("one.ndjson");
    std::fs::write(&file, "{\"name\": \"One\", \"category\": \"art\"}\n").unwrap();
    run_json(&data, &["import", file.to_str().unwrap()]);
    let backup = |day: &str| {
        let args = ["--clock-offset", day, "backup", backups.to_str().unwrap(), "--keep", "2"];
        run_json(&data, &args).pop().unwrap()
    };
    let made: Vec<Value> = ["0d", "1d", "2d"].map(backup).into();
    assert_eq!((&made[0]["removed"], &made[1]["removed"]), (&json!([]), &json!([])));
    assert_eq!(made[2]["removed"], json!([made[0]["folder"]]));
    let mut left: Vec<PathBuf> =
        std::fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    let folders: Vec<&Path> =
        made[1..].iter().map(|made| Path::new(made["folder"].as_str().unwrap())).collect();
    assert_eq!(left, folders);
    assert_eq!(made[2]["position"], 1);
    run_json(&data, &["backup", "verify", made[2]["folder"].as_str().unwrap()]);
}

/// Returns the standard output of a command that must succeed.
fn printed(folder: &Path, args: &[&str]) -> String {
    process::run(&LOGGIA, folder, args).success().stdout
}

#[test]
fn incremental_backups_restore_the_same_and_are_kept_with_their_parents() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (data, backups, file) = (at("data"), at("backups"), at("one.ndjson"));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let backup = |day: &str, since: &[&str]| {
        std::fs::write(&file, format!("{{\"name\": \"Of {day}\", \"category\": \"art\"}}\n")).unwrap();
        run_json(&data, &["import", &text(&file)]);
        let args = ["--clock-offset", day, "backup", &text(&backups), "--keep", "2"];
        run_json(&data, &[&args[..], since].concat()).pop().unwrap()
    };
    let last = ["--since", "last"];
    let chain = ["0d", "1d", "2d"].map(|day| backup(day, &last));
    let of = |made: &Value| PathBuf::from(made["folder"].as_str().unwrap());
    assert!(chain[0].get("parent").is_none(), "there was nothing to continue");
    for (made, parent) in chain[1..].iter().zip(&chain) {
        assert_eq!((&made["parent"]["folder"], &made["removed"]), (&parent["folder"], &json!([])));
    }
    let expected = at("whole");
    run_json(&data, &["backup", &text(&expected)]);
    let restored = [("chain", of(&chain[2])), ("full", expected.clone())].map(|(name, backup)| {
        run_json(&at(name), &["restore", &text(&backup)]);
        [&["export"][..], &["events", "verify", "--json"], &["keys", "list", "--json"]]
            .map(|args| printed(&at(name), args))
    });
    assert_eq!(restored[0], restored[1]);
    assert_eq!(restored[0][0], printed(&data, &["export"]));
    let line = printed(&data, &["backup", &text(&at("next")), "--since", &text(&expected)]);
    let created = &run_json(&data, &["backup", "verify", &text(&expected)])[0]["created"];
    assert_eq!(
        line,
        format!(
            "0 events since the backup of {} are in {}; `loggia restore` of it needs that backup too, in {}\n",
            created.as_str().unwrap(),
            at("next").display(),
            expected.display()
        )
    );
    let line = printed(&data, &["backup", "verify", &text(&of(&chain[2]))]);
    assert!(
        line.starts_with("3 events are in ") && line.contains(" and the backups that it builds on, "),
        "{line}"
    );

    // Everything that the second needs is kept, and removed with it.
    let full = backup("3d", &[]);
    assert_eq!(full["removed"], json!([]));
    assert_eq!(backup("4d", &[])["removed"], json!(chain.each_ref().map(|made| &made["folder"])));
    // An incremental backup without its parent.
    std::fs::remove_dir_all(&expected).unwrap();
    let refused = process::run(&LOGGIA, &at("none"), &["restore", &text(&at("next"))]).ended(1);
    assert!(refused.stderr.contains("it is neither beside it nor at"), "{refused}");
    assert!(!at("none").join("store/events.db").exists());
    let refused = process::run(&LOGGIA, &data, &["backup", &text(&at("b")), "--since", "/nowhere"]).ended(1);
    assert!(refused.stderr.contains("no backup is there: /nowhere has no manifest.json"), "{refused}");
}
