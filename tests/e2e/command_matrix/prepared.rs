//! A data folder with content for every command, and input files.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use kit::process;
use serde_json::{Value, json};

use super::table::PREFIXES;
use crate::service::{LOGGIA, Service, TIMEOUT};

/// A folder that was filled through its running service.
pub(crate) struct PreparedFolder {
    // Declared first: it must end before its folder is deleted.
    service: Service,
    place: tempfile::TempDir,
    backup: String,
    /// The ids of a key and a picture, for each of the prefixes.
    ids: Vec<(String, String)>,
    made: AtomicUsize,
}

impl PreparedFolder {
    /// Starts the service and fills its folder; `None` without a nats-server, with a message.
    pub(crate) async fn start() -> Option<PreparedFolder> {
        let service =
            Service::with(&["--no-demo", "--auth", "keys", "--admin-listen", "127.0.0.1:0"]).await?;
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("payments.json"), "[]").unwrap();
        let mut records = Vec::new();
        for prefix in PREFIXES {
            write_files(place.path(), prefix);
            records.extend((1..=5).map(|n| {
                let slug = format!("{prefix}-{n}");
                json!({"slug": slug, "name": format!("House {slug}"), "category": "art"})
            }));
        }
        service.import(&records).await;
        let ids: Vec<(String, String)> =
            PREFIXES.iter().map(|prefix| create_content(&service, place.path(), prefix)).collect();
        make_counted_call(&service).await;
        let backup = place.path().join("backup").display().to_string();
        let position = service.json(&["backup", &backup]).pop().unwrap()["position"].as_u64().unwrap();
        service.caught_up(position).await;
        Some(PreparedFolder { service, place, backup, ids, made: AtomicUsize::new(0) })
    }

    pub(crate) async fn stop(&mut self) {
        let ended = self.service.loggia.terminate().await;
        let stderr = self.service.loggia.stderr();
        assert!(
            ended.success() && !stderr.contains("ERROR") && !stderr.contains("panicked"),
            "{ended}: {stderr}"
        );
    }

    pub(crate) fn data(&self) -> &Path {
        self.service.folder.path()
    }

    pub(crate) fn base(&self) -> String {
        self.service.base()
    }

    /// Returns the base URL of its operators' listener.
    pub(crate) fn operators(&self) -> String {
        let log = self.service.loggia.stderr() + &self.service.loggia.stdout();
        let address = log.split("metrics and health on ").nth(1).unwrap();
        address.split_whitespace().next().unwrap().trim_end_matches('/').to_owned()
    }

    pub(crate) fn key_id(&self) -> String {
        self.ids[0].0.clone()
    }

    /// Returns a path next to that folder.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Returns a path that does not exist.
    pub(crate) fn new_path(&self) -> PathBuf {
        self.at(&format!("new-{}", self.made.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns a copy of the folder of the stopped service; each call makes a new one.
    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        let copy = if name.is_empty() { self.new_path() } else { self.at(name) };
        assert!(Command::new("cp").arg("-a").arg(self.data()).arg(&copy).status().unwrap().success());
        std::fs::set_permissions(&copy, Permissions::from_mode(0o700)).unwrap();
        copy
    }

    /// Returns arguments with the placeholders in capitals replaced.
    pub(crate) fn filled(&self, args: &[String], prefix: &str) -> Vec<String> {
        let at = PREFIXES.iter().position(|known| *known == prefix).unwrap();
        let (key, picture) = &self.ids[at];
        let filled = args.iter().map(|word| match word.as_str() {
            "KEY" => key.clone(),
            "PICTURE" => picture.clone(),
            "NEW" => self.new_path().display().to_string(),
            "sqlite:NEW" => format!("sqlite:{}", self.new_path().display()),
            word => {
                let word = word.replace("BACKUP", &self.backup);
                let word = match word.strip_prefix("P-") {
                    Some(rest) => format!("{prefix}-{rest}"),
                    None => word.replace("@P.", &format!("@{prefix}.")),
                };
                match word.strip_prefix("IN/") {
                    Some(name) => self.at(&name.replace("P.", &format!("{prefix}."))).display().to_string(),
                    None => word,
                }
            }
        });
        filled.collect()
    }
}

fn write_files(place: &Path, prefix: &str) {
    let record =
        json!({"slug": format!("{prefix}-new"), "name": format!("New {prefix}"), "category": "design"});
    std::fs::write(place.join(format!("{prefix}.ndjson")), format!("{record}\n")).unwrap();
    let record = json!({"name": format!("Selected {prefix}"), "category": "design"});
    std::fs::write(place.join(format!("{prefix}.json")), record.to_string()).unwrap();
    for name in [prefix.to_owned(), format!("{prefix}-kept")] {
        let mapping =
            format!("name = \"{name}\"\n[record]\nname = \"Title\"\ncategory = {{ value = \"art\" }}\n");
        std::fs::write(place.join(format!("{name}.toml")), mapping).unwrap();
    }
    let shade = prefix.as_bytes()[0];
    for (name, shade) in [(format!("{prefix}.png"), shade), (format!("{prefix}-first.png"), shade + 1)] {
        let pixels = image::RgbImage::from_pixel(40, 30, image::Rgb([shade, shade, 200]));
        pixels.save(place.join(name)).unwrap();
    }
}

/// Creates a withdrawn project, a picture, and keys of four addresses; returns the ids of a key and of the picture.
fn create_content(service: &Service, place: &Path, prefix: &str) -> (String, String) {
    service.json(&["mappings", "add", place.join(format!("{prefix}-kept.toml")).to_str().unwrap()]);
    let slug = |n: usize| format!("{prefix}-{n}");
    service.json(&["curate", "withdraw", &slug(4), "--reason", "gone"]);
    let picture = place.join(format!("{prefix}-first.png"));
    service.json(&["curate", "attach", &slug(5), picture.to_str().unwrap()]);
    let issue = |who: &str| {
        let email = format!("{who}@{prefix}.example");
        let issued: Value = service.json(&["keys", "issue", "--email", &email]).pop().unwrap();
        issued["key_id"].as_str().unwrap().to_owned()
    };
    issue("t");
    issue("e");
    let listed = service.json(&["pictures", "list", &slug(5)]).pop().unwrap();
    (issue("k"), listed["picture"].as_str().unwrap().to_owned())
}

/// Makes a counted call, so that there is a ledger.
async fn make_counted_call(service: &Service) {
    let issued = service.json(&["keys", "issue", "--email", "caller@example.org"]).pop().unwrap();
    let search = format!("/v1/search?q=house&key={}", issued["key"].as_str().unwrap());
    kit::wait_until(TIMEOUT, "a counted call", async || service.http.get(&search).await.status == 200).await;
    let id = issued["key_id"].as_str().unwrap();
    kit::wait_until(TIMEOUT, "the call in the ledger", async || {
        process::run(&LOGGIA, service.folder.path(), &["audit", id]).status.success()
    })
    .await;
}

/// Returns every path of a folder, including itself.
pub(super) fn all_paths(folder: &Path) -> Vec<PathBuf> {
    let (mut all, mut folders) = (vec![folder.to_owned()], vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if std::fs::symlink_metadata(&path).unwrap().is_dir() {
                folders.push(path.clone());
            }
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Returns the same with their owners.
pub(super) fn owners(folder: &Path) -> Vec<(PathBuf, u32)> {
    let owner = |path: PathBuf| {
        let uid = std::fs::symlink_metadata(&path).unwrap().uid();
        (path, uid)
    };
    all_paths(folder).into_iter().map(owner).collect()
}
