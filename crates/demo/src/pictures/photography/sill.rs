//! A window from inside, with objects on its sill.

use super::super::canvas::{Fill, Point};
use super::super::drawing::Drawing;
use super::super::style::Light;
use super::super::texture::rect_quad;

/// Draws a window with objects on its sill.
pub(super) fn sill(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let wall = palette.body.with_lightness(palette.body.light.min(0.62) * 0.72);
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (width, 100.0),
        (wall, 1.0),
        (wall.lighter(-0.08), 1.0),
    ));
    let (x, wide) = (width * drawing.rng.range(0.16, 0.28), width * drawing.rng.range(0.46, 0.58));
    let (top, base) = (9.0, 68.0);
    let sky = if drawing.style.light == Light::Night {
        palette.backdrop_bottom
    } else {
        palette.backdrop_bottom.lighter(0.06)
    };
    drawing.canvas.rect(
        x,
        top,
        wide,
        base - top,
        Fill::Linear((0.0, top), (0.0, base), (palette.backdrop_top.lighter(0.04), 1.0), (sky, 1.0)),
    );
    let far = palette.backdrop_bottom.mix(palette.body, 0.4).lighter(-0.08);
    let roof = base - drawing.rng.range(10.0, 22.0);
    drawing.canvas.poly(
        &[
            (x, roof + 8.0),
            (x + wide * 0.4, roof),
            (x + wide * 0.66, roof + 6.0),
            (x + wide * 0.66, base),
            (x, base),
        ],
        far,
    );
    curtains(drawing, (x, top), wide, base);
    let frame = wall.lighter(0.12);
    drawing.canvas.lines(
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
    drawing.canvas.rect(x - 4.0, base, wide + 8.0, 3.0, frame.lighter(0.1));
    drawing.shade(&rect_quad(x - 4.0, base + 3.0, wide + 8.0, 2.4), 1.0);
    let lean = drawing.shadow_reach().clamp(-1.0, 1.0) * 12.0;
    drawing.shine(
        &[(x + lean, 78.0), (x + wide + lean, 78.0), (x + wide + lean * 1.8, 102.0), (x + lean * 1.8, 102.0)],
        0.16,
    );
    pots(drawing, (x, base), wide);
}

/// Draws two thin curtains at the sides of the window.
fn curtains(drawing: &mut Drawing, (x, top): Point, wide: f32, base: f32) {
    let palette = drawing.palette;
    let curtain = palette.lightest.mix(palette.body, 0.25).lighter(if palette.lamps_on { -0.3 } else { 0.0 });
    for side in [0.0f32, 1.0] {
        let edge = x + wide * side;
        let into = wide * drawing.rng.range(0.14, 0.24) * (1.0 - side * 2.0);
        drawing.canvas.poly(
            &[(edge, top), (edge + into * 1.2, top), (edge + into * 0.8, base), (edge, base)],
            Fill::Alpha(curtain, 0.82),
        );
        let folds: Vec<_> = (1..5)
            .map(|fold| edge + into * fold as f32 / 5.0)
            .map(|x| ((x + into * 0.08, top), (x - into * 0.03, base)))
            .collect();
        drawing.canvas.lines(folds, 0.5, Fill::Alpha(palette.shadow, 0.16));
    }
}

/// Draws pots on the sill, some with a plant.
fn pots(drawing: &mut Drawing, (x, base): Point, wide: f32) {
    let palette = drawing.palette;
    for _ in 0..drawing.rng.count(1, 3) {
        let at = x + wide * drawing.rng.range(0.12, 0.88);
        let (half, high) = (drawing.rng.range(2.2, 4.0), drawing.rng.range(6.0, 13.0));
        let pot = palette.second.with_lightness(0.36);
        drawing.canvas.poly(
            &[
                (at - half, base - high),
                (at + half, base - high),
                (at + half * 0.7, base),
                (at - half * 0.7, base),
            ],
            pot,
        );
        if drawing.rng.chance(60) {
            for leaf in 0..9 {
                let turn = leaf as f32 * 0.38 - 1.5;
                let tip = (at + turn.sin() * 9.0, base - high - turn.cos() * drawing.rng.range(7.0, 14.0));
                drawing.canvas.line((at, base - high), tip, 0.7, palette.green.lighter(-0.05));
            }
        }
    }
}
