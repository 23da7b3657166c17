//! What a picture shows: the motifs of a category are constants in its module.

use super::drawing::Drawing;

/// What a picture shows.
#[derive(Clone, Copy)]
pub(super) struct Motif {
    /// Its name in a sentence.
    pub(super) noun: &'static str,
    pub(super) setting: Setting,
    pub(super) format: Format,
    pub(super) draw: fn(&mut Drawing),
}

/// The setting of a motif, for the words of its light and material.
#[derive(Clone, Copy)]
pub(super) enum Setting {
    Outdoors,
    Indoors,
    Photograph,
    Artwork,
}

/// The format of a picture.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Wide,
    Tall,
    Square,
    /// Square for close views and some others, else wide.
    Print,
    /// Square for rings and some others, else tall.
    Sheet,
}
