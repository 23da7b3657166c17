//! Somebody before a plain wall, seen against the light.

use super::super::canvas::{At, Ink};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::upright;

/// Somebody before a plain wall, seen against the light.
pub(super) fn portrait(sheet: &mut Sheet) {
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
    let chin = sheet.hand.between(52.0, 58.0);
    let size = sheet.hand.between(9.5, 14.0);
    shoulders(sheet, (at, chin), turn, size);
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
    hair(sheet, head, turn, size);
    if sheet.hand.chance(40) {
        let x = if sheet.look.from_left { width * 0.82 } else { width * 0.08 };
        sheet.shade(&upright(x, -1.0, width * 0.1, 102.0), 0.5);
    }
}

/// Neck and shoulders in a coat, as wide as the sheet lets them be.
fn shoulders(sheet: &mut Sheet, (at, chin): At, turn: f32, size: f32) {
    let coat = coat(sheet);
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
}

/// The colour of what people wear here.
fn coat(sheet: &Sheet) -> Colour {
    let palette = sheet.palette;
    palette.second.at(0.3).mix(palette.ink.mix(palette.body, 0.12), 0.4)
}

/// Short hair, a knot, a cap, or long hair.
fn hair(sheet: &mut Sheet, head: At, turn: f32, size: f32) {
    let ink = sheet.palette.ink.mix(sheet.palette.body, 0.12);
    let coat = coat(sheet);
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
        }
    }
}
