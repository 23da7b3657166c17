//! A private network for a test: hosts are network namespaces on one bridge, and tests cut the links between them.
//!
//! Everything is inside one namespace without a route out, so no packet leaves it. A namespace ends with its last
//! process, so a killed test leaves nothing behind.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display};
use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::environment::{absent, skipped};

/// The variable by which a child process of a test knows the namespace of the machine, whose links it must not touch.
const OUTSIDE: &str = "LOGGIA_TEST_OUTSIDE";

/// The bridge, which is also the test's own interface.
const BRIDGE: &str = "bridge";

/// The name of a host's own end of its link.
const LINK: &str = "eth0";

/// An unused MAC address: packets to it are lost without an error for the sender.
const UNUSED_MAC: &str = "02:00:00:00:00:00";

/// The timeout of a reachability check.
const REACH_TIMEOUT: Duration = Duration::from_secs(1);

/// A sender or receiver on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The test and the processes that it starts outside of hosts.
    Here,
    /// A host, by index.
    Host(usize),
}

/// Hosts that reach each other until links are cut. Dropping it removes the network, but does not stop processes in it.
#[derive(Debug)]
pub struct Network {
    /// Processes that only keep the namespaces alive.
    hosts: Vec<Child>,
    /// The cut directions, from and to.
    cut: Vec<(Place, Place)>,
    unplugged: Vec<usize>,
}

/// Why no network can be made.
enum Unavailable {
    /// A missing program, which can be installed.
    Program(String),
    /// A missing permission.
    Right(String),
}

/// Runs the body of a test inside a new namespace: starts this test program again there for the one test of that name.
/// Panics if it fails.
///
/// A missing program is a failure in continuous integration (`CI` is set). Elsewhere, and if namespaces are not
/// permitted, the test is skipped with a message.
pub fn inside(test: &str, body: impl Future<Output = ()>) {
    if is_inside() {
        ip("link set lo up");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        return runtime.expect("a runtime").block_on(body);
    }
    let entering = match entering() {
        Ok(entering) => entering,
        Err(Unavailable::Program(what)) => return absent(what),
        Err(Unavailable::Right(what)) => return skipped(what),
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

/// Returns the namespace of this process.
fn own_namespace() -> OsString {
    std::fs::read_link("/proc/self/ns/net").expect("Linux has network namespaces").into_os_string()
}

/// Returns the command prefix that enters a namespace with the right to create links: as root, or in a new user
/// namespace.
fn entering() -> Result<Vec<&'static str>, Unavailable> {
    if !cfg!(target_os = "linux") {
        return Err(Unavailable::Right("only Linux has network namespaces".into()));
    }
    for (program, package) in [("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")] {
        let shown = Command::new(program).arg("-V").output();
        if shown.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            let how = format!("{program} is not installed (Debian, Ubuntu: apt install {package})");
            return Err(Unavailable::Program(how));
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
    Err(Unavailable::Right(format!("this machine does not permit network namespaces: {reason}")))
}

impl Network {
    /// Returns a network of hosts, inside of [`inside`].
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

    /// Returns the number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Returns a command that runs a program in a place, without an intermediate process.
    pub fn command(&self, place: Place, program: impl AsRef<OsStr>) -> Command {
        let Place::Host(host) = place else { return Command::new(program) };
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.hosts[host].id())).arg("--").arg(program);
        command
    }

    /// Returns whether a TCP connection between two places is possible.
    pub fn reaches(&self, from: Place, to: Place, port: u16) -> bool {
        let within = format!("{}", REACH_TIMEOUT.as_secs());
        let mut connect = self.command(from, "timeout");
        connect.args([&within, "bash", "-c", &format!("</dev/tcp/{}/{port}", address(to))]);
        connect.output().expect("bash can be started").status.success()
    }

    /// Drops all packets from one place to another from now on.
    pub fn cut_direction(&mut self, from: Place, to: Place) {
        let (to_address, link) = (address(to), link(from));
        self.ip(
            from,
            &format!("neighbour replace {to_address} lladdr {UNUSED_MAC} dev {link} nud permanent"),
        );
        self.cut.push((from, to));
    }

    /// Cuts both directions between each place of one side and each of the other.
    pub fn cut(&mut self, one: &[Place], other: &[Place]) {
        for (one, other) in one.iter().flat_map(|one| other.iter().map(move |other| (*one, *other))) {
            self.cut_direction(one, other);
            self.cut_direction(other, one);
        }
    }

    /// Sets a host's link down.
    pub fn unplug(&mut self, host: usize) {
        ip(&format!("link set {} down", port(host)));
        self.unplugged.push(host);
    }

    /// Restores all links.
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

/// Returns the address of a place, from the range for network tests (RFC 2544).
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

/// Returns the bridge's end of a host's link.
fn port(host: usize) -> String {
    format!("port{host}")
}

/// Starts a process in a new namespace. It ends when its standard input closes, which is when this process ends.
fn namespace() -> Child {
    let mut cat = Command::new("unshare");
    cat.args(["--net", "--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cat = cat.spawn().expect("unshare can be started");
    // The process prints again after it has entered the namespace.
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
