//! Values of settings that were answered or given, checked as those of a settings file are.

use std::collections::BTreeMap;

use super::{Question, Setup, SetupError};
use crate::Sources;

/// What messages about an answer name as its source.
const SOURCE: &str = "your answer";

/// The values of settings by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<&'static str, String>);

impl Answers {
    /// Takes the settings that are given as flags, which the program has checked.
    ///
    /// # Errors
    ///
    /// Fails if one cannot be written as it is.
    pub fn of_flags(setup: &Setup<'_>, flags: &BTreeMap<String, String>) -> Result<Answers, SetupError> {
        let mut answers = Answers::default();
        for setting in setup.table.settings() {
            if let Some(value) = flags.get(setting.name) {
                let question = setup.questions.iter().find(|question| question.setting == setting.name);
                let value = question.map_or_else(|| Ok(value.clone()), |question| read(question, value))?;
                answers.0.insert(setting.name, value);
            }
        }
        Ok(answers)
    }

    /// Takes the defaults of everything that is not answered.
    ///
    /// # Errors
    ///
    /// Fails if the answers are not valid together.
    pub fn fill(&mut self, setup: &Setup<'_>) -> Result<(), SetupError> {
        for question in &setup.questions {
            if let (None, Some(default)) = (self.get(question.setting), &question.default) {
                self.0.insert(question.setting, default.clone());
            }
        }
        self.check(setup, None)
    }

    /// Returns the value of a setting, if it has been answered.
    pub fn get(&self, setting: &str) -> Option<&str> {
        self.0.get(setting).map(String::as_str)
    }

    /// Takes an answer, if it is valid together with those before it.
    pub(super) fn answer(
        &mut self,
        setup: &Setup<'_>,
        question: &Question,
        answer: &str,
    ) -> Result<(), SetupError> {
        self.0.insert(question.setting, read(question, answer)?);
        let checked = self.check(setup, Some(question));
        if checked.is_err() {
            self.0.remove(question.setting);
        }
        checked
    }

    /// Reads the answers as the settings of a process are read.
    pub(super) fn check(&self, setup: &Setup<'_>, newest: Option<&Question>) -> Result<(), SetupError> {
        let mut lines: Vec<String> = self.0.iter().map(|(setting, value)| line(setting, value)).collect();
        if let Some((needed, value)) = newest.and_then(|question| question.needs)
            && self.get(needed).is_none()
        {
            lines.push(line(needed, value));
        }
        let file = Some((SOURCE.into(), lines.join("\n")));
        (setup.check)(&Sources { file, ..Sources::default() }).map_err(SetupError::Invalid)
    }
}

fn read(question: &Question, answer: &str) -> Result<String, SetupError> {
    (question.read)(answer).map_err(|reason| {
        SetupError::Invalid(format!("{} is “{answer}” ({SOURCE}), {reason}", question.setting))
    })
}

/// Returns a line of a settings file that sets a setting.
pub(super) fn line(setting: &str, value: &str) -> String {
    format!("{setting} = {}", toml::Value::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_escaped() {
        assert_eq!(line("site_name", "Casa & Co"), "site_name = \"Casa & Co\"");
        for value in ["Ann's \"House\"", "C:\\shop", "'''", "ä 家"] {
            let read: toml::Table = line("data", value).parse().unwrap();
            assert_eq!(read["data"].as_str(), Some(value));
        }
    }
}
