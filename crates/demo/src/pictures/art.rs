//! Works of art: flat works, and sculptures in an empty room.

mod figures;
mod flat;
mod solid;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::Fill;
use super::drawing::Drawing;
use super::geometry::{Quad, curve, point_on, polygon, rect_quad};
use super::motif::{Format, Motif, Setting};
use super::style::{Layout, Material, Style};
use crate::rng::DrawingRng;

const fn sculpture(noun: &'static str, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Artwork, format: Format::Wide, draw }
}

const fn sheet(noun: &'static str, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Artwork, format: Format::Sheet, draw }
}

const FIELDS: Motif = sheet("composition of colour fields", |drawing| flat_work(drawing, flat::fields));
const RINGS: Motif = sheet("composition of rings and arcs", |drawing| flat_work(drawing, flat::rings));
const EDGES: Motif = sheet("composition of hard-edged planes", |drawing| flat_work(drawing, flat::edges));
const ROWS: Motif = sheet("composition of marks in rows", |drawing| flat_work(drawing, flat::marks));
const WOVEN: Motif = sheet("woven field of stripes and blocks", |drawing| flat_work(drawing, flat::woven));
const COLLAGE: Motif = sheet("collage of cut shapes", |drawing| flat_work(drawing, figures::collage));
const HEAD: Motif = sheet("head reduced to a few planes", |drawing| flat_work(drawing, figures::head));
const LINES: Motif = sheet("field of fine lines", |drawing| flat_work(drawing, figures::lines));
const HORIZON: Motif = sheet("abstract landscape in bands", |drawing| flat_work(drawing, figures::horizon));
const FRAMES: Motif =
    sheet("composition of frames within frames", |drawing| flat_work(drawing, figures::frames));
const BLOCKS: Motif = sculpture("sculpture of stacked blocks in an empty room", solid::blocks);
const ARCHES: Motif = sculpture("sculpture of arches in an empty room", solid::arches);
const VESSELS: Motif = sculpture("group of vessels on a plinth", solid::vessels);
const MOBILE: Motif = sculpture("mobile of hanging discs", solid::mobile);

/// Chooses by the medium that the texts name, else by the subject, the material and the composition.
pub(super) fn motif(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Motif {
    let solid = rng.choose(&[BLOCKS, ARCHES, BLOCKS]);
    let named: &[(&[&str], Motif)] = &[
        (&["tapestry", "quilt", "embroidery"], WOVEN),
        (&["collage"], COLLAGE),
        (&["vessels"], VESSELS),
        (&["mobile"], MOBILE),
        (&["stained-glass"], FRAMES),
        (&["sculpture", "installation", "public work"], solid),
    ];
    if let Some(named) = brief.first_mentioned(named) {
        return named;
    }
    match brief.first_phrase(Dimension::Subject) {
        "vessel" => return VESSELS,
        "textile" => return WOVEN,
        "space" | "public space" | "living together" => return solid,
        "wind" | "play" => return MOBILE,
        _ => {}
    }
    if matches!(style.material, Material::Stone | Material::Metal | Material::Clay | Material::Timber) {
        return solid;
    }
    let other = rng.chance(40);
    let choose = |one, two| if other { two } else { one };
    match style.layout {
        Layout::Field | Layout::Close => choose(FIELDS, HORIZON),
        Layout::Ring => RINGS,
        Layout::Diagonal | Layout::Asymmetric => choose(EDGES, COLLAGE),
        Layout::Grid => ROWS,
        Layout::Figure => HEAD,
        Layout::Line => LINES,
        Layout::Long => HORIZON,
        Layout::Frame | Layout::Enclosure | Layout::Symmetric => FRAMES,
        Layout::Pair => choose(FIELDS, RINGS),
        _ => choose(EDGES, LINES),
    }
}

/// Draws a flat work with the margin and the surface of its medium.
fn flat_work(drawing: &mut Drawing, work: fn(&mut Drawing, &Quad)) {
    let width = drawing.width();
    let printed = matches!(drawing.style.material, Material::Ink | Material::Paper | Material::Cloth);
    let margin =
        if printed || drawing.style.layout == Layout::Line { drawing.rng.range(7.0, 11.0) } else { 0.0 };
    drawing.canvas.fill_all(drawing.palette.lightest.lighter(-0.015));
    let area = rect_quad(margin, margin, width - margin * 2.0, 100.0 - margin * 2.0);
    drawing.canvas.clip(polygon(&area));
    work(drawing, &area);
    surface(drawing, &area);
    drawing.canvas.unclip();
}

/// Draws the surface of the medium: brush strokes, weave or plate marks.
fn surface(drawing: &mut Drawing, area: &Quad) {
    let (paper, ink) = (drawing.palette.lightest, drawing.palette.darkest);
    match drawing.style.material {
        Material::Cloth => drawing.texture(area, drawing.palette.body, Material::Cloth, 0.8),
        Material::Ink | Material::Film => {
            let strokes: Vec<_> = (0..160)
                .map(|_| {
                    let at = point_on(area, drawing.rng.range(0.0, 1.0), drawing.rng.range(0.0, 1.0));
                    let long = drawing.rng.range(2.0, 9.0);
                    (at, (at.0 + long, at.1 - long * 0.12))
                })
                .collect();
            drawing.canvas.lines(strokes, 0.16, Fill::Alpha(paper, 0.35));
        }
        _ => {
            for _ in 0..46 {
                let at = point_on(area, drawing.rng.range(-0.1, 0.9), drawing.rng.range(0.0, 1.0));
                let long = drawing.rng.range(12.0, 40.0);
                let tone = if drawing.rng.chance(50) { paper } else { ink };
                let bow = drawing.rng.range(-2.0, 2.0);
                let stroke = curve(&[at, (at.0 + long * 0.5, at.1 + bow), (at.0 + long, at.1)]);
                let width = drawing.rng.range(0.5, 2.6);
                drawing.canvas.stroke(stroke.finish(), width, Fill::Alpha(tone, 0.045));
            }
        }
    }
}
