//! A window from inside, its sill, and what stands on it.

use super::super::canvas::{At, Ink};
use super::super::look::Light;
use super::super::sheet::Sheet;
use super::super::texture::upright;

/// A window, its sill, and one thing on it.
pub(super) fn sill(sheet: &mut Sheet) {
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
    curtains(sheet, (x, top), wide, base);
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
    pots(sheet, (x, base), wide);
}

/// Two thin curtains at the sides of the window.
fn curtains(sheet: &mut Sheet, (x, top): At, wide: f32, base: f32) {
    let palette = sheet.palette;
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
}

/// Pots on the sill, some with a plant.
fn pots(sheet: &mut Sheet, (x, base): At, wide: f32) {
    let palette = sheet.palette;
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
