//! The events of the log, as a closed set. Names are in the past tense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::AccountEvent;
use crate::external_id::ExternalId;
use crate::picture::{Picture, PictureId};
use crate::record::Record;
use crate::slug::Slug;
use crate::vector::Vector;

/// An event in its newest shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A project was added to the catalog.
    ProjectSelected(ProjectSelected),
    /// The record of a project was changed.
    ProjectRevised(ProjectRevised),
    /// The slug of a project was changed; the old slug redirects permanently.
    ProjectRenamed(ProjectRenamed),
    /// The external id of a project was recorded.
    ProjectIdentified(ProjectIdentified),
    /// The project was withdrawn from the catalog; its citations stay.
    ProjectWithdrawn(ProjectWithdrawn),
    /// A withdrawn project was restored unchanged.
    ProjectRestored(ProjectRestored),
    /// A picture that the record names was stored.
    PictureAttached(PictureAttached),
    /// A picture that the record names was rejected.
    PictureRefused(PictureRefused),
    /// A picture of the project was erased permanently.
    PictureErased(PictureErased),
    /// Vectors of the project were recorded, imported or computed.
    VectorsRecorded(VectorsRecorded),
    /// An event of an account.
    Account(AccountEvent),
}

impl From<AccountEvent> for Event {
    fn from(event: AccountEvent) -> Event {
        Event::Account(event)
    }
}

/// A project was added to the catalog; the first event of every project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectSelected {
    /// The project's slug.
    pub slug: Slug,
    /// The first revision of the record.
    pub record: Record,
    /// The external id, if the import gave one.
    #[serde(flatten)]
    pub id: Option<ExternalId>,
}

/// The record was changed; the event has the whole new record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRevised {
    /// The new revision of the record.
    pub record: Record,
}

/// The slug was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRenamed {
    /// The new slug.
    pub slug: Slug,
}

/// The external id was recorded for a project that had none, or whose id had no source. Earlier ids stay ids of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectIdentified {
    /// The external id.
    #[serde(flatten)]
    pub id: ExternalId,
}

/// The project was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectWithdrawn {
    /// The reason that readers see.
    pub reason: String,
}

/// The project was restored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRestored {}

/// A picture that the record names, or named before, was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureAttached {
    /// The source as the record names it.
    pub source: String,
    /// The stored picture.
    pub picture: Picture,
}

/// The bytes at a source are not an acceptable picture; the source is not fetched again automatically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureRefused {
    /// The source as the record names it.
    pub source: String,
    /// The reason that editors see.
    pub reason: String,
}

/// A picture of the project, or of a former revision, was erased: no revision shows it any more, and its bytes are
/// deleted everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureErased {
    /// The picture's id.
    #[schemars(with = "String")]
    pub picture: PictureId,
}

/// The vectors by which similar projects are found. At least one side is present.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VectorsRecorded {
    /// The model that computed them. Vectors of different models are never compared.
    pub model: String,
    /// The vector of the pictures: base64 of little-endian 32-bit floats, or `i8:` and base64 of signed bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub visual: Option<Vector>,
    /// The vector of the text: base64 of little-endian 32-bit floats, or `i8:` and base64 of signed bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub semantic: Option<Vector>,
    /// The other side, if an import gave only one and the service computed the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<ComputedSide>,
}

/// The side that the service computed for a project whose other side was imported. It has no vector if there is nothing
/// to compute it from, for example after the only picture was erased.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComputedSide {
    /// The model that computed it.
    pub model: String,
    /// The vector of the pictures: base64 of little-endian 32-bit floats, or `i8:` and base64 of signed bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub visual: Option<Vector>,
    /// The vector of the text: base64 of little-endian 32-bit floats, or `i8:` and base64 of signed bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub semantic: Option<Vector>,
}

impl VectorsRecorded {
    /// Returns the model and the vector of the pictures, imported or computed.
    pub fn visual(&self) -> Option<(&str, &Vector)> {
        let computed =
            self.computed.as_ref().and_then(|side| Some((side.model.as_str(), side.visual.as_ref()?)));
        self.visual.as_ref().map(|vector| (self.model.as_str(), vector)).or(computed)
    }

    /// Returns the model and the vector of the text, imported or computed.
    pub fn semantic(&self) -> Option<(&str, &Vector)> {
        let computed =
            self.computed.as_ref().and_then(|side| Some((side.model.as_str(), side.semantic.as_ref()?)));
        self.semantic.as_ref().map(|vector| (self.model.as_str(), vector)).or(computed)
    }
}
