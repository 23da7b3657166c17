//! The plan of a drawing: motif, style and size.

use schemas::record::Category;

use super::architecture::Building;
use super::art::Work;
use super::brief::Brief;
use super::design::Object;
use super::interiors::Room;
use super::photography::Shot;
use super::style::{Layout, Style};
use crate::rng::DrawingRng;

/// The motif.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motif {
    Building(Building),
    Room(Room),
    Object(Object),
    Shot(Shot),
    Work(Work),
}

/// All decisions before anything is drawn.
pub(super) struct Plan {
    pub(super) motif: Motif,
    pub(super) style: Style,
    /// Width and height in pixels.
    pub(super) size: (u32, u32),
    pub(super) rng: DrawingRng,
}

const WIDE: (u32, u32) = (960, 720);
const TALL: (u32, u32) = (720, 960);
const SQUARE: (u32, u32) = (832, 832);

impl Plan {
    /// Decides on the plan for a project.
    pub(super) fn of(brief: &Brief, seed: u64) -> Self {
        let key = format!("{}\n{}", brief.name, brief.studio);
        let mut rng = DrawingRng::new(&key, seed);
        let style = Style::of(brief, &mut rng);
        let motif = match brief.category {
            Category::Architecture => Motif::Building(Building::of(brief, &style, &mut rng)),
            Category::Interiors => Motif::Room(Room::of(brief, &style, &mut rng)),
            Category::Design => Motif::Object(Object::of(brief, &mut rng)),
            Category::Photography => Motif::Shot(Shot::of(brief, &style, &mut rng)),
            Category::Art => Motif::Work(Work::of(brief, &style, &mut rng)),
        };
        let size = size(motif, &style, rng.chance(30));
        Self { motif, style, size, rng }
    }
}

fn size(motif: Motif, style: &Style, square: bool) -> (u32, u32) {
    match motif {
        Motif::Building(Building::Tower) => TALL,
        Motif::Building(_) | Motif::Room(_) => WIDE,
        Motif::Object(object) if object.is_tall() => TALL,
        Motif::Object(object) if object.is_wide() => WIDE,
        Motif::Object(_) => SQUARE,
        Motif::Shot(Shot::Portrait) => TALL,
        Motif::Shot(_) if style.layout == Layout::Close || square => SQUARE,
        Motif::Shot(_) => WIDE,
        Motif::Work(work) if work.is_wide() => WIDE,
        Motif::Work(_) if square || style.layout == Layout::Ring => SQUARE,
        Motif::Work(_) => TALL,
    }
}
