//! What a tool answers, before it becomes a message.

use std::borrow::Cow;

use bytes::Bytes;

use crate::answers::json_writer::JsonWriter;
use crate::fault::Fault;

/// A good answer.
pub(super) struct Answer<'a> {
    /// The structured content, which may yet get members.
    pub(super) json: JsonWriter<'a>,
    /// What the agent should know besides, as sentences.
    pub(super) notes: Vec<Cow<'static, str>>,
    /// A picture to look at.
    pub(super) image: Option<Image>,
}

/// A picture inside an answer.
pub(super) struct Image {
    pub(super) kind: &'static str,
    pub(super) bytes: Bytes,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What the arguments lack; an example is added.
    Arguments(Vec<String>),
    /// Anything else that the agent can do something about, as sentences.
    Guided(Cow<'static, str>),
    /// It may work later, or not at all; the cause is for the log.
    Broken { told: Cow<'static, str>, cause: Option<String> },
}

pub(super) type Answered<'a> = Result<Answer<'a>, Refusal>;

impl<'a> Answer<'a> {
    pub(super) fn new(json: JsonWriter<'a>) -> Answer<'a> {
        Answer { json, notes: Vec::new(), image: None }
    }

    pub(super) fn note(mut self, note: impl Into<Cow<'static, str>>) -> Answer<'a> {
        self.notes.push(note.into());
        self
    }
}

impl Refusal {
    pub(super) fn guided(text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::Guided(text.into())
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Broken { cause: fault.cause().map(str::to_owned), told: fault.into_detail() }
    }
}
