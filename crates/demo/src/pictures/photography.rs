//! Photographs: single, or several on a mount.

mod land;
mod portrait;
mod sill;
mod town;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{Canvas, Fill};
use super::drawing::Drawing;
use super::style::{Layout, Style};
use crate::rng::DrawingRng;

/// The motif of a photograph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shot {
    Hills,
    Sea,
    Street,
    Windows,
    Portrait,
    Trees,
    Road,
    Sill,
    Poles,
    Shed,
}

impl Shot {
    pub(super) fn of(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Self {
        let subject = brief.taste(Dimension::Subject).split(',').next().unwrap_or_default();
        let any = rng.choose(&[Self::Hills, Self::Sill, Self::Shed, Self::Poles, Self::Trees]);
        let other = rng.chance(50);
        if style.layout == Layout::Figure {
            return Self::Portrait;
        }
        match subject {
            "portrait" | "music" | "play" => {
                if other {
                    Self::Portrait
                } else {
                    Self::Sill
                }
            }
            "hands" | "sleep" => Self::Portrait,
            "water" | "coast" | "bathing" | "boats" => Self::Sea,
            "trees" | "gardens" => Self::Trees,
            "road" | "travel" | "mountains" => {
                if other {
                    Self::Road
                } else {
                    Self::Hills
                }
            }
            "landscape" | "weather" => {
                if other {
                    Self::Hills
                } else {
                    Self::Poles
                }
            }
            "city" | "market" | "memory" => {
                if other {
                    Self::Street
                } else {
                    Self::Windows
                }
            }
            "night" => Self::Windows,
            "home" | "care" | "school" | "theatre" | "absence" => {
                if other {
                    Self::Sill
                } else {
                    Self::Windows
                }
            }
            "work" | "countryside" | "technology" | "everyday life" | "wind" => {
                if other {
                    Self::Shed
                } else {
                    Self::Poles
                }
            }
            _ => any,
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Hills => "range of hills",
            Self::Sea => "sea horizon",
            Self::Street => "street between tall walls",
            Self::Windows => "wall of windows",
            Self::Portrait => "portrait in silhouette",
            Self::Trees => "row of trees",
            Self::Road => "road towards the horizon",
            Self::Sill => "window sill",
            Self::Poles => "line of poles in a plain",
            Self::Shed => "shed in an open field",
        }
    }
}

/// Draws one photograph, or several of the same motif.
pub(super) fn draw(drawing: &mut Drawing, shot: Shot) {
    let (count, margin) = match drawing.style.layout {
        Layout::Pair if shot != Shot::Portrait => (2, 6.0),
        Layout::Grid if shot != Shot::Portrait => (drawing.rng.choose(&[3, 4, 6]), 5.0),
        Layout::Line => (1, 13.0),
        _ => (1, if drawing.rng.chance(55) { 5.0 } else { 0.0 }),
    };
    if count == 1 && margin == 0.0 {
        return frame(drawing, shot);
    }
    let (columns, rows) = match count {
        2 | 3 => (count, 1),
        4 => (2, 2),
        6 => (3, 2),
        _ => (1, 1),
    };
    mount(drawing, shot, (columns, rows), margin);
}

/// Draws several photographs in rows on a mount.
fn mount(drawing: &mut Drawing, shot: Shot, (columns, rows): (usize, usize), margin: f32) {
    let width = drawing.width();
    let paper = if drawing.palette.lamps_on {
        drawing.palette.lightest.with_lightness(0.9)
    } else {
        drawing.palette.lightest
    };
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
        frame(drawing, shot);
        prints.push(std::mem::replace(&mut drawing.canvas, large));
    }
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (width, 100.0),
        (paper.lighter(0.01), 1.0),
        (paper.lighter(-0.03), 1.0),
    ));
    for (at, print) in prints.iter().enumerate() {
        let x = margin + (wide + gap) * (at % columns) as f32;
        let y = top + (high + gap) * (at / columns) as f32;
        let veil = Fill::Alpha(drawing.palette.shadow, 0.16);
        drawing.canvas.rect(x + 0.3, y + 0.5, wide, high, veil);
        drawing.canvas.paste(print, x, y, wide);
    }
}

/// Draws one photograph on the whole canvas.
fn frame(drawing: &mut Drawing, shot: Shot) {
    match shot {
        Shot::Hills => land::hills(drawing),
        Shot::Sea => land::sea(drawing),
        Shot::Street => town::street(drawing),
        Shot::Windows => town::windows(drawing),
        Shot::Trees => land::trees(drawing),
        Shot::Road => land::road(drawing),
        Shot::Poles => town::poles(drawing),
        Shot::Shed => town::shed(drawing),
        Shot::Sill => sill::sill(drawing),
        Shot::Portrait => portrait::portrait(drawing),
    }
}
