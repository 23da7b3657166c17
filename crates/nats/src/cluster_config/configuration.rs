//! The configuration file of one server, in the format of nats-server.

use std::fmt::Write as _;

use super::server::Server;
use super::users::Users;
use super::{AUTHORITY, CERTIFICATE, ClusterConfig};
use crate::user::User;

/// Returns the configuration. Its paths are relative to the server's folder, in which it must be started.
pub(super) fn text(config: &ClusterConfig, server: &Server, users: &Users) -> String {
    let Server { name, host, port, .. } = server;
    let listen = server.listens_on();
    let mut text = format!(
        r#"# Written by `loggia nats config`, which overwrites it: changes made here are lost then.
# Start nats-server in this folder, as in: cd {name} && nats-server --config nats.conf

server_name: "{name}"
listen: "{listen}:{port}"
client_advertise: "{host}:{port}"
max_payload: 8MB
pid_file: "nats.pid"

tls {{
  cert_file: "{CERTIFICATE}"
  key_file: "{CERTIFICATE}"
  timeout: 5
}}

jetstream {{
  store_dir: "."
  # Three copies hardly fail within one second of each other, and the event store fills again what all have lost.
  sync_interval: "1s"
}}
"#
    );
    if config.servers.len() > 1 {
        text += &cluster(config, server);
    }
    text += "\n# One user a role. The seeds are with the processes, not here.\nauthorization {\n  users: [\n";
    for (user, key) in users.public_keys() {
        text += &user_entry(user, key);
    }
    text += "  ]\n}\n";
    text
}

fn cluster(config: &ClusterConfig, server: &Server) -> String {
    let Server { host, cluster_port, .. } = server;
    let (name, listen) = (&config.cluster, server.listens_on());
    let others = config.servers.iter().filter(|other| other.name != server.name);
    let routes: String =
        others.map(|other| format!("    \"tls://{}:{}\"\n", other.host, other.cluster_port)).collect();
    format!(
        r#"
cluster {{
  name: "{name}"
  listen: "{listen}:{cluster_port}"
  advertise: "{host}:{cluster_port}"
  # A server without a certificate of this authority cannot join this cluster.
  tls {{
    cert_file: "{CERTIFICATE}"
    key_file: "{CERTIFICATE}"
    ca_file: "{AUTHORITY}"
    verify: true
    timeout: 5
  }}
  routes: [
{routes}  ]
}}
"#
    )
}

fn user_entry(user: &User, key: &str) -> String {
    let list = |subjects: &mut dyn Iterator<Item = String>| -> String {
        subjects.map(|subject| format!("          \"{subject}\"\n")).collect()
    };
    let publish = list(&mut user.publishes.iter().map(|subject| (*subject).to_owned()));
    let subscribe = list(&mut user.subscribes.iter().cloned());
    let name = user.name;
    let mut text = format!(
        r#"    {{
      # {name}
      nkey: "{key}"
      permissions {{
        publish {{ allow: [
{publish}        ] }}
        subscribe {{ allow: [
{subscribe}        ] }}
"#
    );
    if let Some(responses) = user.responses {
        let _ = writeln!(
            text,
            "        allow_responses {{ max: {}, expires: \"{}m\" }}",
            responses.max, responses.minutes
        );
    }
    text += "      }\n    }\n";
    text
}
