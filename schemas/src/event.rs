//! The events of the log: what happened to a project, and to an account. The set is closed; each name is in the past
//! tense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::AccountEvent;
use crate::picture::{Picture, PictureId};
use crate::record::Record;
use crate::slug::Slug;
use crate::vector::Vector;

/// Anything that happened, in its newest shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An editor took a project into the catalog.
    ProjectSelected(ProjectSelected),
    /// An editor corrected or completed the record.
    ProjectRevised(ProjectRevised),
    /// The project moved to another slug; the old one leads to it for ever.
    ProjectRenamed(ProjectRenamed),
    /// The project left the catalog; its citations stay.
    ProjectWithdrawn(ProjectWithdrawn),
    /// A withdrawn project came back as it was.
    ProjectRestored(ProjectRestored),
    /// A picture that the record names is kept.
    PictureAttached(PictureAttached),
    /// A picture that the record names cannot be kept.
    PictureRefused(PictureRefused),
    /// A picture of the project was taken down for good.
    PictureErased(PictureErased),
    /// Vectors were recorded for the project, brought by an import or computed.
    VectorsRecorded(VectorsRecorded),
    /// Something happened to an account and its keys.
    Account(AccountEvent),
}

impl From<AccountEvent> for Event {
    fn from(event: AccountEvent) -> Event {
        Event::Account(event)
    }
}

/// The first event of every project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectSelected {
    /// Where the project is found.
    pub slug: Slug,
    /// What is recorded of it.
    pub record: Record,
    /// The external id that the slug was made from, as the import gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The whole record as it stands from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRevised {
    /// What is recorded of it.
    pub record: Record,
}

/// A new address for the same project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRenamed {
    /// Where the project is found from now on.
    pub slug: Slug,
}

/// The project is no longer shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectWithdrawn {
    /// Why, in words for readers.
    pub reason: String,
}

/// The project is shown again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRestored {}

/// The bytes behind a source that the record names, now or before, are kept from now on under their hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureAttached {
    /// As the record names it.
    pub source: String,
    /// What is kept.
    pub picture: Picture,
}

/// What stands behind a source is no picture that can be kept; it is not tried again of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureRefused {
    /// As the record names it.
    pub source: String,
    /// Why, in words for editors.
    pub reason: String,
}

/// A picture that the project shows, or showed in a former revision, was erased: no revision shows it any more, and its bytes
/// are deleted wherever they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureErased {
    /// Its name.
    #[schemars(with = "String")]
    pub picture: PictureId,
}

/// What the project looks and reads like, for finding its neighbours. At least one side is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VectorsRecorded {
    /// The model that made them; vectors of different models are never compared.
    pub model: String,
    /// Of its pictures: base64 of little-endian 32-bit floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub visual: Option<Vector>,
    /// Of its text: base64 of little-endian 32-bit floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub semantic: Option<Vector>,
    /// The other side, where an import brought one side alone and the encoder of the service made the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<ComputedSide>,
}

/// The side that the encoder of the service made for a project whose other side was brought. It has no vector where nothing can
/// be made of the project any more, as after its only picture was erased.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComputedSide {
    /// The model that made it.
    pub model: String,
    /// Of its pictures: base64 of little-endian 32-bit floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub visual: Option<Vector>,
    /// Of its text: base64 of little-endian 32-bit floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub semantic: Option<Vector>,
}

impl VectorsRecorded {
    /// Returns the model and the vector of the pictures.
    pub fn visual(&self) -> Option<(&str, &Vector)> {
        let computed =
            self.computed.as_ref().and_then(|side| Some((side.model.as_str(), side.visual.as_ref()?)));
        self.visual.as_ref().map(|vector| (self.model.as_str(), vector)).or(computed)
    }

    /// Returns the model and the vector of the text.
    pub fn semantic(&self) -> Option<(&str, &Vector)> {
        let computed =
            self.computed.as_ref().and_then(|side| Some((side.model.as_str(), side.semantic.as_ref()?)));
        self.semantic.as_ref().map(|vector| (self.model.as_str(), vector)).or(computed)
    }
}
