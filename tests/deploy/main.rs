//! The files of deploy/, each checked by the tool for its format, and against the program and the checkout.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test may panic")]

mod compose;
mod prometheus;
mod release;
mod weights;

use std::path::{Path, PathBuf};
use std::process::Command;

use kit::ProgramOutput;

/// The checkout.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The binary that the units start.
pub(crate) use kit::process::LOGGIA;

/// The Kubernetes version of the schemas for the manifests.
const KUBERNETES: &str = "1.34";

/// The maximum exposure by `systemd-analyze security`, of 100.
const EXPOSURE: &str = "20";

fn deploy(kind: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(Path::new(ROOT).join("deploy").join(kind))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// Runs tests/deploy/check.py; `None` if its schemas are not installed, with a message.
fn check(args: &[&str]) -> Option<ProgramOutput> {
    let installed = Path::new(ROOT).join(".tools/deploy");
    if !installed.join("bin/python3").exists() {
        kit::absent("the schemas of deploy/ are not in .tools/deploy: run bin/setup --test");
        return None;
    }
    let mut command = Command::new(installed.join("bin/python3"));
    command.args(["-S", "-s"]).arg(Path::new(ROOT).join("tests/deploy/check.py")).args(args);
    command
        .env("PYTHONPATH", installed.join("packages"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(ROOT);
    Some(ProgramOutput::of(&mut command))
}

/// Returns Docker Compose, if it is installed.
fn docker_compose() -> Option<PathBuf> {
    let path = Path::new(ROOT).join(".tools/deploy/bin/docker-compose");
    if !path.exists() {
        kit::absent("docker-compose is not in .tools/deploy: run bin/setup --test");
        return None;
    }
    Some(path)
}

/// Returns a command by which Docker Compose reads files with all profiles, without an engine and without user
/// settings.
fn compose_of(program: &Path, files: &[&Path]) -> Command {
    let mut compose = Command::new(program);
    compose.current_dir(ROOT).env_clear().env("HOME", "/nowhere").env("DOCKER_HOST", "unix:///nowhere");
    files.iter().for_each(|file| _ = compose.arg("--file").arg(file));
    compose.args(["--profile", "*", "config"]);
    compose
}

/// Checks that each change of a file, from one text to another, causes an error with these words.
#[track_caller]
fn assert_each_is_reported(file: &str, changes: &[[&str; 3]], errors_of: impl Fn(&Path) -> String) {
    let right = text(file);
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join(Path::new(file).file_name().unwrap());
    for [from, to, fault] in changes {
        assert!(right.contains(from), "{from}");
        std::fs::write(&bad, right.replace(from, to)).unwrap();
        let errors = errors_of(&bad);
        assert!(errors.contains(fault), "{fault} in {errors}");
    }
}

/// Returns the errors of a program about a file that it reads; empty if it accepts the file.
fn errors_of_command(mut command: Command) -> String {
    let output = ProgramOutput::of(&mut command);
    assert_eq!(output.status.success(), output.stderr.is_empty(), "{output}");
    output.stderr
}

fn faults(output: &ProgramOutput) -> Vec<String> {
    assert_eq!(output.stderr, "");
    let faults: Vec<String> =
        output.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    assert_eq!(output.status.success(), faults.is_empty());
    faults
}

#[test]
fn the_compose_file_is_valid() {
    let Some(output) = check(&["compose", "deploy/compose.yaml"]) else { return };
    assert_eq!(faults(&output), [""; 0]);
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("compose.yaml");
    let broken = text("deploy/compose.yaml")
        .replace("[read-1, ", "[read-9, ")
        .replace("restart: \"no\"", "restar: no");
    std::fs::write(&bad, broken).unwrap();
    let found = faults(&check(&["compose", bad.to_str().unwrap()]).unwrap()).join("\n");
    for fault in ["'restar' does not match", "depends on read-9, which is no service", "mounts ./haproxy.cfg"]
    {
        assert!(found.contains(fault), "{fault} in {found}");
    }
}

/// The proxy whose client addresses are trusted must be the balancer, and no other network.
#[test]
fn only_the_balancers_network_is_a_trusted_proxy() {
    let compose = text("deploy/compose.yaml");
    let behind = |name: &str| {
        let at = compose.find(name).unwrap() + name.len();
        compose[at..].split(['\n', '}']).next().unwrap().trim()
    };
    assert_eq!(behind("LOGGIA_TRUSTED_PROXIES:"), behind("subnet:"));
    // For another proxy in front of the balancer, the setting is documented next to it, in HAProxy's syntax.
    let haproxy = text("deploy/haproxy.cfg");
    assert!(
        haproxy.contains("option forwardfor except 172.16.0.0/12")
            && haproxy.contains("\n    option forwardfor\n")
    );
    let settings = text("deploy/kubernetes/settings.yaml");
    assert!(settings.contains("Narrow it to those of its pods"), "{settings}");
}

#[test]
fn docker_accepts_the_compose_file() {
    let Some(program) = docker_compose() else { return };
    let read = |files: &[&Path]| {
        let mut compose = compose_of(&program, files);
        compose.arg("--quiet");
        errors_of_command(compose)
    };
    let own = ["compose.yaml", "compose.tls.yaml"].map(|name| Path::new(ROOT).join("deploy").join(name));
    assert_eq!(read(&[&own[0]]), "");
    assert_eq!(read(&[&own[0], &own[1]]), "");
    let changes = [
        ["<<: *read-settings", "<<: *reed-settings", "unknown anchor 'reed-settings'"],
        ["secrets: [nats-ca, nats-write]", "secrets: [nats-ca, write]", "refers to undefined secret write"],
        ["config: [{subnet:", "config: [{sabnet:", "sabnet"],
        ["LOGGIA_PUBLIC_URL:-http", "LOGGIA_PUBLIC_URL:?http", "required variable LOGGIA_PUBLIC_URL"],
    ];
    assert_each_is_reported("deploy/compose.yaml", &changes, |bad| read(&[bad]));
}

#[test]
fn haproxy_accepts_its_configuration() {
    let Some(program) = kit::haproxy::available() else { return };
    let read = |file: &Path| {
        let mut haproxy = Command::new(&program);
        haproxy.current_dir(ROOT).args(["-c", "-f"]).arg(file);
        errors_of_command(haproxy)
    };
    assert_eq!(read(&Path::new(ROOT).join("deploy/haproxy.cfg")), "");
    let changes = [
        ["option httpchk", "option httpcheck", "unknown option 'httpcheck'"],
        ["default_backend read_nodes", "default_backend nodes", "unable to find required default_backend"],
        ["resolvers names init-addr", "resolvers dns init-addr", "unable to find required resolvers 'dns'"],
    ];
    assert_each_is_reported("deploy/haproxy.cfg", &changes, read);
}

#[test]
fn the_manifests_are_valid_for_kubernetes() {
    let paths = deploy("kubernetes");
    let mut args = vec!["kubernetes", KUBERNETES];
    args.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let Some(output) = check(&args) else { return };
    assert_eq!(faults(&output), [""; 0]);
    let changes = [
        ["maxUnavailable:", "maxUnavailabel:", "maxUnavailabel"],
        ["serviceName: loggia-read", "serviceName: other", "names the Service other"],
        ["name: data, mountPath", "name: dota, mountPath", "mounts dota, which is no volume"],
        ["port: admin}", "port: amin}", "its readinessProbe asks a port that is not there"],
        ["limits: {cpu: \"2\", ", "limits: {", "has no limits of cpu"],
        ["runAsNonRoot: true", "runAsNonRoot: false", "may run as root"],
        ["image: loggia", "image: other", "runs the image other, which kustomization.yaml gives no version"],
        ["drop: [ALL]", "drop: [NET_RAW]", "keeps capabilities"],
    ];
    assert_each_is_reported("deploy/kubernetes/read.yaml", &changes, |bad| {
        faults(&check(&["kubernetes", KUBERNETES, bad.to_str().unwrap()]).unwrap()).join("\n")
    });
}

#[test]
fn systemd_accepts_the_units_and_rates_them_sandboxed() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        kit::absent("systemd-analyze is not installed (Debian, Ubuntu: apt install systemd)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut units = deploy("systemd");
    units.retain(|path| path.extension().is_some());
    for unit in &mut units {
        // It checks that the program exists.
        let own = folder.path().join(unit.file_name().unwrap());
        let text = std::fs::read_to_string(&unit).unwrap();
        let is_service = unit.extension().is_some_and(|extension| extension == "service");
        assert_eq!(text.contains("/usr/local/bin/loggia "), is_service, "{}", unit.display());
        std::fs::write(&own, text.replace("/usr/local/bin/loggia ", &format!("{} ", *LOGGIA))).unwrap();
        *unit = own;
    }
    for unit in &units {
        let analyze =
            |args: &[&str]| ProgramOutput::of(Command::new("systemd-analyze").args(args).arg(unit)).success();
        assert_eq!(analyze(&["verify", "--man=no"]).stderr, "", "{}", unit.display());
        if unit.extension().is_some_and(|extension| extension == "timer") {
            continue;
        }
        analyze(&["security", "--offline=true", &format!("--threshold={EXPOSURE}")]);
    }
}

/// With a `systemd-run` that prints its arguments.
#[test]
fn a_command_runs_as_its_units_user_with_its_settings() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let stand_in = folder.path().join("systemd-run");
    std::fs::write(&stand_in, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    std::fs::set_permissions(&stand_in, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(Path::new(ROOT).join("deploy/systemd/loggia-run"));
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let output = ProgramOutput::of(command.args(arguments).env("PATH", path));
        let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        (output.status.code(), lines(&output.stdout), lines(&output.stderr))
    };
    let (status, lines, _) = run(&["curate", "withdraw", "stair-house", "--reason", "Sold for 5$ at \"K\"."]);
    assert_eq!(status, Some(0));
    for property in [
        "User=loggia",
        "DynamicUser=yes",
        "EnvironmentFile=-/etc/loggia/up.env",
        "Environment=LOGGIA_DATA=/var/lib/loggia",
    ] {
        assert!(lines.contains(&format!("--property={property}")), "{property} in {lines:?}");
    }
    let reason = "Sold for 5$$ at \"K\".";
    let expected = ["/usr/local/bin/loggia", "curate", "withdraw", "stair-house", "--reason", reason];
    assert_eq!(lines[lines.len() - 6..], expected);
    let (_, lines, _) = run(&["-u", "loggia-read-1", "rebuild", "all"]);
    for property in [
        "User=loggia-read-1",
        "EnvironmentFile=-/etc/loggia/read-1.env",
        "LoadCredential=nats.nk:/etc/loggia/nats/users/operator.nk",
    ] {
        assert!(lines.contains(&format!("--property={property}")), "{property} in {lines:?}");
    }
    let expected = [
        "/usr/bin/env",
        "LOGGIA_NATS_CREDS=${CREDENTIALS_DIRECTORY}/nats.nk",
        "LOGGIA_NATS_CA=${CREDENTIALS_DIRECTORY}/ca.pem",
        "/usr/local/bin/loggia",
        "rebuild",
        "all",
    ];
    assert_eq!(lines[lines.len() - 6..], expected);
    let (status, _, stderr) = run(&["-u", "nginx", "status"]);
    assert_eq!(
        (status, stderr),
        (
            Some(2),
            vec!["loggia-run: nginx is no unit of Loggia: loggia, loggia-write or loggia-read-N".to_owned()]
        )
    );
}

#[test]
fn every_named_setting_exists() {
    let known = text("docs/operating/settings.md");
    let mut paths = deploy("systemd");
    paths.extend(deploy("kubernetes"));
    paths.extend(["compose.yaml", "Containerfile"].map(|name| Path::new(ROOT).join("deploy").join(name)));
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for named in
            text.split(|c: char| !c.is_ascii_uppercase() && c != '_').filter(|w| w.starts_with("LOGGIA_"))
        {
            let is_setting = known.contains(&format!("`{named}`"));
            let is_ours = ["LOGGIA_IMAGE", "LOGGIA_COMMIT"].contains(&named);
            assert!(is_setting || is_ours, "{} names {named}", path.display());
        }
    }
}

/// The backup reads the volume of the write side's StatefulSet, whose name consists of these two.
#[test]
fn the_backup_reads_the_folder_of_the_write_side() {
    let (write, backup) = (text("deploy/kubernetes/write.yaml"), text("deploy/kubernetes/backup.yaml"));
    assert!(write.contains("metadata: {name: data}") && write.contains("name: loggia-write\n"));
    assert!(backup.contains("claimName: data-loggia-write-0"));
}

#[test]
fn versions_match_the_checkout() {
    let manifests = text("deploy/kubernetes/kustomization.yaml");
    assert!(manifests.contains(&format!("newTag: \"{}\"", env!("CARGO_PKG_VERSION"))), "another version");
    let manifest = text("Cargo.toml");
    let rust =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let (container, compose) = (text("deploy/Containerfile"), text("deploy/compose.yaml"));
    assert!(container.contains(&format!("library/rust:{rust}-")), "another Rust");
    let images = container.lines().filter_map(|line| line.strip_prefix("FROM "));
    let images =
        images.chain(compose.lines().filter_map(|line| line.trim().strip_prefix("image: docker.io/")));
    for image in images {
        assert!(image.contains("@sha256:"), "{image} is not pinned by what it holds");
    }
    assert!(container.contains(" bin/release "), "the image has what a release has");
    assert!(container.contains("CMD [\"up\", \"--no-demo\"]"), "no log begins with the demo catalog");
}
