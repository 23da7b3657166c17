//! Questions in words that their right answers do not contain, and the right answers, which people judged.

use std::collections::HashSet;

use anyhow::{Context, Result, bail};

/// The questions: a text, a tab, and slugs with blanks between them; `#` begins a comment.
const QUESTIONS: &str = include_str!("questions.tsv");

/// A question with its right answers.
#[derive(Debug, PartialEq)]
pub(super) struct Question<'t> {
    pub(super) text: &'t str,
    /// Slugs.
    pub(super) right: HashSet<&'t str>,
}

/// Returns the judged questions.
///
/// # Errors
///
/// If a line is not one.
pub(super) fn questions() -> Result<Vec<Question<'static>>> {
    parse(QUESTIONS)
}

fn parse(text: &str) -> Result<Vec<Question<'_>>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            Question::parse(line).with_context(|| format!("line {number} is not a judged question"))
        })
        .collect()
}

impl<'t> Question<'t> {
    fn parse(line: &'t str) -> Result<Question<'t>> {
        let (text, slugs) = line.split_once('\t').context("there is no tab between question and answers")?;
        let mut right = HashSet::new();
        for slug in slugs.split(' ') {
            if slug.is_empty() || !right.insert(slug) {
                bail!("its right answers need one blank between them, and none may be there twice");
            }
        }
        if text.trim().is_empty() {
            bail!("the question is blank");
        }
        Ok(Question { text, right })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_question_with_its_right_answers() {
        let parsed = parse("# a comment\n\nlunar glow\ta b\nburial ground\tc\n").unwrap();
        let expected = [
            Question { text: "lunar glow", right: ["a", "b"].into() },
            Question { text: "burial ground", right: ["c"].into() },
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn a_line_that_is_no_question_is_named() {
        let blanks = "its right answers need one blank between them, and none may be there twice";
        for (line, reason) in [
            ("lunar glow a b", "there is no tab between question and answers"),
            ("lunar glow\t", blanks),
            ("lunar glow\ta  b", blanks),
            ("lunar glow\ta b a", blanks),
            (" \ta", "the question is blank"),
        ] {
            let error = parse(&format!("# questions\n{line}")).unwrap_err();
            assert_eq!(format!("{error:#}"), format!("line 2 is not a judged question: {reason}"));
        }
    }

    #[test]
    fn there_are_forty_different_questions() {
        let questions = questions().unwrap();
        let texts: HashSet<&str> = questions.iter().map(|question| question.text).collect();
        assert_eq!((questions.len(), texts.len()), (40, 40));
        assert!(questions.iter().all(|question| question.right.len() >= 3), "{questions:?}");
    }
}
