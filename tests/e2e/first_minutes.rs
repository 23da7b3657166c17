//! A catalog of one's own: its settings, what it says while it is empty, and what a terminal shows.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use kit::process::{self, Loggia};
use kit::{ProgramOutput, skipped};
use serde_json::json;

use crate::service::LOGGIA;

/// Runs a program on a terminal of its own and prints what it wrote there. A service is stopped once it serves.
const ON_A_TERMINAL: &str = r#"
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    if b"serving on" in text + part and b"serving on" not in text:
        os.kill(pid, signal.SIGTERM)
    text += part
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(text)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// Returns a command that has its settings from files, apart from a free port.
fn by_file(data: &Path) -> Command {
    let mut command = process::command(&LOGGIA, data);
    command.env_remove("LOGGIA_DATA").env_remove("LOGGIA_AUTH");
    command
}

fn init(folder: &Path, more: &[&str]) -> Command {
    let mut command = by_file(folder);
    command.arg("init").arg(folder).args(more);
    command
}

/// Returns what a command shows on a terminal, with the line breaks of a file; `None` without Python, with a message.
fn on_a_terminal(data: &Path, args: &[&str]) -> Option<ProgramOutput> {
    if Command::new("python3").arg("--version").output().is_err() {
        skipped("there is no python3, which opens a terminal for this test");
        return None;
    }
    let mut command = process::command("python3", data);
    command.args(["-c", ON_A_TERMINAL, LOGGIA.as_str()]).args(args).env_remove("LOGGIA_LOG");
    let mut output = ProgramOutput::of(&mut command);
    output.stdout = output.stdout.replace("\r\n", "\n");
    Some(output)
}

#[tokio::test]
async fn a_catalog_of_ones_own_is_set_up_started_and_says_how_it_is_filled() {
    let Some(parent) = kit::nats::data_folder().await else { return };
    let folder = parent.path().join("north houses");
    let (settings, data) = (folder.join("loggia.toml"), folder.join("data"));
    let written = ProgramOutput::of(init(&folder, &["--yes", "--json"]).env("LOGGIA_DATA", "/ignored"));
    assert_eq!(written.success().json(), json!({"settings": &settings, "data": &data}));
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains("\nsite_name = \"North houses\"\n"), "{text}");

    let again = ProgramOutput::of(&mut init(&folder, &["--yes"])).ended(1);
    let reason = format!(
        "loggia: {} is there already and stays as it is; edit it, or name another folder",
        settings.display()
    );
    assert_eq!(again.stderr.trim(), reason);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);

    let checked = ProgramOutput::of(by_file(&data).args(["config", "--check", "--config"]).arg(&settings));
    assert!(checked.success().stdout.starts_with("nothing prevents a start\n"));

    let mut up = by_file(&data);
    up.arg("up").arg("--config").arg(&settings);
    let mut loggia = Loggia::spawn_command(up, &data);
    let http = loggia.ready().await;
    let page = http.get("/").await.text().replace("&#39;", "'");
    assert!(page.contains("There are no projects yet."), "the demo is not imported: {page}");
    let import = format!("import works.csv --mapping works.toml --config '{}'</code>", settings.display());
    assert!(page.contains(&import), "{page}");
    let key = format!("keys issue --email you@example.org --config '{}'</code>", settings.display());
    assert!(page.contains(&key), "{page}");
    // A page that is seen from elsewhere has no path of this machine.
    for header in [("host", "catalog.example.org"), ("x-forwarded-for", "203.0.113.7")] {
        let page = http.send("GET", "/", &[header], "").await.text().to_owned();
        assert!(
            page.contains("<code id=\"step-1\">loggia import works.csv --suggest works.toml</code>"),
            "{page}"
        );
        assert!(!page.contains("north houses"), "{header:?}: {page}");
    }
}

#[test]
fn answers_are_read_from_lines_and_a_wrong_one_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (shop, lines) = (folder.path().join("shop"), folder.path().join("answers"));
    let answer = |text: &str, more: &[&str]| {
        fs::write(&lines, text).unwrap();
        ProgramOutput::of(init(&shop, more).stdin(File::open(&lines).unwrap()))
    };
    let wrong = answer("Casa & Co\nme\n", &[]).ended(1);
    assert!(
        wrong.stderr.starts_with("loggia: contact is “me” (your answer), which cannot be used: "),
        "{wrong}"
    );
    assert!(!shop.exists(), "nothing was made");
    let refused = answer("", &["--tiers", "free"]).ended(2);
    assert!(refused.stderr.contains("tiers is “free” (flag), which cannot be used"), "{refused}");

    let data = folder.path().join("elsewhere").display().to_string();
    let done = answer(&format!("hello@example.org\n\n\n\n{data}\n"), &["--site-name", "Casa & Co"]).success();
    let settings = shop.join("loggia.toml");
    assert!(
        done.stdout.starts_with(&format!("{} is written; the data goes to {data}.", settings.display())),
        "{done}"
    );
    assert_eq!(done.stderr, "", "a script is not asked");
    let shown = ProgramOutput::of(by_file(&shop).args(["config", "--json", "--config"]).arg(&settings))
        .success()
        .json();
    let of_file = |name: &str| {
        let found = shown.as_array().unwrap().iter().find(|setting| setting["name"] == name).unwrap();
        assert_eq!(found["source"], settings.to_str().unwrap(), "{name}");
        found["value"].clone()
    };
    let values = ["site_name", "contact", "data", "start_with"].map(of_file);
    assert_eq!(values, [json!("Casa & Co"), json!("hello@example.org"), json!(data), json!("nothing")]);
}

#[tokio::test]
async fn a_terminal_shows_what_runs_where_before_the_log() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    let Some(output) = on_a_terminal(&data, &["up", "--no-demo", "--auth", "keys"]) else { return };
    let lines: Vec<&str> = output.stdout.lines().take(11).collect();
    let site = lines[0].strip_prefix("Site    ").unwrap_or_else(|| panic!("{output}"));
    let shown = data.display();
    let expected = [
        format!("Site    {site}"),
        format!("REST    {site}/v1"),
        format!("MCP     {site}/mcp"),
        format!("Data    {shown}"),
        format!("Events  none yet, in {shown}/store"),
        "NATS    a private server of this process".to_owned(),
        "Next".to_owned(),
    ];
    assert_eq!(lines[..7], expected, "{output}");
    assert!(
        lines[7].ends_with(&format!(" import works.csv --suggest works.toml --data {shown}")),
        "{output}"
    );
    assert!(lines[8].ends_with(&format!(" keys issue --email you@example.org --data {shown}")), "{output}");
    assert_eq!(lines[9], format!("  read how to call it:   {site}/docs"));
    assert!(lines[10].contains("starting"), "then the log: {output}");
    assert!(site.starts_with("http://127.0.0.1:"), "{output}");
}

#[test]
fn a_terminal_shows_what_a_new_key_is_for_and_a_script_the_key_alone() {
    let folder = tempfile::tempdir().unwrap();
    let issue = ["keys", "issue", "--email", "a@b.example", "--public-url", "https://catalog.example.org"];
    let script = process::run(&LOGGIA, folder.path(), &issue).success();
    assert_eq!(script.stdout.lines().count(), 3, "{script}");
    let Some(output) = on_a_terminal(folder.path(), &issue) else { return };
    let text = output.success().stdout;
    let key = text.lines().next().unwrap();
    let url = "https://catalog.example.org";
    for part in [
        format!("curl. In a shell:\n    curl -H \"Authorization: Bearer {key}\" \\\n"),
        format!("      \"{url}/v1/search?q=brick+library\"\n\nPython. With the package requests:\n"),
        format!(
            "JavaScript. In a module, in a browser or Node.js:\n    const url = new URL(\"{url}/v1/search\");\n"
        ),
        format!(
            "Claude Code. In a terminal:\n    claude mcp add --transport http catalog-example-org {url}/mcp \\\n"
        ),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
}
