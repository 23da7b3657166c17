//! Which vectors of a project are computed: those that are recorded as such, and those of an encoder of the service's own,
//! whoever sent them. They follow the record; others were brought, and stay.

/// Who computed vectors are by.
pub const ACTOR: &str = "loggia-vectors";

/// Returns whether vectors of this model are made by the encoder that needs no model.
pub fn is_built_in(model: &str) -> bool {
    model == embeddings::BUILT_IN
}
