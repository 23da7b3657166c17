//! Settings that all roles of a service share.

use settings::Sources;

use super::*;

fn config(environment: &[(&str, &str)]) -> Config {
    let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Config::read(&Sources { environment, ..Sources::default() }).unwrap()
}

fn compared(node: &[(&str, &str)], write: &[(&str, &str)]) -> Option<String> {
    difference(&shared_settings(&config(node)), &serde_json::from_str(&published(&config(write))).unwrap())
}

#[test]
fn differences_are_named_and_settings_that_the_write_side_leaves_unset_may_differ() {
    let url = ("LOGGIA_PUBLIC_URL", "https://catalog.example.org");
    assert_eq!(compared(&[], &[]), None);
    assert_eq!(compared(&[url, ("LOGGIA_METERING", "refuse")], &[]), None);
    assert_eq!(compared(&[("LOGGIA_TIERS", "free=200,studio=5000, pro=25000")], &[]), None);
    assert_eq!(
        compared(&[("LOGGIA_TIERS", "free=50")], &[("LOGGIA_TIERS", "free=500, studio=900"), url]).unwrap(),
        "public_url is “” here and “https://catalog.example.org” on the write side (LOGGIA_PUBLIC_URL), tiers is \
         “free=50” here and “free=500, studio=900” on the write side (LOGGIA_TIERS); set the same for all nodes and \
         start this one again"
    );
    let name = ("LOGGIA_SITE_NAME", "Casa & Co");
    assert_eq!(compared(&[name], &[]), None);
    assert_eq!(
        compared(&[], &[name]).unwrap(),
        "site_name is “” here and “Casa & Co” on the write side (LOGGIA_SITE_NAME); set the same for all nodes and \
         start this one again"
    );
    assert_eq!(
        compared(&[("LOGGIA_AUTH", "off")], &[]).unwrap(),
        "auth is “off” here and “keys” on the write side (LOGGIA_AUTH); set the same for all nodes and start this \
         one again"
    );
}

#[test]
fn nodes_learn_whether_the_write_side_sends_mails() {
    let sends = |environment: &[(&str, &str)]| {
        sends_mails(&serde_json::from_str(&published(&config(environment))).unwrap())
    };
    assert!(!sends(&[]), "log: sends no mails");
    assert!(sends(&[("LOGGIA_MAIL", "print:")]));
    assert!(sends_mails(&Shared::new()), "a write side of 0.1 does not say");
}

#[test]
fn commands_learn_the_tiers_and_the_public_url() {
    let said = |environment: &[(&str, &str)]| {
        parsed(&serde_json::from_str(&published(&config(environment))).unwrap()).unwrap()
    };
    let all = said(&[("LOGGIA_TIERS", "gold=7"), ("LOGGIA_PUBLIC_URL", "https://catalog.example.org")]);
    let public_url = Some("https://catalog.example.org".to_owned());
    assert_eq!(all, ServiceSettings { tiers: "gold=7".parse().unwrap(), public_url });
    assert_eq!(said(&[]).public_url, None);
    assert_eq!(parsed(&Shared::new()), None, "a write side of 0.1 does not say");
}

#[test]
fn settings_of_other_versions_are_ignored() {
    let theirs = Shared::from([("colour".to_owned(), "red".to_owned())]);
    assert_eq!(difference(&shared_settings(&config(&[])), &theirs), None);
    assert_eq!(difference(&shared_settings(&config(&[])), &Shared::new()), None);
}
