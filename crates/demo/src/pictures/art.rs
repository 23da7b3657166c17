//! Works of art: flat works, and sculptures in an empty room.

mod figures;
mod flat;
mod solid;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::Fill;
use super::drawing::Drawing;
use super::style::{Layout, Material, Style};
use crate::rng::DrawingRng;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Fields,
    Rings,
    Edges,
    Rows,
    Woven,
    Collage,
    Head,
    Lines,
    Horizon,
    Frames,
    Blocks,
    Arches,
    Vessels,
    Mobile,
}

impl Work {
    pub(super) fn of(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Self {
        let solid = rng.choose(&[Self::Blocks, Self::Arches, Self::Blocks]);
        let subject = brief.taste(Dimension::Subject).split(',').next().unwrap_or_default();
        let spoken = [
            ("tapestry", Self::Woven),
            ("quilt", Self::Woven),
            ("embroidery", Self::Woven),
            ("collage", Self::Collage),
            ("vessels", Self::Vessels),
            ("mobile", Self::Mobile),
            ("stained-glass", Self::Frames),
            ("sculpture", solid),
            ("installation", solid),
            ("public work", solid),
        ];
        if let Some(named) = brief.first_mentioned(&spoken) {
            return named;
        }
        match subject {
            "vessel" => return Self::Vessels,
            "textile" => return Self::Woven,
            "space" | "public space" | "living together" => return solid,
            "wind" | "play" => return Self::Mobile,
            _ => {}
        }
        if matches!(style.material, Material::Stone | Material::Metal | Material::Clay | Material::Timber) {
            return solid;
        }
        let other = rng.chance(40);
        match style.layout {
            Layout::Field | Layout::Close => {
                if other {
                    Self::Horizon
                } else {
                    Self::Fields
                }
            }
            Layout::Ring => Self::Rings,
            Layout::Diagonal | Layout::Asymmetric => {
                if other {
                    Self::Collage
                } else {
                    Self::Edges
                }
            }
            Layout::Grid => Self::Rows,
            Layout::Figure => Self::Head,
            Layout::Line => Self::Lines,
            Layout::Long => Self::Horizon,
            Layout::Frame | Layout::Enclosure | Layout::Symmetric => Self::Frames,
            Layout::Pair => {
                if other {
                    Self::Rings
                } else {
                    Self::Fields
                }
            }
            _ => {
                if other {
                    Self::Lines
                } else {
                    Self::Edges
                }
            }
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Fields => "composition of colour fields",
            Self::Rings => "composition of rings and arcs",
            Self::Edges => "composition of hard-edged planes",
            Self::Rows => "composition of marks in rows",
            Self::Woven => "woven field of stripes and blocks",
            Self::Collage => "collage of cut shapes",
            Self::Head => "head reduced to a few planes",
            Self::Lines => "field of fine lines",
            Self::Horizon => "abstract landscape in bands",
            Self::Frames => "composition of frames within frames",
            Self::Blocks => "sculpture of stacked blocks in an empty room",
            Self::Arches => "sculpture of arches in an empty room",
            Self::Vessels => "group of vessels on a plinth",
            Self::Mobile => "mobile of hanging discs",
        }
    }

    pub(super) const fn is_wide(self) -> bool {
        matches!(self, Self::Blocks | Self::Arches | Self::Vessels | Self::Mobile)
    }
}

/// Draws a work.
pub(super) fn draw(drawing: &mut Drawing, work: Work) {
    match work {
        Work::Blocks => solid::blocks(drawing),
        Work::Arches => solid::arches(drawing),
        Work::Vessels => solid::vessels(drawing),
        Work::Mobile => solid::mobile(drawing),
        _ => flat(drawing, work),
    }
}

/// Draws a flat work with the margin and the surface of its medium.
fn flat(drawing: &mut Drawing, work: Work) {
    let width = drawing.width();
    let printed = matches!(drawing.style.material, Material::Ink | Material::Paper | Material::Cloth);
    let margin =
        if printed || drawing.style.layout == Layout::Line { drawing.rng.range(7.0, 11.0) } else { 0.0 };
    let paper = drawing.palette.lightest;
    drawing.canvas.fill_all(paper.lighter(-0.015));
    let area = super::texture::rect_quad(margin, margin, width - margin * 2.0, 100.0 - margin * 2.0);
    drawing.canvas.clip(super::canvas::polygon(&area));
    match work {
        Work::Rings => flat::rings(drawing, &area),
        Work::Edges => flat::edges(drawing, &area),
        Work::Rows => flat::rows(drawing, &area),
        Work::Woven => flat::woven(drawing, &area),
        Work::Collage => figures::collage(drawing, &area),
        Work::Head => figures::head(drawing, &area),
        Work::Lines => figures::lines(drawing, &area),
        Work::Horizon => figures::horizon(drawing, &area),
        Work::Frames => figures::frames(drawing, &area),
        _ => flat::fields(drawing, &area),
    }
    surface(drawing, &area);
    drawing.canvas.unclip();
}

/// Draws the surface of the medium: brush strokes, weave or plate marks.
fn surface(drawing: &mut Drawing, area: &super::texture::Quad) {
    let (paper, ink) = (drawing.palette.lightest, drawing.palette.darkest);
    match drawing.style.material {
        Material::Cloth => {
            let tone = drawing.palette.body;
            drawing.texture(area, tone, Material::Cloth, 0.8);
        }
        Material::Ink | Material::Film => {
            let strokes: Vec<_> = (0..160)
                .map(|_| {
                    let at = super::texture::point_on(
                        area,
                        drawing.rng.range(0.0, 1.0),
                        drawing.rng.range(0.0, 1.0),
                    );
                    let long = drawing.rng.range(2.0, 9.0);
                    (at, (at.0 + long, at.1 - long * 0.12))
                })
                .collect();
            drawing.canvas.lines(strokes, 0.16, Fill::Alpha(paper, 0.35));
        }
        _ => {
            for _ in 0..46 {
                let at =
                    super::texture::point_on(area, drawing.rng.range(-0.1, 0.9), drawing.rng.range(0.0, 1.0));
                let (long, tone) =
                    (drawing.rng.range(12.0, 40.0), if drawing.rng.chance(50) { paper } else { ink });
                let bow = drawing.rng.range(-2.0, 2.0);
                let stroke =
                    super::canvas::curve(&[at, (at.0 + long * 0.5, at.1 + bow), (at.0 + long, at.1)]);
                let width = drawing.rng.range(0.5, 2.6);
                drawing.canvas.stroke(stroke.finish(), width, Fill::Alpha(tone, 0.045));
            }
        }
    }
}
