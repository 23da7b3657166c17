//! `loggia nats config`: writes the files of a NATS cluster.

use anyhow::Result;
use cli_output::Output;
use nats::cluster_config::{
    self, AUTHORITY, Change, ClusterConfig, GivenCertificate, Server, USERS, WrittenFile,
};
use process_role::ProcessRole;
use serde::Serialize;

use crate::cli::{NatsCommand, NatsConfigArgs};
use crate::process;

/// The files, and the settings of the processes that use the cluster.
#[derive(Debug, Serialize)]
struct Answer {
    folder: String,
    files: Vec<WrittenFile>,
    nats_url: String,
    nats_replicas: usize,
}

pub fn run(command: &NatsCommand, output: Output) -> Result<()> {
    let NatsCommand::Config(args) = command;
    let files = cluster_config::write(&args.folder, &cluster_config(args))?;
    let urls: Vec<String> = args.servers.iter().map(Server::url).collect();
    let answer = Answer {
        folder: std::path::absolute(&args.folder)?.display().to_string(),
        files,
        nats_url: urls.join(","),
        nats_replicas: if urls.len() >= 3 { 3 } else { 1 },
    };
    Ok(output.answer(&answer, || text(&answer))?)
}

fn cluster_config(args: &NatsConfigArgs) -> ClusterConfig {
    let certificate = match (&args.tls_cert, &args.tls_key, &args.tls_ca) {
        (Some(certificate), Some(key), Some(authority)) => Some(GivenCertificate {
            certificate: certificate.clone(),
            key: key.clone(),
            authority: authority.clone(),
        }),
        _ => None,
    };
    ClusterConfig {
        cluster: args.cluster.clone(),
        servers: args.servers.clone(),
        users: ProcessRole::users(),
        certificate,
        now: process::now(),
    }
}

fn text(answer: &Answer) -> String {
    let Answer { folder, files, nats_url, nats_replicas } = answer;
    let mut text = String::new();
    for file in files {
        let change = match file.change {
            Change::New => "new",
            Change::Changed => "changed",
            Change::Kept => "kept",
        };
        let secret = if file.secret { "  secret" } else { "" };
        text += &format!("{change:<8} {folder}/{}{secret}\n", file.path.display());
    }
    text + &format!(
        "\nEach server gets its own folder, and nats-server is started in it. Every process of Loggia gets\n  \
         LOGGIA_NATS_URL={nats_url}\n  LOGGIA_NATS_CA={folder}/{AUTHORITY}\n  \
         LOGGIA_NATS_CREDS={folder}/{USERS}/ROLE.nk, the file of its role: write, read, project, serve, up; operator for commands\n  \
         LOGGIA_NATS_REPLICAS={nats_replicas}"
    )
}
