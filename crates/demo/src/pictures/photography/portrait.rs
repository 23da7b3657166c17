//! A person in front of a plain wall, backlit.

use super::super::canvas::{Fill, Point};
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::texture::rect_quad;

/// Draws a person in front of a plain wall, backlit.
pub(super) fn portrait(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let (high, low) = (palette.body.mix(palette.backdrop_bottom, 0.4), palette.body);
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (0.0, 100.0),
        (high.lighter(0.06), 1.0),
        (low.lighter(-0.05), 1.0),
    ));
    let side = if drawing.style.from_left { 0.24 } else { 0.76 };
    let glow = palette.lightest.mix(palette.body.with_lightness(0.9), 0.3);
    drawing.canvas.fill_all(Fill::Radial(
        (width * side, 34.0),
        70.0,
        (glow, if palette.lamps_on { 0.35 } else { 0.75 }),
        (glow, 0.0),
    ));
    let at = width * drawing.rng.range(0.36, 0.64);
    let turn = if drawing.style.from_left { -1.0 } else { 1.0 } * drawing.rng.range(0.2, 1.0);
    let ink = palette.darkest.mix(palette.body, 0.12);
    let chin = drawing.rng.range(52.0, 58.0);
    let size = drawing.rng.range(9.5, 14.0);
    shoulders(drawing, (at, chin), turn, size);
    let skin = ink.lighter(0.05);
    let head = (at + turn * 1.4, chin - size * 0.9);
    drawing.canvas.oval(
        head,
        size * 0.86,
        size * 1.16,
        Fill::Linear(
            (head.0 + turn * size, 0.0),
            (head.0 - turn * size, 0.0),
            (skin.lighter(0.2), 1.0),
            (skin, 1.0),
        ),
    );
    drawing.canvas.poly(
        &[
            (head.0 + turn * size * 0.78, head.1 - size * 0.1),
            (head.0 + turn * size * 1.08, head.1 + size * 0.32),
            (head.0 + turn * size * 0.7, head.1 + size * 0.4),
        ],
        skin.lighter(0.18),
    );
    hair(drawing, head, turn, size);
    if drawing.rng.chance(40) {
        let x = if drawing.style.from_left { width * 0.82 } else { width * 0.08 };
        drawing.shade(&rect_quad(x, -1.0, width * 0.1, 102.0), 0.5);
    }
}

/// Draws neck and shoulders in a coat.
fn shoulders(drawing: &mut Drawing, (at, chin): Point, turn: f32, size: f32) {
    let coat = coat(drawing);
    let mut body = tiny_skia::PathBuilder::new();
    body.move_to(at - size * 2.7, 104.0);
    body.cubic_to(at - size * 2.6, chin + 12.0, at - size * 1.0, chin + 11.0, at - size * 0.5, chin + 5.0);
    body.line_to(at - size * 0.45, chin - 8.0);
    body.line_to(at + size * 0.45, chin - 8.0);
    body.line_to(at + size * 0.5, chin + 5.0);
    body.cubic_to(at + size * 1.0, chin + 11.0, at + size * 2.6, chin + 12.0, at + size * 2.7, 104.0);
    body.close();
    let body = body.finish();
    drawing.canvas.fill(
        body,
        Fill::Linear(
            (at - turn * size * -3.0, 0.0),
            (at - turn * size * 3.0, 0.0),
            (coat.lighter(0.08), 1.0),
            (coat.lighter(-0.06), 1.0),
        ),
    );
}

/// Returns the colour of clothes.
fn coat(drawing: &Drawing) -> Colour {
    let palette = drawing.palette;
    palette.second.with_lightness(0.3).mix(palette.darkest.mix(palette.body, 0.12), 0.4)
}

/// Draws short hair, a knot, a cap, or long hair.
fn hair(drawing: &mut Drawing, head: Point, turn: f32, size: f32) {
    let ink = drawing.palette.darkest.mix(drawing.palette.body, 0.12);
    let coat = coat(drawing);
    match drawing.rng.count(0, 3) {
        0 => drawing.canvas.oval(
            (head.0 - turn * size * 0.35, head.1 - size * 0.45),
            size * 0.86,
            size * 0.9,
            ink.lighter(-0.02),
        ),
        1 => {
            drawing.canvas.oval(
                (head.0 - turn * size * 0.2, head.1 - size * 0.5),
                size * 0.94,
                size * 0.82,
                ink.lighter(-0.02),
            );
            drawing.canvas.oval(
                (head.0 - turn * size * 1.1, head.1 - size * 0.7),
                size * 0.42,
                size * 0.42,
                ink.lighter(-0.02),
            );
        }
        2 => {
            drawing.canvas.oval(
                (head.0 - turn * size * 0.1, head.1 - size * 0.62),
                size * 0.95,
                size * 0.72,
                coat.lighter(-0.04),
            );
            drawing.canvas.oval(
                (head.0 + turn * size * 0.45, head.1 - size * 0.42),
                size * 1.0,
                size * 0.2,
                coat.lighter(-0.05),
            );
        }
        _ => {
            drawing.canvas.oval(
                (head.0 - turn * size * 0.3, head.1 - size * 0.2),
                size * 0.92,
                size * 1.25,
                ink.lighter(-0.02),
            );
        }
    }
}
