//! A network that a test has to itself: hosts that are network namespaces on one bridge, and links between them that it
//! cuts.
//!
//! All of it lies inside a namespace without any way out, so that nothing of it is seen outside and no packet leaves it.
//! A namespace goes with the last process in it: also behind a test that was killed nothing is left.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display};
use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::skip::{absent, skipped};

/// Says to a process of the test, inside, which namespace is the machine's own: links there are nobody's to touch.
const OUTSIDE: &str = "LOGGIA_TEST_OUTSIDE";

/// The bridge, which is also where the test itself is on the network.
const BRIDGE: &str = "bridge";

/// What a host calls its end of its link.
const LINK: &str = "eth0";

/// Nobody's: what is sent to it is lost on the way, and whoever sent it is told nothing.
const NOBODY: &str = "02:00:00:00:00:00";

/// How long somebody may take to be reached.
const REACHED_WITHIN: Duration = Duration::from_secs(1);

/// Who sends and receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The test and every process that it starts in no host.
    Here,
    /// A host, from 0 on.
    Host(usize),
}

/// Hosts, each of which reaches all others until links are cut. Dropping it ends it, though not what runs in it.
#[derive(Debug)]
pub struct Network {
    /// Processes that do nothing but keep their namespaces.
    hosts: Vec<Child>,
    /// Ways that are cut, from and to.
    cut: Vec<(Place, Place)>,
    unplugged: Vec<usize>,
}

/// Why there can be no network.
enum Absent {
    /// Something that can be installed.
    Program(String),
    /// Something that the machine does not allow.
    Right(String),
}

/// Runs the rest of a test inside: starts this program again for the one test of that name, in a namespace, and there
/// runs `body`. Panics when it fails.
///
/// Where a program is absent that is a failure in continuous integration (`CI` is set); elsewhere, and where the machine
/// does not let anybody make namespaces, it is told loudly and the test returns.
pub fn inside(test: &str, body: impl Future<Output = ()>) {
    if is_inside() {
        ip("link set lo up");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        return runtime.expect("a runtime").block_on(body);
    }
    let entering = match entering() {
        Ok(entering) => entering,
        Err(Absent::Program(what)) => return absent(what),
        Err(Absent::Right(what)) => return skipped(what),
    };
    let this = std::env::current_exe().expect("the program of this test");
    let mut again = Command::new("unshare");
    again.args(entering).arg("--").arg(this).args([test, "--exact", "--nocapture"]);
    let ended = again.env(OUTSIDE, own_namespace()).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.unwrap_or_else(|error| panic!("{again:?} cannot be started: {error}"));
    let said = String::from_utf8_lossy(&ended.stdout);
    println!("{said}");
    assert!(ended.status.success() && said.contains(" 1 passed"), "{test} failed inside ({})", ended.status);
}

fn is_inside() -> bool {
    std::env::var_os(OUTSIDE).is_some_and(|outside| outside != own_namespace())
}

/// The namespace that this process is in.
fn own_namespace() -> OsString {
    std::fs::read_link("/proc/self/ns/net").expect("Linux has network namespaces").into_os_string()
}

/// How a namespace is entered in which links can be made: as root, else as the root of a namespace of users.
fn entering() -> Result<Vec<&'static str>, Absent> {
    if !cfg!(target_os = "linux") {
        return Err(Absent::Right("only Linux has network namespaces".into()));
    }
    for (program, package) in [("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")] {
        let shown = Command::new(program).arg("-V").output();
        if shown.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            let how = format!("{program} is not installed (Debian, Ubuntu: apt install {package})");
            return Err(Absent::Program(how));
        }
    }
    let mut reason = String::new();
    for entering in [vec!["--net"], vec!["--user", "--map-root-user", "--net"]] {
        let link = ["--", "ip", "link", "add", BRIDGE, "type", "bridge"];
        let tried = Command::new("unshare").args(&entering).args(link).output();
        match tried {
            Ok(tried) if tried.status.success() => return Ok(entering),
            Ok(tried) => reason = String::from_utf8_lossy(&tried.stderr).trim().to_owned(),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(Absent::Right(format!("this machine lets nobody make a network of one's own: {reason}")))
}

impl Network {
    /// So many hosts. Panics when it is not called [`inside`].
    pub fn of(hosts: usize) -> Network {
        assert!(is_inside(), "a network is made inside a namespace only");
        ip(&format!("link add {BRIDGE} type bridge"));
        ip(&format!("address add {}/24 dev {BRIDGE}", address(Place::Here)));
        ip(&format!("link set {BRIDGE} up"));
        let mut network = Network { hosts: Vec::new(), cut: Vec::new(), unplugged: Vec::new() };
        for host in 0..hosts {
            network.add(host);
        }
        network
    }

    fn add(&mut self, host: usize) {
        let namespace = namespace();
        ip(&format!("link add {} type veth peer name {LINK} netns {}", port(host), namespace.id()));
        ip(&format!("link set {} master {BRIDGE} up", port(host)));
        self.hosts.push(namespace);
        let place = Place::Host(host);
        self.ip(place, "link set lo up");
        self.ip(place, &format!("address add {}/24 dev {LINK}", address(place)));
        self.ip(place, &format!("link set {LINK} up"));
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// A command that runs a program in a place; its process is the program's own.
    pub fn command(&self, place: Place, program: impl AsRef<OsStr>) -> Command {
        let Place::Host(host) = place else { return Command::new(program) };
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.hosts[host].id())).arg("--").arg(program);
        command
    }

    /// Whether somebody who listens is reached.
    pub fn reaches(&self, from: Place, to: Place, port: u16) -> bool {
        let within = format!("{}", REACHED_WITHIN.as_secs());
        let mut connect = self.command(from, "timeout");
        connect.args([&within, "bash", "-c", &format!("</dev/tcp/{}/{port}", address(to))]);
        connect.output().expect("bash can be started").status.success()
    }

    /// What one place sends to another is lost from now on, without a word to either.
    pub fn cut_way(&mut self, from: Place, to: Place) {
        let (to_address, link) = (address(to), link(from));
        self.ip(from, &format!("neighbour replace {to_address} lladdr {NOBODY} dev {link} nud permanent"));
        self.cut.push((from, to));
    }

    /// Cuts both ways between each place of the one side and each of the other.
    pub fn cut(&mut self, one: &[Place], other: &[Place]) {
        for (one, other) in one.iter().flat_map(|one| other.iter().map(move |other| (*one, *other))) {
            self.cut_way(one, other);
            self.cut_way(other, one);
        }
    }

    /// Pulls a host's cable.
    pub fn unplug(&mut self, host: usize) {
        ip(&format!("link set {} down", port(host)));
        self.unplugged.push(host);
    }

    /// Makes everything whole again.
    pub fn heal(&mut self) {
        for (from, to) in std::mem::take(&mut self.cut) {
            self.ip(from, &format!("neighbour delete {} dev {}", address(to), link(from)));
        }
        for host in std::mem::take(&mut self.unplugged) {
            ip(&format!("link set {} up", port(host)));
        }
    }

    fn ip(&self, place: Place, words: &str) {
        run(self.command(place, "ip"), words);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in &mut self.hosts {
            let _ = host.kill();
            let _ = host.wait();
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", address(*self))
    }
}

/// The address of a place: from those that are set apart for tests of networks (RFC 2544).
pub(crate) fn address(place: Place) -> Ipv4Addr {
    match place {
        Place::Here => Ipv4Addr::new(198, 18, 0, 254),
        Place::Host(host) => Ipv4Addr::new(198, 18, 0, u8::try_from(host + 1).expect("a small network")),
    }
}

fn link(place: Place) -> &'static str {
    match place {
        Place::Here => BRIDGE,
        Place::Host(_) => LINK,
    }
}

/// The bridge's end of a host's link.
fn port(host: usize) -> String {
    format!("port{host}")
}

/// A process in a new namespace. It ends when its input does, which is when this process ends.
fn namespace() -> Child {
    let mut cat = Command::new("unshare");
    cat.args(["--net", "--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cat = cat.spawn().expect("unshare can be started");
    // What it says again it says in the new namespace.
    let (mut input, mut said) = (cat.stdin.take().expect("its input"), [0]);
    input.write_all(b"!").expect("it takes input");
    cat.stdout.as_mut().expect("its output").read_exact(&mut said).expect("a namespace can be made");
    cat.stdin = Some(input);
    cat
}

fn ip(words: &str) {
    run(Command::new("ip"), words);
}

fn run(mut command: Command, words: &str) {
    let Output { status, stderr, .. } = command.args(words.split(' ')).output().expect("ip can be started");
    assert!(status.success(), "ip {words}: {}", String::from_utf8_lossy(&stderr));
}
