//! Whom pictures are credited to and what may be done with them, where a file says it of the works alone.

use super::column::{Column, is_acquisition};
use super::concepts::Concept;
use super::draft::{Draft, Line};
use super::members::Columns;
use super::scores::{CREDITS, OF_PICTURES, SURE};
use super::words::likeness;

/// Names of a column that says how a work is to be credited.
const CREDIT_LINES: [&str; 6] =
    ["credit line", "kreditzeile", "mention credit", "linea credito", "ligne credit", "kredietregel"];

impl Columns<'_> {
    /// Gives pictures the credit line and the rights of their works, where no column is about the pictures themselves. Both stay
    /// details.
    pub(crate) fn credits(&self, draft: &mut Draft) {
        let is_credit = |line: &&Line| {
            self.is_for(line, Concept::CreditLine)
                && line.columns.iter().all(|number| is_credit_line(&self.columns[*number]))
        };
        let credit = draft.details.iter().find(is_credit).map(|line| {
            let reason = "it says how the work was acquired, as museums write below its pictures too";
            self.of_pictures("credit", line, reason)
        });
        let rights = draft.details.iter().find(|line| self.is_for(line, Concept::Rights)).map(|line| {
            let reason = "it has the rights of the work, which may be those of its pictures";
            self.of_pictures("rights", line, reason)
        });
        for picture in &mut draft.pictures {
            for line in credit.iter().chain(&rights) {
                if picture.texts.iter().all(|text| text.key != line.key) {
                    picture.texts.push(line.clone());
                }
            }
            picture
                .texts
                .sort_by_key(|text| ["alt", "credit", "rights"].iter().position(|key| *key == text.key));
        }
    }

    /// Returns whether the columns of a line are about this more than about anything else.
    fn is_for(&self, line: &Line, concept: Concept) -> bool {
        line.columns
            .iter()
            .all(|number| self.guesses[*number].first().is_some_and(|guess| guess.concept == concept))
    }

    /// Returns the line of a text about pictures from that of a detail.
    fn of_pictures(&self, key: &str, detail: &Line, reason: &str) -> Line {
        let names_picture = |number: &usize| {
            self.columns[*number].has_word(&OF_PICTURES) || self.columns[*number].has_word(&["thumbnail"])
        };
        let mut line = Line { key: key.to_owned(), ..detail.clone() };
        if !detail.columns.iter().all(names_picture) {
            line.score = line.score.min(SURE - 1);
            line.reason = reason.to_owned();
        }
        line
    }
}

/// Returns whether a column has credit lines: by its name, or as one for credits in which works were given or bought. A column for
/// credits may also name those who worked with a studio.
fn is_credit_line(column: &Column) -> bool {
    CREDIT_LINES.iter().any(|phrase| likeness(&column.words, phrase) >= 50)
        || column.has_word(&CREDITS) && column.share(is_acquisition) > 0.5
}
