//! Light and shadows on the wall behind an object.

use super::super::canvas::{Fill, Point, curve};
use super::super::drawing::Drawing;
use super::super::style::Light;

/// Draws the light of a window or lamp, or the shadow of leaves, on the wall.
pub(super) fn wall_light(drawing: &mut Drawing) {
    let width = drawing.width();
    let lean = if drawing.style.from_left { 14.0 } else { -14.0 };
    let middle = width * if drawing.style.from_left { 0.62 } else { 0.38 };
    match drawing.style.light {
        Light::Morning | Light::Evening | Light::Side | Light::Noon => {
            for pane in [-13.0f32, 1.0] {
                let x = middle + pane;
                drawing.shine(&[(x, 6.0), (x + 11.5, 9.0), (x + 11.5 + lean, 62.0), (x + lean, 59.0)], 0.24);
            }
        }
        Light::Dapple => {
            for _ in 0..4 {
                twig(drawing);
            }
        }
        Light::Top => {
            let paper = drawing.palette.lightest;
            drawing.canvas.fill_all(Fill::Linear((0.0, 0.0), (0.0, 80.0), (paper, 0.4), (paper, 0.0)));
        }
        Light::Lamp | Light::Dusk | Light::Night => {
            let glow = drawing.palette.glow;
            let at = (middle, 34.0);
            drawing.canvas.fill_all(Fill::Radial(at, 60.0, (glow, 0.42), (glow, 0.0)));
        }
        _ => {
            let paper = drawing.palette.lightest;
            let at = (if drawing.style.from_left { 0.0 } else { width }, 10.0);
            drawing.canvas.fill_all(Fill::Radial(at, 95.0, (paper, 0.3), (paper, 0.0)));
        }
    }
}

/// Draws the shadow of a twig with leaves on the wall.
fn twig(drawing: &mut Drawing) {
    let width = drawing.width();
    let out = if drawing.style.from_left { 1.0 } else { -1.0 };
    let from = (if out > 0.0 { -3.0 } else { width + 3.0 }, drawing.rng.range(-6.0, 34.0));
    let (long, fall) = (width * drawing.rng.range(0.34, 0.66), drawing.rng.range(4.0, 24.0));
    let along = |share: f32| (from.0 + out * long * share, from.1 + fall * share * share);
    let veil = Fill::Alpha(drawing.palette.shadow, 0.1);
    let stem: Vec<Point> = (0..=8).map(|step| along(step as f32 / 8.0)).collect();
    drawing.canvas.stroke(curve(&stem).finish(), 0.5, veil);
    for leaf in 1..15 {
        let at = along(leaf as f32 / 15.0);
        let (size, side) = (drawing.rng.range(2.6, 4.6), if leaf % 2 == 0 { 1.0 } else { -1.0 });
        let tip = (at.0 + out * size, at.1 + side * size * 1.1);
        let across = (size * 0.34, out * side * size * -0.3);
        let middle = ((at.0 + tip.0) / 2.0, (at.1 + tip.1) / 2.0);
        let mut path = tiny_skia::PathBuilder::new();
        path.move_to(at.0, at.1);
        path.quad_to(middle.0 + across.0, middle.1 + across.1, tip.0, tip.1);
        path.quad_to(middle.0 - across.0, middle.1 - across.1, at.0, at.1);
        path.close();
        drawing.canvas.fill(path.finish(), veil);
    }
}
