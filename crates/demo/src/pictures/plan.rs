//! What is going to be drawn: the motif, how it looks, and the format of the sheet.

use schemas::record::Category;

use super::architecture::Building;
use super::art::Work;
use super::brief::Brief;
use super::design::Object;
use super::hand::Hand;
use super::interiors::Room;
use super::look::{Layout, Look};
use super::photography::Shot;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motif {
    Building(Building),
    Room(Room),
    Object(Object),
    Shot(Shot),
    Work(Work),
}

/// Everything that is decided before the first line is drawn.
pub(super) struct Plan {
    pub(super) motif: Motif,
    pub(super) look: Look,
    /// Width and height in pixels.
    pub(super) size: (u32, u32),
    pub(super) hand: Hand,
}

const WIDE: (u32, u32) = (960, 720);
const TALL: (u32, u32) = (720, 960);
const SQUARE: (u32, u32) = (832, 832);

impl Plan {
    /// The plan for a project.
    pub(super) fn of(brief: &Brief, seed: u64) -> Self {
        let key = format!("{}\n{}", brief.name, brief.studio);
        let mut hand = Hand::of(&key, seed);
        let look = Look::of(brief, &mut hand);
        let motif = match brief.category {
            Category::Architecture => Motif::Building(Building::of(brief, &look, &mut hand)),
            Category::Interiors => Motif::Room(Room::of(brief, &look, &mut hand)),
            Category::Design => Motif::Object(Object::of(brief, &mut hand)),
            Category::Photography => Motif::Shot(Shot::of(brief, &look, &mut hand)),
            Category::Art => Motif::Work(Work::of(brief, &look, &mut hand)),
        };
        let size = size(motif, &look, hand.chance(30));
        Self { motif, look, size, hand }
    }
}

fn size(motif: Motif, look: &Look, square: bool) -> (u32, u32) {
    match motif {
        Motif::Building(Building::Tower) => TALL,
        Motif::Building(_) | Motif::Room(_) => WIDE,
        Motif::Object(object) if object.is_tall() => TALL,
        Motif::Object(object) if object.is_wide() => WIDE,
        Motif::Object(_) => SQUARE,
        Motif::Shot(Shot::Portrait) => TALL,
        Motif::Shot(_) if look.layout == Layout::Close || square => SQUARE,
        Motif::Shot(_) => WIDE,
        Motif::Work(work) if work.is_wide() => WIDE,
        Motif::Work(_) if square || look.layout == Layout::Ring => SQUARE,
        Motif::Work(_) => TALL,
    }
}
