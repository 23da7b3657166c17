//! What a tool answers, before it becomes a message.

use std::borrow::Cow;

use bytes::Bytes;

use answers::catalog::json_writer::JsonWriter;
use answers::error::ApiError;

/// A good answer.
pub(crate) struct Answer<'a> {
    /// The structured content, which may yet get members.
    pub(crate) json: JsonWriter<'a>,
    /// What the agent should know besides, as sentences.
    pub(crate) notes: Vec<Cow<'static, str>>,
    /// A picture to look at.
    pub(crate) image: Option<Image>,
}

/// A picture inside an answer.
pub(crate) struct Image {
    pub(crate) kind: &'static str,
    pub(crate) bytes: Bytes,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What the arguments lack; an example is added.
    Arguments(Vec<String>),
    /// Anything else that the agent can do something about, as sentences.
    Guided(Cow<'static, str>),
    /// It may work later, or not at all; the cause is for the log.
    Broken { message: Cow<'static, str>, cause: Option<String> },
}

pub(crate) type Answered<'a> = Result<Answer<'a>, Refusal>;

impl<'a> Answer<'a> {
    pub(crate) fn new(json: JsonWriter<'a>) -> Answer<'a> {
        Answer { json, notes: Vec::new(), image: None }
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
