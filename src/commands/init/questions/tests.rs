use settings::setup::{Dialogue, OnWrong};

use super::*;
use crate::config::StartWith;

const FOLDER: &str = "/srv/north-houses";

/// Answers the questions with these lines; returns the answers, or why there are none, and what was shown.
fn asked(on_wrong: OnWrong, flags: &[(&str, &str)], lines: &str) -> (Result<Answers, String>, String) {
    let flags = flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let setup = setup(FOLDER);
    let mut answers = Answers::of_flags(&setup, &flags).unwrap();
    let mut dialogue = Dialogue { input: lines.as_bytes(), prompts: Vec::new(), on_wrong };
    let outcome = dialogue.ask_all(&setup, &mut answers);
    let shown = String::from_utf8(dialogue.prompts).unwrap();
    (outcome.map(|()| answers).map_err(|error| format!("{error:#}")), shown)
}

fn settings_of(answers: &Answers) -> Config {
    let text = settings_file("/srv/north-houses/loggia.toml", &setup(FOLDER), answers);
    let file = Some(("loggia.toml".into(), text));
    Config::read(&Sources { file, ..Sources::default() }).unwrap()
}

/// Returns the settings that a file sets, with their values as they are shown.
fn set(answers: &Answers) -> Vec<(&'static str, String)> {
    let config = settings_of(answers);
    config.set().map(|setting| (setting.name, setting.value.clone().unwrap_or_default())).collect()
}

fn pairs(expected: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    expected.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

#[test]
fn without_answers_everything_has_a_default_that_works() {
    let (answers, shown) = asked(OnWrong::Fail, &[], "");
    let answers = answers.unwrap();
    assert_eq!(shown, "", "a script is shown no questions");
    let expected = pairs(&[
        ("data", "/srv/north-houses/data"),
        ("site_name", "North houses"),
        ("start_with", "nothing"),
    ]);
    assert_eq!(set(&answers), expected);
    let mut filled = Answers::default();
    filled.fill(&setup(FOLDER)).unwrap();
    assert_eq!(filled, answers, "and the same with --yes");
    assert_eq!(settings_of(&answers).process.start_with, StartWith::Nothing);
}

#[test]
fn every_answer_is_in_the_file_and_a_flag_is_not_asked_for() {
    let lines = "\u{20}hello@example.org \nfree=10, house=20\nhttps://houses.example.org/\n\
                 smtps://me:secret@mail.example.org\nHouses <mail@example.org>\n/var/houses\n";
    let (answers, _) =
        asked(OnWrong::Fail, &[("site_name", "Häuser \"N\""), ("listen", "0.0.0.0:80")], lines);
    let expected = pairs(&[
        ("data", "/var/houses"),
        ("listen", "0.0.0.0:80"),
        ("public_url", "https://houses.example.org/"),
        ("site_name", "Häuser \"N\""),
        ("tiers", "free=10, house=20"),
        ("mail", "smtps://***@mail.example.org"),
        ("mail_from", "Houses <mail@example.org>"),
        ("contact", "hello@example.org"),
        ("start_with", "nothing"),
    ]);
    assert_eq!(set(&answers.unwrap()), expected);
    let (demo, _) = asked(OnWrong::Fail, &[("start_with", "demo")], "");
    assert_eq!(settings_of(&demo.unwrap()).process.start_with, StartWith::Demo);
}

#[test]
fn a_wrong_answer_of_a_script_is_a_sentence() {
    let wrong = |lines: &str| asked(OnWrong::Fail, &[], lines).0.unwrap_err();
    assert_eq!(
        wrong("\n\nfree\n"),
        "tiers is “free” (your answer), which cannot be used: “free” is not a tier; write them as free=200, \
         studio=5000"
    );
    assert_eq!(
        wrong("\n\n\nhouses.example.org\n"),
        "public_url is “houses.example.org” (your answer); expected a URL such as https://catalog.example.org"
    );
    assert_eq!(
        wrong("\n\n\n\nsmtp://me:secret@mail.example.org\n\n"),
        "mail is “smtp://***@mail.example.org” (your answer), and mail_from is not set; set it to whom mails are from, \
         such as mail@example.org"
    );
    assert_eq!(
        wrong("\n\n\n\n\n~/houses\n"),
        "data is “~/houses” (your answer), and ~ is known to shells only; write the whole path"
    );
    assert!(wrong(&"a".repeat(81)).starts_with("site_name is “aaa"));
    assert!(wrong("\nme\n").starts_with("contact is “me” (your answer), which cannot be used: "));
    assert!(
        wrong("\n\n\n\nimap://x\n").starts_with("mail is “imap://x” (your answer), which cannot be used: ")
    );
}

#[test]
fn a_person_is_asked_again_and_may_leave() {
    let lines = "\n\n\nhouses\nhttps://houses.example.org\n\n\n";
    let (answers, shown) = asked(OnWrong::AskAgain, &[], lines);
    assert_eq!(answers.unwrap().get("public_url"), Some("https://houses.example.org"));
    let question = "\nThe public address, such as https://catalog.example.org; without one, the address of this \
                    machine [none]\n> ";
    let reason = "public_url is “houses” (your answer); expected a URL such as https://catalog.example.org\n";
    assert!(shown.contains(&format!("{question}{reason}{question}")), "{shown}");
    assert!(shown.starts_with("\nThe name of the catalog [North houses]\n> "), "{shown}");
    assert!(shown.contains("[free=200, studio=5000, pro=25000]\n> "), "{shown}");
    assert!(!shown.contains("Whom mails are from"), "there is no mail server: {shown}");
    assert_eq!(
        asked(OnWrong::AskAgain, &[], "\n\n").0.unwrap_err(),
        "the answers ended before the last question, so nothing was written"
    );
}

#[test]
fn what_is_not_answered_is_a_comment_with_its_help() {
    let (answers, _) = asked(OnWrong::Fail, &[], "");
    let text = settings_file("/srv/north-houses/loggia.toml", &setup(FOLDER), &answers.unwrap());
    let begin =
        "# The settings of this catalog: `loggia up --config /srv/north-houses/loggia.toml` starts it.\n";
    assert!(text.starts_with(begin), "{text}");
    let contact = "\n# How users reach the operator, shown where they may need it: an email address, or the https://…\n\
                   # address of a page.\n# contact = \"hello@example.org\"\n";
    assert!(text.contains(contact), "{text}");
    assert!(text.contains("\n# tiers = \"free=200, studio=5000, pro=25000\"\n"), "{text}");
    assert!(text.contains("\n# listen = \"127.0.0.1:8080\"\n"), "{text}");
    assert!(text.ends_with("\nstart_with = \"nothing\"\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("# prices")), "{text}");
}

#[test]
fn the_name_of_a_folder_becomes_that_of_the_catalog() {
    let names = ["/srv/north-houses", "/srv/élan_2.0", "/", "/srv/---"].map(name_of);
    assert_eq!(names, [Some("North houses".to_owned()), Some("Élan 2 0".to_owned()), None, None]);
}
