//! What a tool answers, before it becomes a message.

use std::borrow::Cow;

use bytes::Bytes;

use crate::answers::json_writer::JsonWriter;
use crate::error::ApiError;

/// A good answer.
pub(in crate::mcp) struct Answer<'a> {
    /// The structured content, which may yet get members.
    pub(in crate::mcp) json: JsonWriter<'a>,
    /// What the agent should know besides, as sentences.
    pub(in crate::mcp) notes: Vec<Cow<'static, str>>,
    /// A picture to look at.
    pub(in crate::mcp) image: Option<Image>,
}

/// A picture inside an answer.
pub(in crate::mcp) struct Image {
    pub(in crate::mcp) kind: &'static str,
    pub(in crate::mcp) bytes: Bytes,
}

/// Why there is none.
#[derive(Debug)]
pub(in crate::mcp) enum Refusal {
    /// What the arguments lack; an example is added.
    Arguments(Vec<String>),
    /// Anything else that the agent can do something about, as sentences.
    Guided(Cow<'static, str>),
    /// It may work later, or not at all; the cause is for the log.
    Broken { message: Cow<'static, str>, cause: Option<String> },
}

pub(in crate::mcp) type Answered<'a> = Result<Answer<'a>, Refusal>;

impl<'a> Answer<'a> {
    pub(in crate::mcp) fn new(json: JsonWriter<'a>) -> Answer<'a> {
        Answer { json, notes: Vec::new(), image: None }
    }

    pub(in crate::mcp) fn note(mut self, note: impl Into<Cow<'static, str>>) -> Answer<'a> {
        self.notes.push(note.into());
        self
    }
}

impl Refusal {
    pub(in crate::mcp) fn guided(text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::Guided(text.into())
    }
}

impl From<ApiError> for Refusal {
    fn from(fault: ApiError) -> Refusal {
        Refusal::Broken { cause: fault.cause().map(str::to_owned), message: fault.into_detail() }
    }
}
