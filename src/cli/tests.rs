use super::*;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_an_example() {
    fn check(command: &clap::Command, path: &str) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                check(sub, &path);
            } else {
                let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&path[..]), "`{path}` has no example of itself");
            }
        }
    }
    let mut command = Cli::command();
    command.build();
    check(&command, "loggia");
}

#[test]
fn settings_are_flags_of_every_command() {
    let parse = |words: &[&str]| Cli::try_parse_from(words).map(|cli| cli.settings.values);
    let before = parse(&["loggia", "--nats-url", "nats://a", "status"]).unwrap();
    assert_eq!(before, parse(&["loggia", "status", "--nats-url", "nats://a"]).unwrap());
    assert_eq!(before, [("nats_url".to_owned(), "nats://a".to_owned())].into());
    assert_eq!(parse(&["loggia", "up", "--clock-offset", "-10m"]).unwrap()["clock_offset"], "-10m");
    for wrong in [&["--data", ""][..], &["--stripe-secret", "whsec_12345678"]] {
        let refused = parse(&[&["loggia", "status"], wrong].concat()).unwrap_err();
        assert_eq!(refused.exit_code(), 2, "{refused}");
    }
}

#[test]
fn the_help_of_a_command_shows_its_own_options_and_names_the_help_of_the_settings() {
    let help = |words: &[&str]| Cli::try_parse_from(words).unwrap_err().to_string();
    let long = help(&["loggia", "import", "--help"]);
    assert!(
        long.contains("--dry-run") && long.contains("--data <DIR>") && long.contains("--help-settings"),
        "{long}"
    );
    assert!(!long.contains("--stripe-prices"), "{long}");
    let asked = |words: &[&str]| SettingFlags::ask_for_help(words.iter().map(Into::into));
    assert!(asked(&["import", "--help-settings"]) && !asked(&["import", "--", "--help-settings"]));
    let settings = SettingFlags::help();
    let listen = "  --listen ADDR:PORT, LOGGIA_LISTEN\n      The address that the API listens on; port 0 takes any free one.\n      \
                  default 127.0.0.1:8080; example: 0.0.0.0:8080\n";
    assert!(settings.contains(listen), "{settings}");
    assert!(settings.contains("  LOGGIA_STRIPE_SECRET\n"), "a secret has no flag: {settings}");
}
