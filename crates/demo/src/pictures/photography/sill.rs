//! A window from inside, with objects on its sill.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{Point, lines_across, lines_down, rect_quad, shares, taper};
use super::super::style::Light;

/// Draws a window with objects on its sill.
pub(super) fn sill(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let wall = palette.body.with_lightness(palette.body.light.min(0.62) * 0.72);
    drawing.wall(wall, 100.0, (0.0, -0.08));
    let (x, wide) = (width * drawing.rng.range(0.16, 0.28), width * drawing.rng.range(0.46, 0.58));
    let (top, base) = (9.0, 68.0);
    let opening = rect_quad(x, top, wide, base - top);
    let by = if drawing.style.light == Light::Night { 0.0 } else { 0.06 };
    let (high, low) = (palette.backdrop_top.lighter(0.04), palette.backdrop_bottom.lighter(by));
    drawing.canvas.rect(x, top, wide, base - top, Fill::down(top, base, high, low));
    let far = palette.backdrop_bottom.mix(palette.body, 0.4).lighter(-0.08);
    let roof = base - drawing.rng.range(10.0, 22.0);
    let (ridge, end) = (x + wide * 0.4, x + wide * 0.66);
    let house = [(x, roof + 8.0), (ridge, roof), (end, roof + 6.0), (end, base), (x, base)];
    drawing.canvas.poly(&house, far);
    curtains(drawing, (x, top), wide, base);
    let frame = wall.lighter(0.12);
    let bars =
        lines_down(&opening, [0.0, 0.5, 1.0]).chain(lines_across(&opening, [0.0, 21.0 / (base - top)]));
    drawing.canvas.lines(bars, 1.5, frame);
    drawing.canvas.rect(x - 4.0, base, wide + 8.0, 3.0, frame.lighter(0.1));
    drawing.shade(&rect_quad(x - 4.0, base + 3.0, wide + 8.0, 2.4), 1.0);
    let lean = drawing.shadow_reach().clamp(-1.0, 1.0) * 12.0;
    let middle = x + wide / 2.0;
    let light = taper((middle + lean, 78.0), wide / 2.0, (middle + lean * 1.8, 102.0), wide / 2.0);
    drawing.shine(&light, 0.16);
    pots(drawing, (x, base), wide);
}

/// Draws two thin curtains at the sides of the window.
fn curtains(drawing: &mut Drawing, (x, top): Point, wide: f32, base: f32) {
    let palette = drawing.palette;
    let curtain = palette.lightest.mix(palette.body, 0.25).lighter(if palette.lamps_on { -0.3 } else { 0.0 });
    for side in [0.0f32, 1.0] {
        let edge = x + wide * side;
        let into = wide * drawing.rng.range(0.14, 0.24) * (1.0 - side * 2.0);
        let cloth = [(edge, top), (edge + into * 1.2, top), (edge + into * 0.8, base), (edge, base)];
        drawing.canvas.poly(&cloth, Fill::Alpha(curtain, 0.82));
        let folds = shares(1..5, 5)
            .map(|share| edge + into * share)
            .map(|x| ((x + into * 0.08, top), (x - into * 0.03, base)));
        drawing.canvas.lines(folds, 0.5, Fill::Alpha(palette.shadow, 0.16));
    }
}

/// Draws pots on the sill, some with a plant.
fn pots(drawing: &mut Drawing, (x, base): Point, wide: f32) {
    let palette = drawing.palette;
    for _ in 0..drawing.rng.count(1, 3) {
        let at = x + wide * drawing.rng.range(0.12, 0.88);
        let (half, high) = (drawing.rng.range(2.2, 4.0), drawing.rng.range(6.0, 13.0));
        let rim = (at, base - high);
        let pot = taper(rim, half, (at, base), half * 0.7);
        drawing.canvas.poly(&pot, palette.second.with_lightness(0.36));
        if drawing.rng.chance(60) {
            for leaf in 0..9 {
                let (sin, cos) = (leaf as f32 * 0.38 - 1.5).sin_cos();
                let tip = (at + sin * 9.0, rim.1 - cos * drawing.rng.range(7.0, 14.0));
                drawing.canvas.line(rim, tip, 0.7, palette.green.lighter(-0.05));
            }
        }
    }
}
