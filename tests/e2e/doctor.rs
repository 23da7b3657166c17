//! `loggia doctor` on a healthy folder and on others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, json as run_json};

/// Returns the status and the findings as pairs, without those about the test machine.
fn doctor(data: &Path, variables: &[(&str, &str)]) -> (Option<i32>, Vec<(String, String)>) {
    let mut command = process::command(&LOGGIA, data);
    let output = ProgramOutput::of(command.args(["doctor", "--json"]).envs(variables.iter().copied()));
    let report = output.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|found| found["about"] != "ulimit");
    let pair = |found: &Value| {
        let text = |member: &str| found[member].as_str().unwrap().to_owned();
        (format!("{} {}", text("verdict"), text("about")), text("message"))
    };
    (output.status.code(), findings.map(pair).collect())
}

#[tokio::test]
async fn doctor_passes_a_service_with_a_backup_and_not_a_stalled_one() {
    let Some(service) = Service::empty().await else { return };
    let (data, elsewhere) = (service.folder.path().to_owned(), tempfile::tempdir().unwrap());
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    service.import(&[json!({"name": "Stair House", "category": "architecture"})]).await;
    let (status, found) = doctor(&data, &[]);
    assert_eq!((status, found.len()), (Some(1), 1), "{found:?}");
    assert_eq!(found[0].1, "no backup was made yet; make one with `loggia backup DIR`");
    let backup = elsewhere.path().join("backup");
    service.json(&["backup", backup.to_str().unwrap()]);
    let (status, found) = doctor(&data, &[]);
    assert_eq!(found, []);
    assert!(status == Some(0) || status == Some(1), "{status:?}");

    let later = [("LOGGIA_CLOCK_OFFSET", "8d"), ("LOGGIA_LISTN", "x")];
    let (status, found) = doctor(&data, &later);
    let about: Vec<&str> = found.iter().map(|(about, _)| about.as_str()).collect();
    assert_eq!(
        (status, about),
        (Some(1), vec!["warning variables", "warning clock_offset", "warning backup"])
    );
    assert!(found[2].1.starts_with("the last backup is of 20"), "{found:?}");
    assert!(found[2].1.ends_with(&format!(", in {}; make another one", backup.display())), "{found:?}");
}

#[test]
fn anything_that_prevents_a_start_is_critical() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("one.ndjson"));
    std::fs::write(&file, "{\"name\": \"One\", \"category\": \"art\"}\n").unwrap();
    run_json(&data, &["--clock-offset", "2d", "import", file.to_str().unwrap()]);
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (status, found) =
        doctor(&data, &[("LOGGIA_SECRET_FILE", "/no/vault.key"), ("LOGGIA_LISTEN", "192.0.2.1:80")]);
    assert_eq!(status, Some(2), "{found:?}");
    let about: Vec<&str> = found.iter().map(|(about, _)| about.as_str()).collect();
    for expected in
        ["critical listen", "critical secret_file", "warning folder", "warning clock", "warning backup"]
    {
        assert!(about.contains(&expected), "{expected} in {found:?}");
    }
    let open = found.iter().find(|(about, _)| about == "warning folder").unwrap();
    let shown = data.display();
    assert_eq!(
        open.1,
        format!("{shown} is open to other users of this machine; close it with `chmod go= {shown}`")
    );
}
