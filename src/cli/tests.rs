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
fn every_setting_is_a_flag() {
    let command = Cli::command();
    // Everybody on the machine can read what a program was started with.
    let settings = crate::config::SETTINGS.iter().filter(|setting| !setting.hidden);
    for setting in settings.filter(|setting| setting.name != "nats_server") {
        let flag = setting.name.replace('_', "-");
        assert!(command.get_arguments().any(|arg| arg.get_long() == Some(&flag)), "--{flag}");
    }
}
