//! The plan of a drawing: motif, style and size.

use schemas::record::Category;

use super::brief::Brief;
use super::motif::{Format, Motif};
use super::style::{Layout, Style};
use super::{architecture, art, design, interiors, photography};
use crate::rng::DrawingRng;

/// All decisions before anything is drawn.
pub(super) struct Plan {
    pub(super) motif: Motif,
    pub(super) style: Style,
    /// Width and height in pixels.
    pub(super) size: (u32, u32),
    pub(super) rng: DrawingRng,
}

impl Plan {
    /// Decides on the plan for a project.
    pub(super) fn of(brief: &Brief, seed: u64) -> Self {
        let key = format!("{}\n{}", brief.name, brief.studio);
        let mut rng = DrawingRng::new(&key, seed);
        let style = Style::of(brief, &mut rng);
        let motif = match brief.category {
            Category::Architecture => architecture::motif(brief, &style, &mut rng),
            Category::Interiors => interiors::motif(brief, &style, &mut rng),
            Category::Design => design::motif(brief, &mut rng),
            Category::Photography => photography::motif(brief, &style, &mut rng),
            Category::Art => art::motif(brief, &style, &mut rng),
        };
        let square = rng.chance(30);
        let size = match motif.format {
            Format::Print if !square && style.layout != Layout::Close => (960, 720),
            Format::Wide => (960, 720),
            Format::Sheet if !square && style.layout != Layout::Ring => (720, 960),
            Format::Tall => (720, 960),
            Format::Square | Format::Print | Format::Sheet => (832, 832),
        };
        Self { motif, style, size, rng }
    }
}
