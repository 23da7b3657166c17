use schemas::ids::Position;

use super::*;

#[test]
fn backup_and_certificate_are_shown_once_they_exist() {
    let folder = tempfile::tempdir().unwrap();
    let (mut registry, ca) = (Registry::default(), folder.path().join("ca.pem"));
    register(&mut registry, folder.path().into(), Some(ca.clone()));
    let samples = || {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text.lines().filter(|line| line.starts_with("loggia_")).map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(samples(), [""; 0]);
    let (created, position) = ("2026-11-23T03:20:00Z".parse().unwrap(), Position(7));
    LastBackup { created, position, folder: "/backups/one".into() }.record(folder.path());
    let certificate = rcgen::generate_simple_self_signed(vec!["nats.example.org".to_owned()]).unwrap();
    std::fs::write(&ca, certificate.cert.pem()).unwrap();
    let expected = [
        "loggia_backup_timestamp_seconds 1795404000",
        "loggia_certificate_end_timestamp_seconds 67090118400",
    ];
    assert_eq!(samples(), expected);
}
