//! Photographs: single, or several on a mount.

mod land;
mod portrait;
mod sill;
mod town;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{Canvas, Fill};
use super::drawing::Drawing;
use super::motif::{Format, Motif, Setting};
use super::style::{Layout, Style};
use crate::rng::DrawingRng;

const fn shot(noun: &'static str, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Photograph, format: Format::Print, draw }
}

const HILLS: Motif = shot("range of hills", |drawing| prints(drawing, land::hills));
const SEA: Motif = shot("sea horizon", |drawing| prints(drawing, land::sea));
const STREET: Motif = shot("street between tall walls", |drawing| prints(drawing, town::street));
const WINDOWS: Motif = shot("wall of windows", |drawing| prints(drawing, town::windows));
const PORTRAIT: Motif = Motif {
    format: Format::Tall,
    ..shot("portrait in silhouette", |drawing| single_print(drawing, portrait::portrait))
};
const TREES: Motif = shot("row of trees", |drawing| prints(drawing, land::trees));
const ROAD: Motif = shot("road towards the horizon", |drawing| prints(drawing, land::road));
const SILL: Motif = shot("window sill", |drawing| prints(drawing, sill::sill));
const POLES: Motif = shot("line of poles in a plain", |drawing| prints(drawing, town::poles));
const SHED: Motif = shot("shed in an open field", |drawing| prints(drawing, town::shed));

/// Chooses by the composition and the subject.
pub(super) fn motif(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Motif {
    let any = rng.choose(&[HILLS, SILL, SHED, POLES, TREES]);
    let other = rng.chance(50);
    let choose = |one, two| if other { one } else { two };
    if style.layout == Layout::Figure {
        return PORTRAIT;
    }
    match brief.first_phrase(Dimension::Subject) {
        "portrait" | "music" | "play" => choose(PORTRAIT, SILL),
        "hands" | "sleep" => PORTRAIT,
        "water" | "coast" | "bathing" | "boats" => SEA,
        "trees" | "gardens" => TREES,
        "road" | "travel" | "mountains" => choose(ROAD, HILLS),
        "landscape" | "weather" => choose(HILLS, POLES),
        "city" | "market" | "memory" => choose(STREET, WINDOWS),
        "night" => WINDOWS,
        "home" | "care" | "school" | "theatre" | "absence" => choose(SILL, WINDOWS),
        "work" | "countryside" | "technology" | "everyday life" | "wind" => choose(SHED, POLES),
        _ => any,
    }
}

/// Draws one photograph, or several of the same motif.
fn prints(drawing: &mut Drawing, frame: fn(&mut Drawing)) {
    let (count, margin) = match drawing.style.layout {
        Layout::Pair => (2, 6.0),
        Layout::Grid => (drawing.rng.choose(&[3, 4, 6]), 5.0),
        _ => return single_print(drawing, frame),
    };
    let columns = if count == 4 { 2 } else { count.min(3) };
    mount(drawing, frame, (columns, count / columns), margin);
}

/// Draws one photograph, some on a mount.
fn single_print(drawing: &mut Drawing, frame: fn(&mut Drawing)) {
    if drawing.style.layout == Layout::Line {
        mount(drawing, frame, (1, 1), 13.0);
    } else if drawing.rng.chance(55) {
        mount(drawing, frame, (1, 1), 5.0);
    } else {
        frame(drawing);
    }
}

/// Draws photographs in rows on a mount.
fn mount(drawing: &mut Drawing, frame: fn(&mut Drawing), (columns, rows): (usize, usize), margin: f32) {
    let (palette, width) = (drawing.palette, drawing.width());
    let paper = if palette.lamps_on { palette.lightest.with_lightness(0.9) } else { palette.lightest };
    let gap = 3.4;
    let wide = (width - margin * 2.0 - gap * (columns - 1) as f32) / columns as f32;
    let high = (100.0 - margin * 2.0 - gap * (rows - 1) as f32) / rows as f32;
    let high = high.min(wide * 1.42);
    let top = (100.0 - high * rows as f32 - gap * (rows - 1) as f32) / 2.0;
    let mut prints = Vec::new();
    for _ in 0..columns * rows {
        let pixels = 7.2;
        let Some(small) = Canvas::new((wide * pixels) as u32, (high * pixels) as u32) else { return };
        let large = std::mem::replace(&mut drawing.canvas, small);
        frame(drawing);
        prints.push(std::mem::replace(&mut drawing.canvas, large));
    }
    drawing.wall(paper, 100.0, (0.01, -0.03));
    for (at, print) in prints.iter().enumerate() {
        let x = margin + (wide + gap) * (at % columns) as f32;
        let y = top + (high + gap) * (at / columns) as f32;
        drawing.canvas.rect(x + 0.3, y + 0.5, wide, high, Fill::Alpha(palette.shadow, 0.16));
        drawing.canvas.paste(print, x, y, wide);
    }
}
