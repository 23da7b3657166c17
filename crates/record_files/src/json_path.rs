//! The path at which the records of a JSON file are, such as `data` or `[].object`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The longest path, in members and lists.
const MAX_STEPS: usize = 16;

/// The path from a value of a JSON file to its records: `data` for the elements of a list in a member, `[].object` for a member of
/// each element of the list that the file is, `response.docs` for members within members. An array at the end of the path is a list of
/// records, anything else a record.
///
/// ```
/// use record_files::RecordPath;
///
/// let path: RecordPath = "[].object".parse()?;
/// assert_eq!(path.to_string(), "[].object");
/// let refused = "data[0]".parse::<RecordPath>().unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "“data[0]” is not a path of records; write members with points between them and [] for each element of a list, \
///      such as data, [].object or response.docs"
/// );
/// # Ok::<(), record_files::BadRecordPath>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordPath {
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// To each element of a list.
    Each,
    /// To this member of an object.
    Member(String),
}

/// A text that is not the path of records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "“{0}” is not a path of records; write members with points between them and [] for each element of a list, such as data, [].object or response.docs"
)]
pub struct BadRecordPath(String);

impl RecordPath {
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the path from this step on as a text.
    pub(crate) fn rest(&self, from: usize) -> String {
        let steps = self.steps.get(from..).unwrap_or_default().to_vec();
        RecordPath { steps }.to_string()
    }
}

impl FromStr for RecordPath {
    type Err = BadRecordPath;

    fn from_str(text: &str) -> Result<RecordPath, BadRecordPath> {
        let bad = || BadRecordPath(text.to_owned());
        let mut steps = Vec::new();
        for (number, part) in text.trim().split('.').enumerate() {
            let member = part.trim_end_matches("[]");
            let lists = (part.len() - member.len()) / 2;
            if member.contains(['[', ']']) || (member.is_empty() && (number > 0 || lists == 0)) {
                return Err(bad());
            }
            if !member.is_empty() {
                steps.push(Step::Member(member.to_owned()));
            }
            steps.extend(std::iter::repeat_n(Step::Each, lists));
        }
        if steps.len() > MAX_STEPS {
            return Err(bad());
        }
        Ok(RecordPath { steps })
    }
}

impl Display for RecordPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                Step::Each => f.write_str("[]")?,
                Step::Member(member) if number == 0 => f.write_str(member)?,
                Step::Member(member) => write!(f, ".{member}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_members_and_lists() {
        let member = |name: &str| Step::Member(name.to_owned());
        for (text, steps) in [
            ("data", vec![member("data")]),
            ("[].object", vec![Step::Each, member("object")]),
            ("[]", vec![Step::Each]),
            (
                "a b.c[].d[][]",
                vec![member("a b"), member("c"), Step::Each, member("d"), Step::Each, Step::Each],
            ),
        ] {
            let path: RecordPath = text.parse().unwrap();
            assert_eq!((path.steps(), path.to_string().as_str()), (&steps[..], text));
        }
        assert_eq!("a.b[].c".parse::<RecordPath>().unwrap().rest(2), "[].c");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in
            ["", " ", ".", "data.", ".data", "a..b", "data[0]", "a]", "[", "a.[]", "[]a", &"[]".repeat(17)]
        {
            assert_eq!(text.parse::<RecordPath>(), Err(BadRecordPath(text.to_owned())), "{text:?}");
        }
    }
}
