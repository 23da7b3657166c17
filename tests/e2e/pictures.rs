//! `loggia pictures`: the state of the pictures that records name, retries, regenerated renditions, and erased
//! pictures.

use std::path::{Path, PathBuf};

use image::{ImageFormat, Rgb, RgbImage};
use kit::ProgramOutput;
use kit::http::Http;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json, spawn_on, writes};

const WITH_PORT: &str = "https://pictures.example:8443/back.jpg";
const WITH_PORT_REASON: &str = "Its address names port 8443; give one without a port.";
const OTHER_PORT: &str = "https://pictures.example:8444/a.jpg";
const OTHER_PORT_REASON: &str = "Its address names port 8444; give one without a port.";

/// Starts a service with a stored picture and two rejected ones that need no connection to their hosts.
async fn with_refused() -> Option<Service> {
    let service = Service::empty().await?;
    let front = service.folder.path().join("front.png");
    RgbImage::from_pixel(400, 300, Rgb([200, 90, 60])).save_with_format(front, ImageFormat::Png).unwrap();
    let record = |slug: &str, pictures: Value| json!({"slug": slug, "name": slug, "category": "art", "pictures": pictures});
    let house =
        json!([{"source": "front.png", "alt": "The front"}, {"source": WITH_PORT, "alt": "The back"}]);
    let plain = json!([{"source": OTHER_PORT, "alt": "A door"}]);
    service.import(&[record("stair-house", house), record("plain", plain)]).await;
    kit::wait_until(TIMEOUT, "two refused pictures", async || {
        service.json(&["pictures", "list", "--refused"]).len() == 2
    })
    .await;
    Some(service)
}

fn refused(slug: &str, source: &str, reason: &str) -> Value {
    json!({"state": "refused", "slug": slug, "source": source, "picture": null, "reason": reason})
}

fn outcome(output: ProgramOutput) -> (Option<i32>, String, String) {
    (output.status.code(), output.stdout, output.stderr)
}

fn folder_of(data: &Path, id: &str) -> PathBuf {
    data.join("media").join(&id[..2]).join(id)
}

#[tokio::test]
async fn rejected_pictures_are_listed_with_the_reason_and_retried() {
    let Some(service) = with_refused().await else { return };
    let plain = refused("plain", OTHER_PORT, OTHER_PORT_REASON);
    let house = refused("stair-house", WITH_PORT, WITH_PORT_REASON);
    let listed = [plain, house];
    assert_eq!(service.json(&["pictures", "list", "--refused"]), listed);
    let all = service.json(&["pictures", "list"]);
    let kept_row = all.iter().find(|row| row["state"] == "kept").unwrap();
    let expected = json!({"state": "kept", "slug": "stair-house", "source": "front.png", "picture": kept_row["picture"],
        "reason": null});
    assert_eq!(all, [listed[0].clone(), expected, listed[1].clone()]);
    let (status, table, _) = outcome(service.run(&["pictures", "list", "--refused"]));
    let expected = format!(
        "state    project      source                                  picture or reason\n\
         refused  plain        {OTHER_PORT}     {OTHER_PORT_REASON}\n\
         refused  stair-house  {WITH_PORT}  {WITH_PORT_REASON}\n"
    );
    assert_eq!((status, table), (Some(0), expected));

    let of_plain = format!("plain: {OTHER_PORT}: {OTHER_PORT_REASON}\n");
    let of_house = format!("stair-house: {WITH_PORT}: {WITH_PORT_REASON}\n");
    let (status, text, _) = outcome(service.run(&["pictures", "retry"]));
    assert_eq!((status, text), (Some(1), format!("{of_plain}{of_house}0 fetched, 2 refused again\n")));
    let (status, text, _) = outcome(service.run(&["pictures", "retry", "plain"]));
    assert_eq!((status, text), (Some(1), format!("{of_plain}0 fetched, 1 refused again\n")));
    let (status, text, stderr) = outcome(service.run(&["pictures", "retry", "no-house"]));
    assert_eq!((status, text.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("no listed project has the slug no-house"), "{stderr}");

    let address = "thumbnail=https://me:secret@pictures.example/a.jpg";
    let (status, _, stderr) = outcome(service.run(&["curate", "revise", "plain", "--set", address]));
    let sentence =
        "thumbnail contains a user name or password, which everyone could read; give a URL without";
    assert!(status == Some(1) && stderr.contains(sentence) && !stderr.contains("secret"), "{stderr}");

    // A source that the record no longer names is not retried.
    service.json(&["curate", "revise", "plain", "--unset", "pictures"]);
    assert_eq!(service.json(&["pictures", "retry", "plain"]), [json!({"fetched": 0, "refused": []})]);
    assert_eq!(service.json(&["pictures", "list", "--refused"]), [listed[1].clone()]);

    // The thumbnail of a record is retried too.
    let thumbnail = "https://pictures.example:8443/small.jpg";
    let record = json!({"slug": "thumb", "name": "Thumb", "category": "art", "thumbnail": thumbnail});
    service.import(&[record]).await;
    let expected = [listed[1].clone(), refused("thumb", thumbnail, WITH_PORT_REASON)];
    kit::wait_until(TIMEOUT, "a refused thumbnail", async || {
        service.json(&["pictures", "list", "--refused"]) == expected
    })
    .await;
    let (status, text, _) = outcome(service.run(&["pictures", "retry", "thumb"]));
    let again = format!("thumb: {thumbnail}: {WITH_PORT_REASON}\n0 fetched, 1 refused again\n");
    assert_eq!((status, text), (Some(1), again));
}

#[tokio::test]
async fn renditions_are_regenerated_and_unused_pictures_are_listed() {
    let Some(service) = with_refused().await else { return };
    let all = service.json(&["pictures", "list"]);
    let id = all.iter().find_map(|row| row["picture"].as_str()).unwrap();
    let folder = folder_of(service.folder.path(), id);
    let same = json!({"pictures": 1, "changed": 0, "damaged": 0, "projects": 0, "faults": []});
    assert_eq!(service.json(&["pictures", "remake"]), std::slice::from_ref(&same));
    let width = folder.join("320.webp");
    let bytes = std::fs::read(&width).unwrap();
    std::fs::write(&width, "").unwrap();
    let changed = json!({"pictures": 1, "changed": 1, "damaged": 0, "projects": 0, "faults": []});
    assert_eq!(service.json(&["pictures", "remake"]), [changed]);
    assert_eq!(std::fs::read(&width).unwrap(), bytes);
    assert_eq!(service.json(&["pictures", "remake"]), [same]);

    let (status, text, stderr) = outcome(service.run(&["pictures", "list", "--unused"]));
    assert_eq!((status, text.as_str()), (Some(0), ""), "{stderr}");
    assert!(stderr.contains("every stored picture is shown by a project"), "{stderr}");
    service.json(&["curate", "revise", "stair-house", "--unset", "pictures"]);
    let former = json!({"state": "former", "slug": "stair-house", "source": "front.png", "picture": id, "reason": null});
    assert_eq!(service.json(&["pictures", "list", "stair-house"]), std::slice::from_ref(&former));
    service.json(&["curate", "withdraw", "stair-house", "--reason", "Sold."]);
    assert_eq!(service.json(&["pictures", "list", "stair-house"]), [former]);
    assert_eq!(service.json(&["pictures", "list", "--unused"]), [json!({"picture": id})]);
    let (status, text, _) = outcome(service.run(&["pictures", "list", "--unused"]));
    assert_eq!((status, text), (Some(0), format!("{id}\n")));

    // No rendition is made from a damaged original.
    std::fs::write(folder.join("original"), "x").unwrap();
    let (status, text, stderr) = outcome(service.run(&["pictures", "remake"]));
    assert_eq!(status, Some(1), "{text}{stderr}");
    assert!(text.contains("its bytes do not match its id"), "{text}{stderr}");
    assert!(
        text.ends_with("0 recomputed, 0 changed, in 0 projects; 1 not recomputed: the original is damaged\n"),
        "{text}"
    );
    assert_eq!(std::fs::read(&width).unwrap(), bytes);
}

/// A write side and a read node with separate folders, on one NATS server.
struct SeparateNodes {
    folder: tempfile::TempDir,
    nats: Nats,
    processes: Vec<Loggia>,
}

impl SeparateNodes {
    async fn start() -> Option<(SeparateNodes, Http)> {
        let mut nodes = SeparateNodes {
            nats: Nats::start().await?,
            folder: tempfile::tempdir().unwrap(),
            processes: Vec::new(),
        };
        let http = nodes.processes().await;
        Some((nodes, http))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts both, and returns a client of the read node once it is ready.
    async fn processes(&mut self) -> Http {
        let spawn = |role: &str| spawn_on(&self.nats, &self.at(role), role);
        let (write, mut read) = (spawn("write"), spawn("read"));
        writes(&self.at("write")).await;
        let http = read.ready().await;
        self.processes = vec![write, read];
        http
    }

    async fn kill(&mut self) {
        self.processes.iter_mut().for_each(Loggia::kill9);
        self.processes.clear();
        std::fs::remove_file(self.at("write").join("run/write.json")).unwrap();
    }

    fn run(&self, args: &[&str]) -> Vec<Value> {
        run_json(&self.at("write"), args)
    }
}

#[tokio::test]
async fn an_erased_picture_is_removed_everywhere_and_restored_by_no_backup() {
    let Some((mut nodes, http)) = SeparateNodes::start().await else { return };
    let (front, file) = (nodes.at("front.png"), nodes.at("in.ndjson"));
    RgbImage::from_pixel(400, 300, Rgb([200, 90, 60])).save_with_format(&front, ImageFormat::Png).unwrap();
    std::fs::write(&file, format!("{}\n", json!({"slug": "stair", "name": "Stair", "category": "art"})))
        .unwrap();
    nodes.run(&["import", file.to_str().unwrap()]);
    nodes.run(&["curate", "attach", "stair", front.to_str().unwrap()]);
    let listed = nodes.run(&["pictures", "list"]).remove(0);
    let id = listed["picture"].as_str().unwrap().to_owned();
    let path = format!("/media/{id}/320.webp");
    kit::wait_until(TIMEOUT, "the picture on the read node", async || http.get(&path).await.status == 200)
        .await;
    kit::wait_until(TIMEOUT, "its address", async || {
        http.get("/v1/project/stair").await.json()["images"][0]["url"].is_string()
    })
    .await;
    let mirrored = folder_of(&nodes.at("read"), &id);
    assert!(mirrored.join("320.webp").exists());
    nodes.run(&["backup", nodes.at("older").to_str().unwrap()]);

    let erased = nodes.run(&["pictures", "erase", &id, "--actor", "Ada"]).remove(0);
    assert_eq!(
        (&erased["picture"], &erased["projects"], &erased["changed"]),
        (&json!(id), &json!(1), &json!(true))
    );
    assert!(!folder_of(&nodes.at("write"), &id).exists());
    kit::wait_until(TIMEOUT, "the end of it on the read node", async || {
        http.get(&path).await.status == 410 && !mirrored.exists()
    })
    .await;
    assert_eq!(http.get(&path).await.json()["title"], "Taken down");
    kit::wait_until(TIMEOUT, "the record without it", async || {
        http.get("/v1/project/stair").await.json()["images"] == json!([])
    })
    .await;
    for cited in 1..=2 {
        let cited = http.get(&format!("/cite/stair/{cited}")).await;
        assert!(cited.status == 200 && !cited.text().contains(&id), "{}", cited.text());
    }
    // It is neither missing nor stored again.
    assert_eq!(
        nodes.run(&["pictures", "list"]),
        [json!({"state": "erased", "slug": "stair", "source": "front.png",
        "picture": id, "reason": null})]
    );
    assert_eq!(nodes.run(&["verify", "media"])[0]["missing"], json!([]));
    let attach = ["curate", "attach", "stair", front.to_str().unwrap()];
    let again = process::run(&LOGGIA, &nodes.at("write"), &attach).ended(1);
    assert!(again.stderr.contains("It was taken down on "), "{again}");
    let unchanged = process::run(&LOGGIA, &nodes.at("write"), &["pictures", "erase", &id]).success();
    assert!(unchanged.stdout.contains("was erased before, on "), "{unchanged}");

    nodes.kill().await;
    let http = nodes.processes().await;
    kit::wait_until(TIMEOUT, "an answer", async || http.get(&path).await.status != 503).await;
    assert_eq!(http.get(&path).await.status, 410);
    let verified = run_json(&nodes.at("read"), &["verify", "--nats-url", &nodes.nats.url()]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    restored_without(&nodes, &id).await;
}

/// Restores the earlier backup with the write side's journal, and starts on it.
async fn restored_without(nodes: &SeparateNodes, id: &str) {
    let journal = nodes.at("write").join("media/pictures-erased.ndjson");
    let restored = nodes.at("restored");
    let older = nodes.at("older");
    let args = ["restore", older.to_str().unwrap(), "--erasures", journal.to_str().unwrap()];
    let fetched = run_json(&restored, &args).remove(0);
    assert_eq!(
        (&fetched["pictures"], &fetched["pictures_erased_again"]),
        (&json!(0), &json!(1)),
        "{fetched}"
    );
    assert!(!folder_of(&restored, id).exists());
    let mut up = Loggia::up(&LOGGIA, &restored, &["--no-demo"]).await;
    let http = up.ready().await;
    assert_eq!(http.get(&format!("/media/{id}/320.webp")).await.status, 410);
    assert_eq!(http.get("/v1/project/stair").await.json()["images"], json!([]));
}
