//! The settings as flags of every command.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::config::SETTINGS;

/// The flag that prints the settings instead of running a command.
const HELP: &str = "help-settings";

/// The settings that are given as flags.
#[derive(Debug, Default)]
pub struct SettingFlags {
    /// The settings file, if another than ./loggia.toml is named.
    pub config: Option<PathBuf>,
    /// Their values, by the names of the settings.
    pub values: BTreeMap<String, String>,
}

impl SettingFlags {
    /// Returns whether the arguments of the program ask for the settings, whatever else they say.
    pub fn ask_for_help(words: impl Iterator<Item = std::ffi::OsString>) -> bool {
        words
            .take_while(|word| word != "--")
            .any(|word| word.to_str().and_then(|w| w.strip_prefix("--")) == Some(HELP))
    }

    /// Returns what `--help-settings` prints.
    pub fn help() -> String {
        let settings: Vec<String> = SETTINGS.settings().map(|setting| SETTINGS.help(setting)).collect();
        format!(
            "Settings are taken from flags, then from variables, then from loggia.toml (or the file that --config\n\
             names), where they have the names of the flags with underscores. `loggia config` shows their values and\n\
             where each comes from; `loggia config --check` looks for what a start would refuse.\n\n{}",
            settings.join("\n")
        )
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        let flags = SETTINGS.settings().filter(|setting| !setting.hidden).map(|setting| {
            Arg::new(setting.name)
                .long(setting.flag())
                .help(setting.about)
                .value_name(setting.shape)
                .value_parser(NonEmptyStringValueParser::new())
                .allow_hyphen_values(setting.name == "clock_offset")
                .hide(setting.name != "data")
        });
        let config = Arg::new("config")
            .long("config")
            .help("A settings file other than ./loggia.toml")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf));
        let help = Arg::new(HELP)
            .long(HELP)
            .help("Show the settings, which every command takes as flags")
            .action(ArgAction::SetTrue);
        let all = flags.chain([config, help]);
        command.args(all.map(|flag| flag.global(true).help_heading("Settings")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SettingFlags::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SettingFlags, clap::Error> {
        let value = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let settings = SETTINGS.settings();
        let values = settings.filter_map(|setting| Some((setting.name.to_owned(), value(setting.name)?)));
        Ok(SettingFlags { config: matches.get_one("config").cloned(), values: values.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = SettingFlags::from_arg_matches(matches)?;
        Ok(())
    }
}
