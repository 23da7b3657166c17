//! The settings file: what was answered, and what else is often set, each with its help as a comment.

use super::answers::line;
use super::{Answers, Setup};
use crate::Setting;

/// The longest line of a comment, in characters.
const WIDTH: usize = 100;

/// What a settings file has besides the answers.
#[derive(Debug)]
pub struct SettingsFile<'a> {
    /// The paragraphs at its beginning.
    pub begin: Vec<String>,
    /// Settings that are not asked for and often set later; they are written as comments, unless they were given.
    pub others: &'a [&'a str],
    /// A setting with the value that is written unless it was given.
    pub fixed: (&'a str, &'a str),
}

impl SettingsFile<'_> {
    /// Returns the text of the file.
    pub fn text(&self, setup: &Setup<'_>, answers: &Answers) -> String {
        let mut text: String = self.begin.iter().map(|paragraph| comment(paragraph)).collect();
        let (fixed, value) = self.fixed;
        let asked = setup.questions.iter().map(|question| question.setting);
        let listed: Vec<&str> = asked.chain(self.others.iter().copied()).chain([fixed]).collect();
        for setting in listed.iter().filter_map(|name| setup.table.setting(name)) {
            let own = answers.get(setting.name).or((setting.name == fixed).then_some(value));
            text += &entry(setting, own);
        }
        // What else was given.
        let is_listed = |setting: &&Setting| listed.contains(&setting.name);
        for setting in setup.table.settings().filter(|setting| !is_listed(setting)) {
            text += &answers.get(setting.name).map(|own| entry(setting, Some(own))).unwrap_or_default();
        }
        text
    }
}

fn entry(setting: &Setting, value: Option<&str>) -> String {
    let help = comment(setting.about);
    let set = match (value, setting.default) {
        (Some(value), _) => line(setting.name, value),
        (None, Some(default)) => format!("# {}", line(setting.name, default)),
        (None, None) => format!("# {}", line(setting.name, setting.example)),
    };
    format!("\n{help}{set}\n")
}

/// Returns a text as lines of a comment, of at most [`WIDTH`] characters where its words allow.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        let is_full = |line: &String| line.chars().count() + 1 + word.chars().count() > WIDTH;
        if lines.last().is_some_and(|line| line.len() > 1 && is_full(line)) {
            lines.push("#".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_as_wide_as_its_words_allow() {
        assert_eq!(comment("One line."), "# One line.\n");
        let (half, long) = ("a".repeat(49), "b".repeat(120));
        assert_eq!(
            comment(&format!("{half} {half} {long} c")),
            format!("# {half}\n# {half}\n# {long}\n# c\n")
        );
    }
}
