//! Setting a program up: questions about its settings, on a terminal or to a script, of which each answer is checked as a settings file
//! is, and the commented settings file that comes of them.

mod answers;
mod dialogue;
mod settings_file;

use std::io;

use crate::{Sources, Table};

pub use answers::Answers;
pub use dialogue::{Dialogue, OnWrong};
pub use settings_file::SettingsFile;

/// How a program is set up.
pub struct Setup<'a> {
    /// Its settings.
    pub table: &'a Table,
    /// The questions, in the order in which they are asked.
    pub questions: Vec<Question>,
    /// Checks settings as the program reads them; returns what is wrong.
    pub check: &'a dyn Fn(&Sources) -> Result<(), String>,
}

/// A setting that is asked for.
#[derive(Debug, Clone)]
pub struct Question {
    /// The name of the setting.
    pub setting: &'static str,
    /// The question, without its default.
    pub text: &'static str,
    /// What is written if nothing is answered; `None` if then the setting has its own default.
    pub default: Option<String>,
    /// Whether it is asked, by the answers before it.
    pub is_asked: fn(&Answers) -> bool,
    /// Returns an answer as it is written, or why it cannot be used.
    pub read: fn(&str) -> Result<String, String>,
    /// A setting that this one needs, which is asked for later, and a valid value of it for the check until then.
    pub needs: Option<(&'static str, &'static str)>,
}

/// Why a program is not set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An answer is not valid: its setting, its value and what is expected.
    #[error("{0}")]
    Invalid(String),
    /// A person ended the input.
    #[error("the answers ended before the last question, so nothing was written")]
    Ended,
    /// The answers cannot be read.
    #[error("the answers cannot be read")]
    Unreadable(#[from] io::Error),
}

impl Question {
    /// Returns a question that is always asked, whose answer is written as it is.
    pub fn new(setting: &'static str, text: &'static str) -> Question {
        Question {
            setting,
            text,
            default: None,
            is_asked: |_| true,
            read: |answer| Ok(answer.to_owned()),
            needs: None,
        }
    }
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("questions", &self.questions).finish_non_exhaustive()
    }
}
