use clap::Parser;
use settings::Sources;

use super::*;
use crate::cli::{Cli, Command as CliCommand};

fn args(more: &[&str]) -> ImportArgs {
    let words = ["loggia", "import", "in/works.csv", "--mapping", "tate"].iter().chain(more);
    match Cli::try_parse_from(words).unwrap().command {
        CliCommand::Import(args) => args,
        other => panic!("{other:?}"),
    }
}

/// What is done about missing projects of the source tate, where some records have no id.
fn plan(of: usize, missing: usize, unknown: u64, more: &[&str]) -> Plan {
    let (config, args) = (Config::read(&Sources::default()).unwrap(), args(more));
    let (output, source) = (Output::new("loggia", false), "tate".parse().unwrap());
    SourceCheck { config: &config, args: &args, output, source }.plan("works.csv", of, missing, unknown)
}

const WITHDRAW: [&str; 3] = ["--withdraw-missing", "--reason", "sold"];

#[test]
fn missing_projects_are_listed_with_what_can_be_done() {
    let one = "1 project of tate is not in works.csv any more; withdraw it with --withdraw-missing --reason 'TEXT'.";
    assert_eq!(plan(2, 1, 9, &[]), Plan::List(one.into()));
    let many = "1,200 projects of tate are not in works.csv any more; withdraw them with --withdraw-missing --reason 'TEXT'.";
    assert_eq!(plan(1_200, 1_200, 0, &[]), Plan::List(many.into()));
}

#[test]
fn at_most_five_percent_are_withdrawn_without_yes() {
    assert_eq!(plan(40, 2, 0, &WITHDRAW), Plan::Withdraw);
    let more = "3 of 40 projects of tate are not in works.csv any more, which is more than 5 %; nothing was withdrawn: if works.csv \
                has all records of tate, add --yes";
    assert_eq!(plan(40, 3, 0, &WITHDRAW), Plan::Refuse(more.into()));
    let unknown = "1 record of works.csv has no id or cannot be read, so that its project may seem to be gone; nothing was \
                   withdrawn: correct it, or add --yes";
    assert_eq!(plan(40, 2, 1, &WITHDRAW), Plan::Refuse(unknown.into()));
    let yes = [&WITHDRAW[..], &["--yes"]].concat();
    assert_eq!(plan(40, 40, 7, &yes), Plan::Withdraw);
}

#[test]
fn a_dry_run_withdraws_nothing() {
    let dry = [&WITHDRAW[..], &["--dry-run"]].concat();
    let sentence = "2 projects of tate would be withdrawn, which are not in works.csv any more.";
    assert_eq!(plan(40, 2, 0, &dry), Plan::List(sentence.into()));
    assert!(matches!(plan(40, 3, 0, &dry), Plan::Refuse(_)), "as without it");
}

#[test]
fn a_reason_is_given_for_what_is_withdrawn_and_for_nothing_else() {
    let parsed = |more: &[&str]| {
        Cli::try_parse_from(["loggia", "import", "a.csv", "--mapping", "a"].iter().chain(more)).is_ok()
    };
    assert!(parsed(&[]) && parsed(&WITHDRAW) && parsed(&[&WITHDRAW[..], &["--yes"]].concat()));
    for wrong in [&["--withdraw-missing"][..], &["--reason", "sold"], &["--yes"]] {
        assert!(!parsed(wrong), "{wrong:?}");
    }
}

#[test]
fn only_projects_of_a_named_source_can_be_withdrawn() {
    let config = Config::read(&Sources::default()).unwrap();
    let mapping = |name: &str| {
        let text = format!("{name}[record]\nname = \"T\"\ncategory = {{ value = \"art\" }}\n");
        Mapping::parse("m.toml", &text).unwrap()
    };
    let check = |name: &str, more: &[&str]| {
        let (args, output) = (args(more), Output::new("loggia", false));
        SourceCheck::of(&config, &args, Some(&mapping(name)), output)
            .map(|check| check.map(|check| check.source.to_string()))
            .map_err(|error| error.to_string())
    };
    assert_eq!(check("name = \"tate\"\n", &[]), Ok(Some("tate".into())));
    assert_eq!(check("", &[]), Ok(None));
    assert_eq!(check("name = \"tate\"\n", &WITHDRAW), Ok(Some("tate".into())));
    let reason = "--withdraw-missing needs a mapping with a name, since other ids belong to no source; begin its file with a line \
                  such as name = \"works\"";
    assert_eq!(check("", &WITHDRAW), Err(reason.into()));
}
