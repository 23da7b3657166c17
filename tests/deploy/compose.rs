//! The steps in the header of deploy/compose.yaml, with the users, folders and permissions of the containers, and the
//! load balancer over TLS.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kit::ProgramOutput;
use serde_json::Value;

use super::{LOGGIA, ROOT, compose_of, docker_compose, text};

/// The user of the image.
const USER: u32 = 10001;

/// Runs the containers as processes; their mounts are in a folder that only root can write to.
struct Machine {
    folder: tempfile::TempDir,
    compose: Value,
    /// Whether the test may switch to another user.
    is_root: bool,
}

impl Machine {
    /// `None` without Docker Compose or nats-server, with a message.
    async fn new() -> Option<Machine> {
        let program = docker_compose()?;
        let nats = kit::nats::available().await?;
        let machine = Machine {
            folder: tempfile::tempdir().unwrap(),
            compose: read_compose(&program),
            is_root: fs::metadata("/proc/self").unwrap().uid() == 0,
        };
        fs::set_permissions(machine.folder.path(), Permissions::from_mode(0o755)).unwrap();
        // Other users may not enter the folder with these.
        for (name, program) in [("loggia", Path::new(LOGGIA.as_str())), ("nats-server", &nats)] {
            fs::copy(program, machine.at(name)).unwrap();
        }
        Some(machine)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a folder owned by the user of the image.
    fn owned_folder(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        if self.is_root {
            chown(&path, Some(USER), Some(USER)).unwrap();
        }
        path
    }

    /// Returns the path of something that the compose file mounts, next to the file.
    fn mounted_path(&self, path: &Value) -> PathBuf {
        let path = Path::new(path.as_str().unwrap());
        let deploy = Path::new(ROOT).canonicalize().unwrap().join("deploy");
        self.folder.path().join(path.strip_prefix(deploy).unwrap())
    }

    /// Runs a program as the user of the image, without root permissions.
    fn run(&self, program: &str, adjust: impl FnOnce(&mut Command)) -> ProgramOutput {
        let mut command = Command::new(if self.is_root { "setpriv".into() } else { self.at(program) });
        if self.is_root {
            command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups"]);
            command.args(["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]).arg(self.at(program));
        }
        command.env_clear().env("PATH", "/usr/bin:/bin");
        adjust(&mut command);
        ProgramOutput::of(&mut command)
    }

    fn service(&self, name: &str) -> &Value {
        &self.compose["services"][name]
    }

    /// Returns the environment of a service, with the paths of its secrets on this machine.
    fn environment(&self, service: &Value) -> Vec<(String, String)> {
        let secret = |name: &str| {
            let path = self.mounted_path(&self.compose["secrets"][name]["file"]);
            path.to_str().unwrap().to_owned()
        };
        let variables = service["environment"].as_object().unwrap().iter();
        let of = |(name, value): (&String, &Value)| {
            let value = value.as_str().unwrap();
            let value = value.strip_prefix("/run/secrets/").map_or_else(|| value.to_owned(), secret);
            (name.clone(), value)
        };
        variables.map(of).collect()
    }
}

/// Returns the compose file as Docker Compose reads it.
fn read_compose(program: &Path) -> Value {
    let file = Path::new(ROOT).join("deploy/compose.yaml");
    ProgramOutput::of(compose_of(program, &[&file]).args(["--format", "json"])).json()
}

#[tokio::test]
async fn the_steps_in_the_compose_files_header_work_as_the_image_user() {
    let head = text("deploy/compose.yaml");
    assert!(head.contains(&format!("sudo chown {USER}:{USER} nats")), "{head}");
    assert!(text("deploy/Containerfile").contains(&format!("USER {USER}:{USER}")));
    let Some(machine) = Machine::new().await else { return };
    let nats = machine.owned_folder("nats");
    let setup: Vec<&str> = machine.service("setup")["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let (folder, rest) = setup.split_last().unwrap();
    assert_eq!(*folder, "/nats");
    for _ in 0..2 {
        machine.run("loggia", |command| _ = command.args(rest).arg(&nats).current_dir("/")).success();
    }

    for name in ["nats-1", "nats-2", "nats-3"] {
        let service = machine.service(name);
        assert_eq!(
            service["entrypoint"][0], "/usr/local/bin/nats-server",
            "the one of the image, so its user too"
        );
        let own = machine.mounted_path(&service["volumes"][0]["source"]);
        let words: Vec<&str> =
            service["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        machine.run("nats-server", |command| _ = command.args(words).arg("-t").current_dir(own)).success();
    }

    for name in ["write", "read-1", "read-2", "read-3", "cli"] {
        let (service, data) = (machine.service(name), machine.owned_folder(name));
        let environment = machine.environment(service);
        assert!(environment.iter().any(|(_, value)| value.ends_with(".nk")), "{name} has a login");
        let checked = machine.run("loggia", |command| {
            command
                .args(["config", "--check"])
                .envs(environment)
                .env("LOGGIA_DATA", &data)
                .current_dir(&data);
        });
        // The server names are those of the containers' network; everything else would allow a start.
        let lines = checked.stdout.lines().filter(|line| !line.starts_with("the encoder "));
        let lines: Vec<&str> = lines.collect();
        let network = "nats_url: the NATS server at nats-1:4222, ";
        assert!(lines.len() == 1 && lines[0].starts_with(network), "{name}: {checked}");
    }
}

/// Runs the containers' health checks against a ready service, and against none.
#[tokio::test]
async fn container_health_checks_report_readiness() {
    let Some(program) = docker_compose() else { return };
    let Some(_) = kit::nats::available().await else { return };
    let compose = read_compose(&program);
    let of_compose = compose["services"]["read-1"]["healthcheck"]["test"].clone();
    assert_eq!(compose["services"]["write"]["healthcheck"]["test"], of_compose);
    let container = text("deploy/Containerfile");
    let line = container.lines().find(|line| line.starts_with("HEALTHCHECK ")).unwrap();
    let mut of_image: Value = serde_json::from_str(line.split_once(" CMD ").unwrap().1).unwrap();
    of_image.as_array_mut().unwrap().insert(0, "CMD".into());
    let folder = tempfile::tempdir().unwrap();
    let mut loggia = kit::process::Loggia::up(&LOGGIA, folder.path(), &["--no-demo"]).await;
    let (http, unused_port) = (loggia.http().await, kit::free_port());
    http.ready().await;
    let address = fs::read_to_string(folder.path().join("run/api.addr")).unwrap();
    let port = address.trim().rsplit(':').next().unwrap().to_owned();
    for (check, theirs) in [(&of_compose, "9090"), (&of_image, "8080")] {
        let words: Vec<&str> = check.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let program = words[1];
        assert_eq!(words[0], "CMD");
        let probe = |port: &str| {
            let words =
                words[2..].iter().map(|word| word.replace(&format!("/{theirs} "), &format!("/{port} ")));
            ProgramOutput::of(Command::new(program).args(words)).status.success()
        };
        assert!(probe(&port), "{words:?}");
        assert!(!probe(&unused_port.to_string()), "{words:?}");
    }
}

/// The balancer with both configuration files; dropping it stops it.
struct Balancer(Child);

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends requests with Python, which verifies the certificate; prints status, location and policy of each response.
const PROBE: &str = r#"
import http.client, ssl, sys, time
secure, plain, authority = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def ask(connect, method, path, headers):
    for _ in range(1200):
        try:
            connection = connect()
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("location"), answer.getheader("strict-transport-security")
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit("nobody listens")
trusted = ssl.create_default_context(cafile=authority)
over_tls = lambda: http.client.HTTPSConnection("localhost", secure, context=trusted, timeout=120)
clear = lambda: http.client.HTTPConnection("localhost", plain, timeout=120)
host = {"Host": "catalog.example.org"}
print(*ask(over_tls, "GET", "/", host))
print(*ask(clear, "GET", "/projects/a?x=1", host))
print(*ask(clear, "GET", "/v1/search", host | {"Authorization": "Bearer log_live_x"}))
print(*ask(clear, "GET", "/v1/search?key=log_live_x", host))
print(*ask(clear, "POST", "/mcp", host))
"#;

#[test]
fn the_balancer_accepts_calls_over_tls_and_rejects_keys_over_plain_http() {
    let Some(program) = kit::haproxy::available() else { return };
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap().pem();
    let (tls, authority) = (folder.path().join("tls"), folder.path().join("authority.pem"));
    fs::create_dir(&tls).unwrap();
    fs::write(tls.join("catalog.pem"), format!("{certificate}{}", key.serialize_pem())).unwrap();
    fs::write(&authority, certificate).unwrap();
    let ports = [kit::free_port(), kit::free_port(), kit::free_port()];
    let [secure, plain, inner] = ports.map(|port| port.to_string());
    let mut balancer = Command::new(program);
    balancer.args(["-db"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for name in ["haproxy.cfg", "haproxy-tls.cfg"] {
        let own = text(&format!("deploy/{name}"))
            .replace("bind :8443", &format!("bind 127.0.0.1:{secure}"))
            .replace("bind :8081", &format!("bind 127.0.0.1:{plain}"))
            .replace("bind :8080", &format!("bind 127.0.0.1:{inner}"))
            .replace("/etc/haproxy/tls/", tls.to_str().unwrap());
        fs::write(folder.path().join(name), own).unwrap();
        balancer.arg("-f").arg(folder.path().join(name));
    }
    let _balancer = Balancer(balancer.spawn().unwrap());
    let python = Path::new(ROOT).join(".tools/deploy/bin/python3");
    let mut probe = Command::new(python);
    probe.args(["-c", PROBE, &secure, &plain]).arg(&authority).env_remove("PYTHONPATH");
    let probe = ProgramOutput::of(&mut probe);
    assert_eq!(probe.stderr, "");
    let expected = "503 None max-age=31536000\n\
                    301 https://catalog.example.org/projects/a?x=1 None\n\
                    403 None None\n\
                    403 None None\n\
                    403 None None\n";
    assert_eq!(probe.stdout, expected, "no read node is there");
}
