//! The commands of `docs/operating/backup.md`, run in order on a service with projects, pictures, keys and calls.

use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use kit::{ProgramOutput, free_port, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json};

/// Returns the shell blocks of the page in order, without their indentation.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("docs/operating/backup.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (mut blocks, mut open) = (Vec::new(), None::<String>);
    for line in page.lines() {
        match (&mut open, line.trim_start()) {
            (None, "```sh") => open = Some(String::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(block), line) => block.push_str(&format!("{line}\n")),
            (None, _) => {}
        }
    }
    blocks
}

/// Runs a script with the folders and the address of the page replaced.
fn run(script: &str, root: &Path, data: &Path, port: u16) {
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let script = script
        .replace("/var/lib/loggia-backups", &at("backups"))
        .replace("/mnt/offsite", &at("offsite"))
        .replace("/srv/", &at(""))
        .replace(":8099", &format!(":{port}"))
        .replace("4711", "2");
    let bin = Path::new(LOGGIA.as_str()).parent().unwrap().to_str().unwrap();
    let mut command = process::command("bash", data);
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    // Processes that a failed script leaves running would keep its output open.
    let script = format!("trap 'jobs -p | xargs -r kill' EXIT\n{script}");
    ProgramOutput::of(command.args(["-euo", "pipefail", "-c", &script]).env("PATH", path)).success();
}

async fn filled() -> Option<Service> {
    let service = Service::with(&["--no-demo", "--auth", "keys"]).await?;
    let picture = service.folder.path().join("front.png");
    RgbImage::from_pixel(400, 300, Rgb([90, 90, 60])).save_with_format(picture, ImageFormat::Png).unwrap();
    let pictures = json!([{"source": "front.png", "alt": "The front"}]);
    let record = json!({"slug": "stair-house", "name": "Stair House", "category": "architecture", "pictures": pictures});
    service.import(&[record]).await;
    let issued = service.json(&["keys", "issue", "--email", "ada@example.org"]).pop().unwrap();
    let bearer = format!("Bearer {}", issued["key"].as_str().unwrap());
    let call = async || {
        service.http.send("GET", "/v1/search?q=house", &[("authorization", &bearer)], "").await.status == 200
    };
    kit::wait_until(TIMEOUT, "a new key", call).await;
    kit::wait_until(TIMEOUT, "the call in the ledger", async || {
        service.json(&["status"])[0]["ledger"]["position"] == 1
    })
    .await;
    Some(service)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_page_work_in_order() {
    let Some(service) = filled().await else { return };
    let (root, data) = (tempfile::tempdir().unwrap(), service.folder.path().to_owned());
    std::fs::create_dir(root.path().join("offsite")).unwrap();
    let port = free_port();
    let blocks = blocks();
    assert_eq!(blocks.len(), 10);
    let (routine, rehearsal) = blocks.split_at(6);
    for (number, block) in routine.iter().enumerate() {
        if number == 1 {
            // Each is named by its second, and the incremental one has new events.
            service.import(&[json!({"slug": "brick-house", "name": "Brick House", "category": "art"})]).await;
            let now = || jiff::Timestamp::now().strftime("%Y-%m-%dT%H%M%SZ").to_string();
            let is_next = async || !root.path().join("backups").join(now()).exists();
            kit::wait_until(TIMEOUT, "the next second", is_next).await;
        }
        let (block, root, data) = (block.clone(), root.path().to_owned(), data.clone());
        tokio::task::spawn_blocking(move || run(&block, &root, &data, port)).await.unwrap();
    }
    let (script, at, folder) = (rehearsal.concat(), root.path().to_owned(), data.clone());
    tokio::task::spawn_blocking(move || run(&script, &at, &folder, port)).await.unwrap();
    assert!(!root.path().join("rehearsal").exists());
    let restored = run_json(&root.path().join("loggia-restored"), &["events", "head"]).pop().unwrap();
    assert_eq!(restored, service.json(&["events", "head"]).pop().unwrap());
    let until = run_json(&root.path().join("loggia-until"), &["events", "head"]).pop().unwrap();
    assert_eq!(until["position"], 2);
    let mut made: Vec<Value> = Vec::new();
    for entry in std::fs::read_dir(root.path().join("offsite")).unwrap() {
        let manifest = entry.unwrap().path().join("manifest.json");
        made.push(serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap());
    }
    assert_eq!(made.iter().filter(|manifest| manifest["parent"].is_object()).count(), 1, "{made:?}");
}
