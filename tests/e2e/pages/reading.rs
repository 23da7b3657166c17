//! Extracts the commands from a page.

use std::path::Path;

/// A command in a block.
#[derive(Debug)]
pub(super) struct Line {
    /// The page and the line.
    pub(super) number: usize,
    /// The command.
    pub(super) command: String,
    /// The exit status in words such as “exit status 3” after it, or 0.
    pub(super) status: i32,
    /// Whether the block is marked for root or another machine (```` ```sh root ````), or shows a form to fill in (````
    /// ```text ````).
    pub(super) checked_only: bool,
}

/// Returns every page with its text.
pub(super) fn pages() -> Vec<(String, String)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let operating = std::fs::read_dir(root.join("docs/operating")).unwrap();
    let operating = operating.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let operating =
        operating.filter(|name| name.ends_with(".md")).map(|name| format!("docs/operating/{name}"));
    let mut names: Vec<String> = operating.chain(["docs/cluster.md".to_owned()]).collect();
    names.sort();
    let text = |name: String| (name.clone(), std::fs::read_to_string(root.join(name)).unwrap());
    names.into_iter().map(text).collect()
}

/// Returns whether a separate test runs the commands of a page: it contains its name as a string.
pub(super) fn has_its_own_test(page: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e");
    let named = format!("\"{page}\"");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("pages.rs"))
        .any(|path| std::fs::read_to_string(path).unwrap().contains(&named))
}

/// Returns the commands in shell blocks, in order.
pub(super) fn commands(text: &str) -> Vec<Line> {
    let (mut found, mut block, mut begun) = (Vec::new(), None::<String>, None::<(usize, String)>);
    for (at, line) in text.lines().enumerate() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(info.trim().to_owned()) };
            continue;
        }
        let Some(info) = block.as_deref() else { continue };
        let (number, mut command) = begun.take().unwrap_or((at + 1, String::new()));
        let is_shell = info.split_whitespace().next() == Some("sh");
        if !is_shell && !line.trim_start().starts_with("loggia ") {
            assert!(
                !line.starts_with("$ "),
                "line {number}: a block with commands begins with ```sh: {line}"
            );
            continue;
        }
        if let Some(part) = line.strip_suffix('\\') {
            command.push_str(part);
            begun = Some((number, command));
            continue;
        }
        command.push_str(line);
        let (typed, remark) = without_remark(&command);
        if !typed.is_empty() {
            let status = remark.split_once("exit status ").map_or("", |(_, rest)| rest);
            let digits = status.split(|letter: char| !letter.is_ascii_digit()).next();
            let status = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
            found.push(Line {
                number,
                command: typed.to_owned(),
                status,
                checked_only: !is_shell || info.contains("root"),
            });
        }
    }
    found
}

/// Splits a command from the comment after it.
fn without_remark(line: &str) -> (&str, &str) {
    match line.strip_prefix('#').map(|remark| ("", remark)).or_else(|| line.split_once(" #")) {
        Some((typed, remark)) => (typed.trim(), remark),
        None => (line.trim(), ""),
    }
}

/// Returns the commands of Loggia in backticks in the text, with their lines.
pub(super) fn inline(text: &str) -> Vec<(usize, String)> {
    let mut is_block = false;
    let lines = text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_fence && !is_block
    });
    let words = lines.flat_map(|(at, line)| {
        line.split('`').skip(1).step_by(2).map(move |word| (at + 1, word.to_owned())).collect::<Vec<_>>()
    });
    words.filter(|(_, word)| word.starts_with("loggia ") || word.starts_with("loggia-run ")).collect()
}

#[test]
fn commands_are_found_with_their_expected_status() {
    let text = "Text `loggia status`.\n\n```sh\n# why\nloggia backup /b \\\n  --keep 7   # exit status 3: two\n\ndf -h\n```\n\
                ```json\n{}\n```\n```sh root\nfind /\n```\n";
    let found = commands(text);
    let shown: Vec<_> =
        found.iter().map(|l| (l.number, l.command.as_str(), l.status, l.checked_only)).collect();
    let expected =
        [(5, "loggia backup /b   --keep 7", 3, false), (8, "df -h", 0, false), (14, "find /", 0, true)];
    assert_eq!(shown, expected);
    assert_eq!(inline(text), [(1, "loggia status".to_owned())]);
}
