//! A mirror of the whole catalog that is made and kept with `/v1/changes` alone.

use std::collections::BTreeMap;
use std::time::Instant;

use kit::http::Http;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::node_group::NodeGroup;
use crate::service::{TIMEOUT, json as run_json};

/// A copy of the catalog by slug.
#[derive(Default)]
struct Mirror {
    projects: BTreeMap<String, Value>,
    since: String,
    kinds: Vec<String>,
}

impl Mirror {
    /// Applies what follows, up to the present end.
    async fn catch_up(&mut self, http: &Http) {
        while !self.step(http, 0).await {}
    }

    /// Applies a page, and waits for it if there is none yet. Returns whether it was the last one.
    async fn step(&mut self, http: &Http, wait: u64) -> bool {
        let path = format!("/v1/changes?since={}&limit=7&wait={wait}", self.since);
        let answer = http.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let page = answer.json();
        for change in page["changes"].as_array().unwrap() {
            self.kinds.push(change["kind"].as_str().unwrap().to_owned());
            if let Some(from) = change["from"].as_str() {
                self.projects.remove(from);
            }
            match change["project"]["slug"].as_str() {
                Some(slug) => drop(self.projects.insert(slug.to_owned(), change["project"].clone())),
                None => drop(self.projects.remove(change["slug"].as_str().unwrap())),
            }
        }
        page["next_cursor"].as_str().unwrap().clone_into(&mut self.since);
        page["caught_up"] == true
    }

    /// Applies changes as they come until one is of this kind.
    async fn until(&mut self, http: &Http, kind: &str) {
        let begun = Instant::now();
        self.kinds.clear();
        while !self.kinds.iter().any(|own| own == kind) {
            assert!(begun.elapsed() < TIMEOUT, "{kind}: {:?}", self.kinds);
            self.step(http, 10).await;
        }
    }

    /// Asserts that it is equal to what the node answers and to the export of the write side.
    async fn assert_equal(&self, http: &Http, group: &NodeGroup) {
        let exported = run_json(&group.write(), &["export"]);
        let slugs: Vec<&str> = exported.iter().map(|line| line["slug"].as_str().unwrap()).collect();
        assert_eq!(self.projects.keys().collect::<Vec<_>>(), slugs);
        for line in exported {
            let slug = line["slug"].as_str().unwrap();
            let own = &self.projects[slug];
            assert_eq!(*own, http.get(&format!("/v1/project/{slug}")).await.json());
            for name in ["name", "city", "description"] {
                assert_eq!(own[name], line[name], "{slug} {name}");
            }
            assert_eq!(own["category"].as_str().unwrap().to_lowercase(), line["category"], "{slug}");
        }
    }
}

#[tokio::test]
async fn a_mirror_is_made_and_kept_with_this_call_alone() {
    // Both nodes give the same addresses.
    let settings = [("LOGGIA_PUBLIC_URL", "https://catalog.example.org")];
    let Some(mut group) = NodeGroup::of(&["one"], 30, &settings).await else { return };
    let http = Http::new(format!("http://{}", group.nodes[0].address));
    http.ready().await;
    let mut mirror = Mirror::default();
    mirror.catch_up(&http).await;
    assert_eq!((mirror.projects.len(), mirror.kinds.len()), (30, 30));
    mirror.assert_equal(&http, &group).await;

    let curate = |group: &NodeGroup, args: &[&str]| run_json(&group.write(), &[&["curate"], args].concat());
    group.import_as("Tower", 1);
    mirror.until(&http, "selected").await;
    curate(&group, &["revise", "bridge-7", "--set", "city=Kiruna"]);
    mirror.until(&http, "revised").await;
    assert_eq!(mirror.projects["bridge-7"]["city"], "Kiruna");
    curate(&group, &["rename", "bridge-7", "viaduct"]);
    mirror.until(&http, "renamed").await;
    curate(&group, &["withdraw", "bridge-8", "--reason", "The owners asked for it."]);
    curate(&group, &["withdraw", "bridge-9", "--reason", "The owners asked for it."]);
    mirror.until(&http, "withdrawn").await;
    curate(&group, &["restore", "bridge-9"]);
    mirror.until(&http, "restored").await;
    mirror.assert_equal(&http, &group).await;

    // Cursors hold through a rebuild of the models and on another node.
    run_json(&group.nodes[0].data, &["rebuild", "all"]);
    curate(&group, &["rename", "viaduct", "aqueduct"]);
    mirror.until(&http, "renamed").await;
    mirror.assert_equal(&http, &group).await;
    let second = group.start("two", &[]).await;
    let other = Http::new(format!("http://{}", second.address));
    other.ready().await;
    assert!(group.nodes[0].process.terminate().await.success());
    group.nodes[0] = second;
    curate(&group, &["withdraw", "aqueduct", "--reason", "It fell down."]);
    curate(&group, &["restore", "bridge-8"]);
    mirror.until(&other, "restored").await;
    mirror.assert_equal(&other, &group).await;
    assert_eq!(mirror.projects.len(), 30);
    let mut complete = Mirror::default();
    complete.catch_up(&other).await;
    assert_eq!((&complete.projects, &complete.since), (&mirror.projects, &mirror.since));

    // A waiting call does not keep a node from stopping.
    let address = group.nodes[0].address;
    let mut waiting = TcpStream::connect(address).await.unwrap();
    let path = format!("/v1/changes?since={}&wait=30", mirror.since);
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    waiting.write_all(request.as_bytes()).await.unwrap();
    kit::http::wait_until_read(&waiting).await;
    // It fails if a call is under way after ten seconds, and this one waits for thirty.
    assert!(group.nodes[0].process.terminate().await.success());
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    // Without the lengths of chunks.
    let answer: Value =
        serde_json::from_str(&body[body.find('{').unwrap()..=body.rfind('}').unwrap()]).unwrap();
    assert_eq!((&answer["changes"], &answer["caught_up"]), (&json!([]), &json!(true)), "{answer}");
}
