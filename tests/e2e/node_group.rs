//! Several read nodes on one write side.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bench::steady::Mix;
use kit::balancer::Balancer;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::json;

use crate::service::{LOGGIA, TIMEOUT, writes};

/// A write side with some projects, and read nodes that follow it.
pub(crate) struct NodeGroup {
    // Declared first: the processes must end before their folders are deleted.
    pub(crate) nodes: Vec<ReadNode>,
    write_side: Loggia,
    binary: String,
    pub(crate) balancer: Balancer,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) nats: Nats,
    settings: Vec<(&'static str, String)>,
}

/// A read node with its own folder.
pub(crate) struct ReadNode {
    pub(crate) process: Loggia,
    pub(crate) data: PathBuf,
    pub(crate) address: SocketAddr,
}

impl NodeGroup {
    /// Starts three nodes and waits until they have caught up; `None` without a nats-server, with a message.
    pub(crate) async fn three(projects: usize, settings: &[(&'static str, &str)]) -> Option<NodeGroup> {
        let group = NodeGroup::of(&["one", "two", "three"], projects, settings).await?;
        group.all_ready().await;
        Some(group)
    }

    pub(crate) async fn of(
        names: &[&str],
        projects: usize,
        settings: &[(&'static str, &str)],
    ) -> Option<NodeGroup> {
        let nats = Nats::start().await?;
        // A release build may be named for measurements.
        let binary = std::env::var("LOGGIA_MEASURED").unwrap_or_else(|_| LOGGIA.clone());
        let folder = tempfile::tempdir().unwrap();
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let data = folder.path().join("write");
        let mut command = process::command(&binary, &data);
        command.arg("write").env("LOGGIA_NATS_URL", nats.url());
        let settings: Vec<(&'static str, String)> = settings;
        command.envs(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let write = Loggia::spawn_command(command, &data);
        writes(&data).await;
        let balancer = Balancer::start(&[]).await;
        let mut group =
            NodeGroup { nodes: Vec::new(), write_side: write, binary, balancer, folder, nats, settings };
        group.import(projects);
        let mut addresses = Vec::new();
        for name in names {
            let node = group.start(name, &[]).await;
            addresses.push(node.address);
            group.nodes.push(node);
        }
        group.balancer = Balancer::start(&addresses).await;
        Some(group)
    }

    /// Stops the write side, and starts it again with these settings.
    pub(crate) async fn restart_write_side(&mut self, settings: &[(&'static str, &str)]) {
        assert!(self.write_side.terminate().await.success());
        let data = self.write();
        let mut command = process::command(&self.binary, &data);
        command.arg("write").env("LOGGIA_NATS_URL", self.nats.url());
        command.envs(self.settings.iter().map(|(name, value)| (*name, value.as_str())));
        command.envs(settings.iter().copied());
        self.write_side = Loggia::spawn_command(command, &data);
        writes(&data).await;
    }

    /// Stops a node, and starts it again with these settings.
    pub(crate) async fn restart(&mut self, place: usize, name: &str, settings: &[(&str, &str)]) {
        assert!(self.nodes[place].process.terminate().await.success());
        let node = self.start(name, settings).await;
        self.balancer.replace(place, node.address);
        self.nodes[place] = node;
    }

    pub(crate) fn write(&self) -> PathBuf {
        self.folder.path().join("write")
    }

    pub(crate) fn import(&self, projects: usize) {
        self.import_as("Bridge", projects);
    }

    pub(crate) fn import_as(&self, name: &str, projects: usize) {
        let file = self.folder.path().join("in.ndjson");
        let lines: String = (0..projects)
            .map(|n| format!("{}\n", json!({"name": format!("{name} {n}"), "category": "architecture"})))
            .collect();
        std::fs::write(&file, lines).unwrap();
        let args = ["import", file.to_str().unwrap(), "--json"];
        process::run(&self.binary, &self.write(), &args).success();
    }

    /// Starts a node on a folder of this name, and waits for its address.
    pub(crate) async fn start(&self, name: &str, settings: &[(&str, &str)]) -> ReadNode {
        let data = self.folder.path().join(name);
        let mut process = self.spawn(&data, settings);
        let address = process.address().await;
        ReadNode { process, data, address }
    }

    pub(crate) fn spawn(&self, data: &Path, settings: &[(&str, &str)]) -> Loggia {
        let mut command = process::command(&self.binary, data);
        command.arg("read").env("LOGGIA_NATS_URL", self.nats.url()).env("LOGGIA_DRAIN", "1s");
        command.envs(self.settings.iter().map(|(name, value)| (*name, value.as_str())));
        command.envs(settings.iter().copied());
        Loggia::spawn_command(command, data)
    }

    pub(crate) async fn all_ready(&self) {
        kit::wait_until(TIMEOUT, "three nodes that are ready", async || self.balancer.ready() == 3).await;
    }
}

/// Returns searches for and records of the existing projects.
pub(crate) fn searches() -> Mix {
    let mut paths: Vec<String> = (0..20).map(|n| format!("/v1/search?q=bridge%20{n}")).collect();
    paths.extend((0..20).map(|n| format!("/v1/project/bridge-{n}")));
    Mix { paths, key: None }
}
