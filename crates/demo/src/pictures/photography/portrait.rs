//! A person in front of a plain wall, backlit.

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Close, Curve, To};
use super::super::geometry::{Point, outline, placed, rect_quad};

/// Draws a person in front of a plain wall, backlit.
pub(super) fn portrait(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let high = palette.body.mix(palette.backdrop_bottom, 0.4).lighter(0.06);
    drawing.canvas.fill_all(Fill::down(0.0, 100.0, high, palette.body.lighter(-0.05)));
    let side = if drawing.style.from_left { 0.24 } else { 0.76 };
    let glow = palette.lightest.mix(palette.body.with_lightness(0.9), 0.3);
    let cover = if palette.lamps_on { 0.35 } else { 0.75 };
    drawing.canvas.fill_all(Fill::Radial((width * side, 34.0), 70.0, glow, cover));
    let at = width * drawing.rng.range(0.36, 0.64);
    let turn = if drawing.style.from_left { -1.0 } else { 1.0 } * drawing.rng.range(0.2, 1.0);
    let ink = palette.darkest.mix(palette.body, 0.12);
    let chin = drawing.rng.range(52.0, 58.0);
    let size = drawing.rng.range(9.5, 14.0);
    let coat = palette.second.with_lightness(0.3).mix(ink, 0.4);
    shoulders(drawing, (at, chin), turn * size, size, coat);
    let skin = ink.lighter(0.05);
    let head = (at + turn * 1.4, chin - size * 0.9);
    let (lit, dark) = (head.0 + turn * size, head.0 - turn * size);
    drawing.canvas.oval(head, size * 0.86, size * 1.16, Fill::across(lit, dark, skin.lighter(0.2), skin));
    let nose = placed(head, (turn * size, size), [(0.78, -0.1), (1.08, 0.32), (0.7, 0.4)]);
    drawing.canvas.poly(&nose, skin.lighter(0.18));
    hair(drawing, head, (turn * size, size), ink.lighter(-0.02), coat);
    if drawing.rng.chance(40) {
        let x = if drawing.style.from_left { width * 0.82 } else { width * 0.08 };
        drawing.shade(&rect_quad(x, -1.0, width * 0.1, 102.0), 0.5);
    }
}

/// Draws neck and shoulders in a coat, turned to one side.
fn shoulders(drawing: &mut Drawing, (at, chin): Point, turn: f32, size: f32, coat: Colour) {
    let parts = [
        Curve(-2.6, 12.0, -1.0, 11.0, -0.5, 5.0),
        To(-0.45, -8.0),
        To(0.45, -8.0),
        To(0.5, 5.0),
        Curve(1.0, 11.0, 2.6, 12.0, 2.7, 104.0 - chin),
        Close,
    ];
    let body = outline((at, chin), (size, 1.0), (-2.7, 104.0 - chin), &parts);
    let turned = Fill::across(at + turn * 3.0, at - turn * 3.0, coat.lighter(0.08), coat.lighter(-0.06));
    drawing.canvas.fill(body, turned);
}

/// Draws short hair, a knot, a cap, or long hair.
fn hair(drawing: &mut Drawing, head: Point, (turn, size): Point, hair: Colour, coat: Colour) {
    // Centres and radii, in sizes of the head.
    let ovals: &[(Point, Point, Colour)] = match drawing.rng.count(0, 3) {
        0 => &[((-0.35, -0.45), (0.86, 0.9), hair)],
        1 => &[((-0.2, -0.5), (0.94, 0.82), hair), ((-1.1, -0.7), (0.42, 0.42), hair)],
        2 => &[
            ((-0.1, -0.62), (0.95, 0.72), coat.lighter(-0.04)),
            ((0.45, -0.42), (1.0, 0.2), coat.lighter(-0.05)),
        ],
        _ => &[((-0.3, -0.2), (0.92, 1.25), hair)],
    };
    for (at, radii, colour) in ovals {
        let [at] = placed(head, (turn, size), [*at]);
        drawing.canvas.oval(at, size * radii.0, size * radii.1, *colour);
    }
}
