//! One process per data folder, and folders that must not be changed.

use kit::process::{self, Loggia};
use rustix::process::{Pid, Signal, kill_process};

use crate::{LOGGIA, TIMEOUT};

#[tokio::test]
async fn a_second_up_on_one_folder_reports_it_and_ends() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let mut first = Loggia::up(&LOGGIA, folder.path(), &["--no-demo"]).await;
    let up = ["up", "--no-demo", "--listen", "127.0.0.1:0"];
    let stderr = process::run(&LOGGIA, folder.path(), &up).ended(1).stderr;
    let expected = format!("another loggia (process {}) is running on the data folder", first.pid());
    assert!(stderr.contains(&expected), "{stderr}");
    assert_eq!(first.http().await.get("/healthz").await.status, 200, "the first is unharmed");
}

#[tokio::test]
async fn a_second_api_on_one_folder_leaves_the_address_of_the_first() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = nats.url();
    let mut first = Loggia::up(&LOGGIA, folder.path(), &["--no-demo", "--nats-url", &url]).await;
    let address = first.address().await;
    // Without the kit, which would delete the file.
    let output = folder.path().join("second.log");
    let mut command = process::command(&LOGGIA, folder.path());
    command.args(["serve", "--nats-url", &url]).stderr(std::fs::File::create(&output).unwrap());
    let mut second = command.spawn().unwrap();
    let expected = format!("another process serves on this data folder, at {address};");
    let is_reported =
        async || std::fs::read_to_string(&output).is_ok_and(|stderr| stderr.contains(&expected));
    kit::wait_until(TIMEOUT, "the sentence", is_reported).await;
    assert_eq!(first.address().await, address);
    kill_process(Pid::from_child(&second), Signal::TERM).unwrap();
    assert!(second.wait().unwrap().success());
    let figures = folder.path().join("daily-figures.json");
    assert!(!figures.exists(), "the figures by day are those of the first, which has not written them yet");
    assert_eq!(first.address().await, address);
    assert_eq!(first.http().await.get("/healthz").await.status, 200);
    assert!(first.terminate().await.success());
    assert!(figures.exists() && !folder.path().join("run/api.addr").exists());
}

#[tokio::test]
async fn a_port_in_use_is_reported_before_anything_starts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let stderr =
        process::run(&LOGGIA, folder.path(), &["up", "--no-demo", "--listen", &address]).ended(1).stderr;
    assert!(stderr.contains(&format!("listen: {address} cannot be taken")), "{stderr}");
    assert!(!folder.path().join("nats").exists(), "nothing was started");
}

#[test]
fn a_folder_of_a_newer_version_is_rejected_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("format"), "99\n").unwrap();
    for args in [&["up"][..], &["status"], &["export"], &["curate", "restore", "x"], &["verify"]] {
        let output = process::run(&LOGGIA, folder.path(), args);
        if args != ["status"] {
            let stderr = output.ended(1).stderr;
            assert!(stderr.contains("newer version of Loggia (format 99"), "{args:?}: {stderr}");
        }
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["format"], "{args:?} touched it");
    }
}

#[tokio::test]
async fn sigterm_ends_everything_within_ten_seconds() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let mut loggia = Loggia::up(&LOGGIA, folder.path(), &["--no-demo"]).await;
    let http = loggia.http().await;
    assert_eq!(http.get("/healthz").await.status, 200);
    // It fails if a task has not ended after ten seconds.
    assert_eq!(loggia.terminate().await.code(), Some(0), "{}", loggia.stderr());
    assert!(!folder.path().join("run/api.addr").exists());
    let mut again = Loggia::up(&LOGGIA, folder.path(), &["--no-demo"]).await;
    again.ready().await;
}
