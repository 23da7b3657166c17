//! Photographs: single ones, and several side by side on a mount.

mod places;

use super::brief::Brief;
use super::canvas::{Canvas, Ink};
use super::hand::Hand;
use super::look::{Layout, Light, Look};
use super::sheet::Sheet;
use super::texture::upright;

/// What was photographed.
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
    pub(super) fn of(brief: &Brief, look: &Look, hand: &mut Hand) -> Self {
        let subject = brief.subject.split(',').next().unwrap_or_default();
        let any = hand.one(&[Self::Hills, Self::Sill, Self::Shed, Self::Poles, Self::Trees]);
        let other = hand.chance(50);
        if look.layout == Layout::Figure {
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

/// Draws one photograph, or a few of the same thing.
pub(super) fn draw(sheet: &mut Sheet, shot: Shot) {
    let (count, margin) = match sheet.look.layout {
        Layout::Pair if shot != Shot::Portrait => (2, 6.0),
        Layout::Grid if shot != Shot::Portrait => (sheet.hand.one(&[3, 4, 6]), 5.0),
        Layout::Line => (1, 13.0),
        _ => (1, if sheet.hand.chance(55) { 5.0 } else { 0.0 }),
    };
    if count == 1 && margin == 0.0 {
        return frame(sheet, shot);
    }
    let (columns, rows) = match count {
        2 | 3 => (count, 1),
        4 => (2, 2),
        6 => (3, 2),
        _ => (1, 1),
    };
    mount(sheet, shot, (columns, rows), margin);
}

/// Prints in rows on a mount.
fn mount(sheet: &mut Sheet, shot: Shot, (columns, rows): (usize, usize), margin: f32) {
    let width = sheet.width();
    let paper = if sheet.palette.lit { sheet.palette.paper.at(0.9) } else { sheet.palette.paper };
    let gap = 3.4;
    let wide = (width - margin * 2.0 - gap * (columns - 1) as f32) / columns as f32;
    let high = (100.0 - margin * 2.0 - gap * (rows - 1) as f32) / rows as f32;
    let high = high.min(wide * 1.42);
    let top = (100.0 - high * rows as f32 - gap * (rows - 1) as f32) / 2.0;
    let mut prints = Vec::new();
    for _ in 0..columns * rows {
        let pixels = 7.2;
        let Some(small) = Canvas::new((wide * pixels) as u32, (high * pixels) as u32) else { return };
        let large = std::mem::replace(&mut sheet.canvas, small);
        frame(sheet, shot);
        prints.push(std::mem::replace(&mut sheet.canvas, large));
    }
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (width, 100.0), (paper.lit(0.01), 1.0), (paper.lit(-0.03), 1.0)));
    for (at, print) in prints.iter().enumerate() {
        let x = margin + (wide + gap) * (at % columns) as f32;
        let y = top + (high + gap) * (at / columns) as f32;
        let veil = Ink::Veil(sheet.palette.shadow, 0.16);
        sheet.canvas.rect(x + 0.3, y + 0.5, wide, high, veil);
        sheet.canvas.paste(print, x, y, wide);
    }
}

/// One frame, as large as the sheet is now.
fn frame(sheet: &mut Sheet, shot: Shot) {
    match shot {
        Shot::Hills => places::hills(sheet),
        Shot::Sea => places::sea(sheet),
        Shot::Street => places::street(sheet),
        Shot::Windows => places::windows(sheet),
        Shot::Trees => places::trees(sheet),
        Shot::Road => places::road(sheet),
        Shot::Poles => places::poles(sheet),
        Shot::Shed => places::shed(sheet),
        Shot::Sill => sill(sheet),
        Shot::Portrait => portrait(sheet),
    }
}

/// Somebody before a plain wall, seen against the light.
fn portrait(sheet: &mut Sheet) {
    let (palette, width) = (sheet.palette, sheet.width());
    let (high, low) = (palette.body.mix(palette.low, 0.4), palette.body);
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (0.0, 100.0), (high.lit(0.06), 1.0), (low.lit(-0.05), 1.0)));
    let side = if sheet.look.from_left { 0.24 } else { 0.76 };
    let glow = palette.paper.mix(palette.body.at(0.9), 0.3);
    sheet.canvas.wash(Ink::Glow(
        (width * side, 34.0),
        70.0,
        (glow, if palette.lit { 0.35 } else { 0.75 }),
        (glow, 0.0),
    ));
    let at = width * sheet.hand.between(0.36, 0.64);
    let turn = if sheet.look.from_left { -1.0 } else { 1.0 } * sheet.hand.between(0.2, 1.0);
    let ink = palette.ink.mix(palette.body, 0.12);
    let coat = palette.second.at(0.3).mix(ink, 0.4);
    let chin = sheet.hand.between(52.0, 58.0);
    let size = sheet.hand.between(9.5, 14.0);
    let mut body = tiny_skia::PathBuilder::new();
    body.move_to(at - size * 2.7, 104.0);
    body.cubic_to(at - size * 2.6, chin + 12.0, at - size * 1.0, chin + 11.0, at - size * 0.5, chin + 5.0);
    body.line_to(at - size * 0.45, chin - 8.0);
    body.line_to(at + size * 0.45, chin - 8.0);
    body.line_to(at + size * 0.5, chin + 5.0);
    body.cubic_to(at + size * 1.0, chin + 11.0, at + size * 2.6, chin + 12.0, at + size * 2.7, 104.0);
    body.close();
    let body = body.finish();
    sheet.canvas.fill(
        body,
        Ink::Fade(
            (at - turn * size * -3.0, 0.0),
            (at - turn * size * 3.0, 0.0),
            (coat.lit(0.08), 1.0),
            (coat.lit(-0.06), 1.0),
        ),
    );
    let skin = ink.lit(0.05);
    let head = (at + turn * 1.4, chin - size * 0.9);
    sheet.canvas.oval(
        head,
        size * 0.86,
        size * 1.16,
        Ink::Fade(
            (head.0 + turn * size, 0.0),
            (head.0 - turn * size, 0.0),
            (skin.lit(0.2), 1.0),
            (skin, 1.0),
        ),
    );
    sheet.canvas.poly(
        &[
            (head.0 + turn * size * 0.78, head.1 - size * 0.1),
            (head.0 + turn * size * 1.08, head.1 + size * 0.32),
            (head.0 + turn * size * 0.7, head.1 + size * 0.4),
        ],
        skin.lit(0.18),
    );
    match sheet.hand.count(0, 3) {
        0 => sheet.canvas.oval(
            (head.0 - turn * size * 0.35, head.1 - size * 0.45),
            size * 0.86,
            size * 0.9,
            ink.lit(-0.02),
        ),
        1 => {
            sheet.canvas.oval(
                (head.0 - turn * size * 0.2, head.1 - size * 0.5),
                size * 0.94,
                size * 0.82,
                ink.lit(-0.02),
            );
            sheet.canvas.oval(
                (head.0 - turn * size * 1.1, head.1 - size * 0.7),
                size * 0.42,
                size * 0.42,
                ink.lit(-0.02),
            );
        }
        2 => {
            sheet.canvas.oval(
                (head.0 - turn * size * 0.1, head.1 - size * 0.62),
                size * 0.95,
                size * 0.72,
                coat.lit(-0.04),
            );
            sheet.canvas.oval(
                (head.0 + turn * size * 0.45, head.1 - size * 0.42),
                size * 1.0,
                size * 0.2,
                coat.lit(-0.05),
            );
        }
        _ => {
            sheet.canvas.oval(
                (head.0 - turn * size * 0.3, head.1 - size * 0.2),
                size * 0.92,
                size * 1.25,
                ink.lit(-0.02),
            );
            sheet.canvas.rect(head.0 - size * 0.9, head.1, size * 1.3, size * 1.7, Ink::Veil(ink, 0.0));
        }
    }
    if sheet.hand.chance(40) {
        let x = if sheet.look.from_left { width * 0.82 } else { width * 0.08 };
        sheet.shade(&upright(x, -1.0, width * 0.1, 102.0), 0.5);
    }
}

/// A window, its sill, and one thing on it.
fn sill(sheet: &mut Sheet) {
    let (palette, width) = (sheet.palette, sheet.width());
    let wall = palette.body.at(palette.body.light.min(0.62) * 0.72);
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (width, 100.0), (wall, 1.0), (wall.lit(-0.08), 1.0)));
    let (x, wide) = (width * sheet.hand.between(0.16, 0.28), width * sheet.hand.between(0.46, 0.58));
    let (top, base) = (9.0, 68.0);
    let sky = if sheet.look.light == Light::Night { palette.low } else { palette.low.lit(0.06) };
    sheet.canvas.rect(
        x,
        top,
        wide,
        base - top,
        Ink::Fade((0.0, top), (0.0, base), (palette.high.lit(0.04), 1.0), (sky, 1.0)),
    );
    let far = palette.low.mix(palette.body, 0.4).lit(-0.08);
    let roof = base - sheet.hand.between(10.0, 22.0);
    sheet.canvas.poly(
        &[
            (x, roof + 8.0),
            (x + wide * 0.4, roof),
            (x + wide * 0.66, roof + 6.0),
            (x + wide * 0.66, base),
            (x, base),
        ],
        far,
    );
    let curtain = palette.paper.mix(palette.body, 0.25).lit(if palette.lit { -0.3 } else { 0.0 });
    for side in [0.0f32, 1.0] {
        let edge = x + wide * side;
        let into = wide * sheet.hand.between(0.14, 0.24) * (1.0 - side * 2.0);
        sheet.canvas.poly(
            &[(edge, top), (edge + into * 1.2, top), (edge + into * 0.8, base), (edge, base)],
            Ink::Veil(curtain, 0.82),
        );
        let folds: Vec<_> = (1..5)
            .map(|fold| edge + into * fold as f32 / 5.0)
            .map(|x| ((x + into * 0.08, top), (x - into * 0.03, base)))
            .collect();
        sheet.canvas.lines(folds, 0.5, Ink::Veil(palette.shadow, 0.16));
    }
    let frame = wall.lit(0.12);
    sheet.canvas.lines(
        [
            ((x, top), (x + wide, top)),
            ((x, top), (x, base)),
            ((x + wide, top), (x + wide, base)),
            ((x + wide / 2.0, top), (x + wide / 2.0, base)),
            ((x, top + 21.0), (x + wide, top + 21.0)),
        ],
        1.5,
        frame,
    );
    sheet.canvas.rect(x - 4.0, base, wide + 8.0, 3.0, frame.lit(0.1));
    sheet.shade(&upright(x - 4.0, base + 3.0, wide + 8.0, 2.4), 1.0);
    let lean = sheet.reach().clamp(-1.0, 1.0) * 12.0;
    sheet.shine(
        &[(x + lean, 78.0), (x + wide + lean, 78.0), (x + wide + lean * 1.8, 102.0), (x + lean * 1.8, 102.0)],
        0.16,
    );
    for _ in 0..sheet.hand.count(1, 3) {
        let at = x + wide * sheet.hand.between(0.12, 0.88);
        let (half, high) = (sheet.hand.between(2.2, 4.0), sheet.hand.between(6.0, 13.0));
        let pot = palette.second.at(0.36);
        sheet.canvas.poly(
            &[
                (at - half, base - high),
                (at + half, base - high),
                (at + half * 0.7, base),
                (at - half * 0.7, base),
            ],
            pot,
        );
        if sheet.hand.chance(60) {
            for leaf in 0..9 {
                let turn = leaf as f32 * 0.38 - 1.5;
                let tip = (at + turn.sin() * 9.0, base - high - turn.cos() * sheet.hand.between(7.0, 14.0));
                sheet.canvas.line((at, base - high), tip, 0.7, palette.green.lit(-0.05));
            }
        }
    }
}
