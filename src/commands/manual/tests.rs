//! The files that the command writes.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Returns the text of the file at this path.
fn text(path: &str) -> String {
    let file = files().unwrap().into_iter().find(|(name, _)| name == path);
    String::from_utf8(file.unwrap_or_else(|| panic!("{path} is missing")).1).unwrap()
}

/// Returns the command line as it is parsed.
fn command_line() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

#[test]
fn every_command_has_a_page_but_hidden_ones_have_none() {
    fn add(command: &Command, name: &str, pages: &mut BTreeSet<String>) {
        pages.insert(format!("man/man1/{name}.1"));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            add(sub, &format!("{name}-{}", sub.get_name()), pages);
        }
    }
    let mut expected = BTreeSet::new();
    add(&command_line(), "loggia", &mut expected);
    for named in ["loggia", "loggia-import", "loggia-keys-issue", "loggia-backup-verify"] {
        assert!(expected.contains(&format!("man/man1/{named}.1")), "{expected:?}");
    }
    expected.extend(["loggia.bash", "_loggia", "loggia.fish"].map(|name| format!("completions/{name}")));
    let files = files().unwrap();
    let names: BTreeSet<String> = files.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, expected);
    assert_eq!(files.len(), names.len());
    for (name, bytes) in files {
        let text = String::from_utf8(bytes).unwrap();
        let hidden = ["bench-bare", r"bench\-bare", "Write the manual pages"]
            .into_iter()
            .find(|word| text.contains(word));
        assert_eq!(hidden, None, "{name}");
    }
}

#[test]
fn the_page_of_a_command_has_its_options_its_examples_and_the_version() {
    let page = text("man/man1/loggia-import.1");
    let begin = format!(
        ".TH loggia-import 1 \"\" \"Loggia {VERSION}\" Loggia\n.SH NAME\nloggia\\-import \\- Import records"
    );
    assert!(page.contains(&begin), "{page}");
    let command_line = command_line();
    let import = command_line.find_subcommand("import").unwrap();
    let shown = import.get_arguments().filter(|argument| !argument.is_hide_set());
    let options: Vec<&str> = shown.filter_map(clap::Arg::get_long).collect();
    assert!(options.contains(&"dry-run") && options.contains(&"data"), "{options:?}");
    for option in options {
        let written = format!(r"\fB\-\-{}\fR", option.replace('-', r"\-"));
        assert!(page.contains(&written), "{option}: {page}");
    }
    assert!(!page.contains("stripe"), "settings are in --help-settings: {page}");
    assert!(page.contains(".SH EXAMPLES\nExamples:\n  loggia import works.xlsx"), "{page}");
    assert!(page.ends_with(&format!(".SH VERSION\nv{VERSION}\n")), "{page}");
}

#[test]
fn shells_complete_commands_options_and_the_flags_of_all_settings() {
    for (file, words) in [
        ("loggia.bash", ["loggia,import)", "--withdraw-missing", "--stripe-prices"]),
        ("_loggia", ["(import)", "--withdraw-missing[", "--stripe-prices="]),
        ("loggia.fish", ["-a \"import\"", "-l withdraw-missing", "-l stripe-prices"]),
    ] {
        let script = text(&format!("completions/{file}"));
        for word in words {
            assert!(script.contains(word), "{word}: {script}");
        }
    }
}

#[test]
fn the_same_bytes_are_written_each_time_and_other_files_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a/manual");
    let written = || -> BTreeMap<String, Vec<u8>> {
        run(&target, Output::new("loggia", true)).unwrap();
        let folders = ["man/man1", "completions"].map(|name| target.join(name));
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        let paths = entries.map(|entry| entry.unwrap().path());
        let relative = |path: &Path| path.strip_prefix(&target).unwrap().display().to_string();
        paths.map(|path| (relative(&path), fs::read(&path).unwrap())).collect()
    };
    let mut first = written();
    assert_eq!(first, files().unwrap().into_iter().collect());
    fs::write(target.join("man/man1/other.1"), "another's").unwrap();
    fs::write(target.join("man/man1/loggia.1"), "of another version").unwrap();
    first.insert("man/man1/other.1".to_owned(), b"another's".to_vec());
    assert_eq!(written(), first);
}
