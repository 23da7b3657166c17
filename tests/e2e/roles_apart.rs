//! The roles as separate processes with an external NATS server.

use kit::process::Loggia;
use serde_json::json;

use crate::service::{TIMEOUT, json as run_json, spawn_on, writes};

#[tokio::test]
async fn write_project_and_serve_work_as_separate_processes() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (write, reader) = (folder.path().join("write"), folder.path().join("reader"));
    let mut writing = spawn_on(&nats, &write, "write");
    let mut projecting = spawn_on(&nats, &reader, "project");
    let mut serving = spawn_on(&nats, &reader, "serve");
    let http = serving.ready().await;
    writes(&write).await;
    let file = folder.path().join("in.ndjson");
    let record = json!({"name": "Bridge", "category": "architecture", "pictures": ["bridge.png"]});
    std::fs::write(&file, format!("{record}\n")).unwrap();
    let pixels = image::RgbImage::from_fn(900, 600, |x, y| image::Rgb([x as u8, y as u8, 90]));
    pixels.save(folder.path().join("bridge.png")).unwrap();
    run_json(&write, &["import", file.to_str().unwrap()]);
    kit::wait_until(TIMEOUT, "the project on the read node", async || {
        http.get("/v1/project/bridge").await.status == 200
            && http.get("/v1/search?q=bridge").await.json()["total"] == json!(1)
    })
    .await;
    // The read node has its own folder, into which the picture is copied.
    let image = kit::wait_for(TIMEOUT, "the picture on the read node", async || {
        let record = http.get("/v1/project/bridge").await.json();
        let url = record["images"][0]["url"].as_str()?.to_owned();
        let served = http.get(&url[url.find("/media/")?..]).await;
        (served.status == 200).then_some(served.body)
    })
    .await;
    let path = image_path(&reader);
    assert_eq!(image, std::fs::read(&path).unwrap());
    assert_eq!(image, std::fs::read(write.join(path.strip_prefix(&reader).unwrap())).unwrap());
    assert!(!path.with_file_name("original").exists(), "originals stay where they came");
    projecting =
        check_copied_again(&write, &reader, projecting, || spawn_on(&nats, &reader, "project")).await;
    assert!(serving.terminate().await.success());
    assert!(projecting.terminate().await.success());
    assert!(writing.terminate().await.success());
}

/// Checks that damaged files, and files that the write side lacks at first, are copied once possible.
async fn check_copied_again(
    write: &std::path::Path,
    reader: &std::path::Path,
    mut projecting: Loggia,
    start: impl Fn() -> Loggia,
) -> Loggia {
    let path = image_path(reader);
    let [short, lost] = ["640.jpg", "320.webp"].map(|form| path.with_file_name(form));
    let source = |file: &std::path::Path| write.join(file.strip_prefix(reader).unwrap());
    let wait_until_copied = async |file: &std::path::Path| {
        let kept = std::fs::read(source(file)).unwrap();
        let what = format!("all of {}", file.display());
        kit::wait_until(TIMEOUT, &what, async || std::fs::read(file).is_ok_and(|found| found == kept)).await;
    };
    kit::wait_until(TIMEOUT, "the place of the mirror", async || reader.join("media/mirrored").exists())
        .await;
    assert!(projecting.terminate().await.success());
    for (file, length) in [(&path, 0), (&short, 100)] {
        std::fs::File::options().write(true).open(file).unwrap().set_len(length).unwrap();
    }
    projecting = start();
    wait_until_copied(&path).await;
    wait_until_copied(&short).await;
    assert!(projecting.terminate().await.success());
    let hidden = write.join("hidden");
    std::fs::rename(source(&lost), &hidden).unwrap();
    std::fs::remove_file(&lost).unwrap();
    std::fs::remove_file(reader.join("media/mirrored")).unwrap();
    projecting = start();
    kit::wait_until(TIMEOUT, "a line in the log", async || {
        projecting.stderr().contains("the write side does not have")
    })
    .await;
    assert!(projecting.terminate().await.success());
    std::fs::rename(&hidden, source(&lost)).unwrap();
    projecting = start();
    wait_until_copied(&lost).await;
    projecting
}

/// Returns the widest rendition of the one picture below a data folder.
fn image_path(data: &std::path::Path) -> std::path::PathBuf {
    let only = |folder: std::path::PathBuf| {
        let mut folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        folders.find(|path| path.is_dir() && !path.ends_with("incoming")).unwrap()
    };
    only(only(data.join("media"))).join("900.webp")
}
