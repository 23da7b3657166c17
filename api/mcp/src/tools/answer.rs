//! The answer of a tool, before it becomes a result.

use std::borrow::Cow;

use bytes::Bytes;

use answers::catalog::json_writer::JsonWriter;
use answers::error::ApiError;

/// A successful answer.
pub(crate) struct Answer<'a> {
    /// The structured content, to which members may be added.
    pub(crate) json: JsonWriter<'a>,
    /// Notes for the agent, as sentences.
    pub(crate) notes: Vec<Cow<'static, str>>,
    /// The pictures to show.
    pub(crate) images: Vec<Image>,
    /// Whether a call of a tool that is counted is charged for it.
    pub(crate) is_charged: bool,
}

/// A picture inside an answer.
pub(crate) struct Image {
    /// What stands before it.
    pub(crate) caption: Option<String>,
    pub(crate) kind: &'static str,
    pub(crate) bytes: Bytes,
}

/// Why a tool does not answer.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Invalid arguments, one phrase each; an example is added.
    Arguments(Vec<String>),
    /// Anything else that the agent can correct, as sentences.
    Guided(Cow<'static, str>),
    /// A failure of the service; the cause is for the log.
    Broken { message: Cow<'static, str>, cause: Option<String> },
}

pub(crate) type Answered<'a> = Result<Answer<'a>, Refusal>;

impl<'a> Answer<'a> {
    pub(crate) fn new(json: JsonWriter<'a>) -> Answer<'a> {
        Answer { json, notes: Vec::new(), images: Vec::new(), is_charged: true }
    }

    /// Returns the answer as that of a list with `total` projects on all pages: the call is not charged for an empty one.
    pub(crate) fn of_total(self, total: u64) -> Answer<'a> {
        Answer { is_charged: total > 0, ..self }
    }

    pub(crate) fn note(mut self, note: impl Into<Cow<'static, str>>) -> Answer<'a> {
        self.notes.push(note.into());
        self
    }
}

impl Refusal {
    pub(crate) fn guided(text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::Guided(text.into())
    }
}

impl From<ApiError> for Refusal {
    fn from(fault: ApiError) -> Refusal {
        Refusal::Broken { cause: fault.cause().map(str::to_owned), message: fault.into_detail() }
    }
}
