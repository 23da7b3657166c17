//! Works of art: flat ones without a subject, and solid ones in an empty room.

mod figures;
mod flat;
mod solid;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::Ink;
use super::hand::Hand;
use super::look::{Layout, Look, Material};
use super::sheet::Sheet;

/// What work is drawn.
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
    pub(super) fn of(brief: &Brief, look: &Look, hand: &mut Hand) -> Self {
        let solid = hand.one(&[Self::Blocks, Self::Arches, Self::Blocks]);
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
        if let Some(named) = brief.spoken(&spoken) {
            return named;
        }
        match subject {
            "vessel" => return Self::Vessels,
            "textile" => return Self::Woven,
            "space" | "public space" | "living together" => return solid,
            "wind" | "play" => return Self::Mobile,
            _ => {}
        }
        if matches!(look.material, Material::Stone | Material::Metal | Material::Clay | Material::Timber) {
            return solid;
        }
        let other = hand.chance(40);
        match look.layout {
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
pub(super) fn draw(sheet: &mut Sheet, work: Work) {
    match work {
        Work::Blocks => solid::blocks(sheet),
        Work::Arches => solid::arches(sheet),
        Work::Vessels => solid::vessels(sheet),
        Work::Mobile => solid::mobile(sheet),
        _ => flat(sheet, work),
    }
}

/// A flat work with the margin its medium has, and its surface.
fn flat(sheet: &mut Sheet, work: Work) {
    let width = sheet.width();
    let printed = matches!(sheet.look.material, Material::Ink | Material::Paper | Material::Cloth);
    let margin =
        if printed || sheet.look.layout == Layout::Line { sheet.hand.between(7.0, 11.0) } else { 0.0 };
    let paper = sheet.palette.paper;
    sheet.canvas.wash(paper.lit(-0.015));
    let area = super::texture::upright(margin, margin, width - margin * 2.0, 100.0 - margin * 2.0);
    sheet.canvas.clip(super::canvas::polygon(&area));
    match work {
        Work::Rings => flat::rings(sheet, &area),
        Work::Edges => flat::edges(sheet, &area),
        Work::Rows => flat::rows(sheet, &area),
        Work::Woven => flat::woven(sheet, &area),
        Work::Collage => figures::collage(sheet, &area),
        Work::Head => figures::head(sheet, &area),
        Work::Lines => figures::lines(sheet, &area),
        Work::Horizon => figures::horizon(sheet, &area),
        Work::Frames => figures::frames(sheet, &area),
        _ => flat::fields(sheet, &area),
    }
    surface(sheet, &area);
    sheet.canvas.unclip();
}

/// Brush, weave or the bite of the plate.
fn surface(sheet: &mut Sheet, area: &super::texture::Quad) {
    let (paper, ink) = (sheet.palette.paper, sheet.palette.ink);
    match sheet.look.material {
        Material::Cloth => {
            let tone = sheet.palette.body;
            sheet.texture(area, tone, Material::Cloth, 0.8);
        }
        Material::Ink | Material::Film => {
            let strokes: Vec<_> = (0..160)
                .map(|_| {
                    let at =
                        super::texture::on(area, sheet.hand.between(0.0, 1.0), sheet.hand.between(0.0, 1.0));
                    let long = sheet.hand.between(2.0, 9.0);
                    (at, (at.0 + long, at.1 - long * 0.12))
                })
                .collect();
            sheet.canvas.lines(strokes, 0.16, Ink::Veil(paper, 0.35));
        }
        _ => {
            for _ in 0..46 {
                let at =
                    super::texture::on(area, sheet.hand.between(-0.1, 0.9), sheet.hand.between(0.0, 1.0));
                let (long, tone) =
                    (sheet.hand.between(12.0, 40.0), if sheet.hand.chance(50) { paper } else { ink });
                let bow = sheet.hand.between(-2.0, 2.0);
                let stroke =
                    super::canvas::curve(&[at, (at.0 + long * 0.5, at.1 + bow), (at.0 + long, at.1)]);
                let width = sheet.hand.between(0.5, 2.6);
                sheet.canvas.stroke(stroke.finish(), width, Ink::Veil(tone, 0.045));
            }
        }
    }
}
