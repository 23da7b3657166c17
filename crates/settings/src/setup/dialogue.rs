//! The dialogue with a person, or with a script.

use std::io::{BufRead, Write};

use super::{Answers, Question, Setup, SetupError};

/// What happens at a wrong answer, and where the answers end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWrong {
    /// The question is shown, and asked again; an early end means that nothing is to be written. For a person.
    AskAgain,
    /// No questions are shown. A wrong answer is an error, since the next line is the answer to another question; an early end leaves
    /// the defaults. For a script.
    Fail,
}

/// Asks a person, or reads the answers of a script, one a line.
#[derive(Debug)]
pub struct Dialogue<R, W> {
    /// Where the answers come from.
    pub input: R,
    /// Where the questions go.
    pub prompts: W,
    /// What happens at a wrong answer.
    pub on_wrong: OnWrong,
}

impl<R: BufRead, W: Write> Dialogue<R, W> {
    /// Prints a line to the person.
    pub fn say(&mut self, text: &str) {
        // A question that cannot be shown can still be answered.
        let _ = writeln!(self.prompts, "{text}");
    }

    /// Asks for everything that is not answered yet.
    ///
    /// # Errors
    ///
    /// Fails at a wrong answer, unless questions are asked again, and where a person ends the input or it cannot be read.
    pub fn ask_all(&mut self, setup: &Setup<'_>, answers: &mut Answers) -> Result<(), SetupError> {
        for question in &setup.questions {
            if answers.get(question.setting).is_some() || !(question.is_asked)(answers) {
                continue;
            }
            loop {
                match self.ask(setup, question, answers) {
                    Ok(()) => break,
                    Err(error @ SetupError::Invalid(_)) if self.on_wrong == OnWrong::AskAgain => {
                        self.say(&error.to_string());
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        answers.check(setup, None)
    }

    fn ask(
        &mut self,
        setup: &Setup<'_>,
        question: &Question,
        answers: &mut Answers,
    ) -> Result<(), SetupError> {
        if self.on_wrong == OnWrong::AskAgain {
            let own = setup.table.setting(question.setting).and_then(|setting| setting.default);
            let default = question.default.as_deref().or(own).unwrap_or("none");
            let _ = write!(self.prompts, "\n{} [{default}]\n> ", question.text);
            let _ = self.prompts.flush();
        }
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 && self.on_wrong == OnWrong::AskAgain {
            return Err(SetupError::Ended);
        }
        match (line.trim(), &question.default) {
            ("", Some(default)) => answers.answer(setup, question, default),
            // What is not in the file has the setting's own default.
            ("", None) => answers.check(setup, None),
            (answer, _) => answers.answer(setup, question, answer),
        }
    }
}
