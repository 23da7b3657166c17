//! What the service says of itself, wherever it is introduced.

/// What the service is: at most 100 characters, says the schema of the server card.
pub(crate) const DESCRIPTION: &str =
    "A curated catalog of architecture, interiors, design, photography and art.";
