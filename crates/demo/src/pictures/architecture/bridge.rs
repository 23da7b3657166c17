//! A bridge and its reflection.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{rect_quad, taper};

/// Draws a bridge over water, with its reflection.
pub(super) fn bridge(drawing: &mut Drawing) {
    let width = drawing.width();
    let water = drawing.rng.range(64.0, 70.0);
    drawing.sky(water);
    drawing.hills(water, 2);
    let (low, high) = (drawing.palette.backdrop_bottom, drawing.palette.backdrop_top);
    drawing.band(water, water + 40.0, Fill::down(water, 100.0, low.lighter(-0.04), high.lighter(-0.1)));
    let deck = water - drawing.rng.range(17.0, 23.0);
    let colour = drawing.palette.body;
    let dark = colour.with_lightness((colour.light - 0.2).max(0.18));
    let piers = drawing.rng.count(2, 4);
    let covered = drawing.rng.chance(55);
    let roof = if covered { drawing.rng.range(11.0, 15.0) } else { 0.0 };
    structure(drawing, water, deck, (roof, piers));
    drawing.texture(&rect_quad(-1.0, deck - 2.0, width + 2.0, 4.2), colour, drawing.style.material, 0.8);
    drawing.shade(&rect_quad(-1.0, deck + 1.2, width + 2.0, 1.2), 1.0);
    if !covered {
        drawing.canvas.line((-1.0, deck - 6.0), (width + 1.0, deck - 6.0), 0.5, dark);
    }
    let bank = drawing.palette.green.lighter(-0.04);
    let left = drawing.rng.chance(50);
    let corner = |x: f32| if left { x } else { width - x };
    let edge = corner(-1.0);
    let ground = [(edge, water - 6.0), (corner(16.0), water + 4.0), (corner(34.0), 101.0), (edge, 101.0)];
    drawing.canvas.poly(&ground, bank);
    drawing.tree((corner(8.0), water + 5.0), 34.0, 0);
    for _ in 0..drawing.rng.count(1, 3) {
        drawing.passer_by((0.3, 0.8), deck - 2.0, 7.4);
    }
}

/// Draws piers, deck, posts and roof, first the reflection; without a roof, a railing.
fn structure(drawing: &mut Drawing, water: f32, deck: f32, (roof, piers): (f32, usize)) {
    let width = drawing.width();
    let colour = drawing.palette.body;
    let dark = colour.with_lightness((colour.light - 0.2).max(0.18));
    for (mirrored, cover) in [(true, 0.38), (false, 1.0)] {
        let flip = |y: f32| if mirrored { 2.0 * water - y } else { y };
        let band = |top: f32, low: f32| rect_quad(-1.0, flip(top), width + 2.0, flip(low) - flip(top));
        for pier in 0..piers {
            let x = width * (pier as f32 + 0.5) / piers as f32;
            let pier = taper((x, flip(deck)), 2.2, (x, flip(water)), 1.5);
            drawing.canvas.poly(&pier, Fill::Alpha(dark, cover));
        }
        drawing.canvas.poly(&band(deck - 2.0, deck + 2.2), Fill::Alpha(colour, cover));
        if roof > 0.0 {
            let tone = dark.mix(drawing.palette.second, 0.4);
            drawing.canvas.poly(&band(deck - roof, deck - roof + 3.6), Fill::Alpha(tone, cover));
        }
        let posts = (0..(width / 4.4) as usize)
            .map(|post| post as f32 * 4.4 + 1.0)
            .map(|x| ((x, flip(deck - roof.max(6.0))), (x, flip(deck))));
        drawing.canvas.lines(posts, 0.55, Fill::Alpha(dark, cover));
    }
}
