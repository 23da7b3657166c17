//! Windows of rooms, the view through them, and their light on the floor.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{Quad, cells, lines_down, point_on, polygon, sub_quad};
use super::super::style::{Layout, Light};
use super::Space;

/// Draws a window in the wall at the back, beside furniture if that stands there too.
pub(super) fn back_window(drawing: &mut Drawing, space: &Space, beside: bool) {
    let wide = drawing.rng.range(0.24, 0.42);
    let left = match drawing.style.layout {
        _ if beside && drawing.style.from_left => 0.06,
        _ if beside => 0.94 - wide,
        Layout::Symmetric => 0.5 - wide / 2.0,
        _ => drawing.rng.range(0.1, 0.9 - wide),
    };
    let (top, sill) = (drawing.rng.range(0.12, 0.22), drawing.rng.range(0.55, 0.68));
    let opening = sub_quad(&space.back, (left, left + wide), (top, sill));
    view(drawing, &opening);
    let (columns, rows) = (drawing.rng.count(1, 3), drawing.rng.count(1, 2));
    frame(drawing, &opening, columns, rows);
    let ledge = drawing.palette.lightest.mix(drawing.palette.body, 0.4);
    drawing.canvas.rect(opening[3].0 - 0.8, opening[3].1, opening[2].0 - opening[3].0 + 1.6, 1.1, ledge);
    let lean = drawing.shadow_reach().clamp(-1.0, 1.0) * 0.16;
    let (inset, right) = (wide * 0.02, left + wide);
    let patch = [(left, 0.16), (right, 0.16), (right + inset, 0.6), (left - inset, 0.6)]
        .map(|(s, t)| point_on(&space.floor, s + lean * (1.0 + t), t));
    pieces(drawing, &patch, columns, rows);
}

pub(super) fn side_window(drawing: &mut Drawing, space: &Space) {
    let from_left = drawing.style.from_left;
    let wall = if from_left { space.left } else { space.right };
    let (near, far) = (drawing.rng.range(0.28, 0.4), drawing.rng.range(0.76, 0.86));
    let across = if from_left { (near, far) } else { (1.0 - far, 1.0 - near) };
    let down = (drawing.rng.range(0.2, 0.26), if drawing.rng.chance(40) { 0.97 } else { 0.64 });
    let opening = sub_quad(&wall, across, down);
    view(drawing, &opening);
    let (columns, rows) = (drawing.rng.count(2, 4), drawing.rng.count(1, 3));
    frame(drawing, &opening, columns, rows);
    let inward = |surface: &Quad, shares: [(f32, f32); 4]| {
        shares.map(|(s, t)| point_on(surface, if from_left { s } else { 1.0 - s }, t))
    };
    let long = drawing.shadow_reach().abs().clamp(0.45, 1.1);
    let corners = [(0.1, 0.16), (0.1 + 0.5 * long, 0.2), (0.12 + 0.56 * long, 0.5), (0.08, 0.46)];
    let patch = inward(&space.floor, corners);
    pieces(drawing, &patch, columns, rows);
    if sunlight_opacity(drawing.style.light) > 0.4 {
        let on_back = inward(&space.back, [(0.5, 0.34), (0.86, 0.44), (0.86, 0.86), (0.5, 0.76)]);
        drawing.shine(&on_back, 0.3);
        let bar = Fill::Alpha(drawing.palette.body.lighter(-0.05), 0.6);
        drawing.canvas.lines(lines_down(&on_back, [0.5]), 0.7, bar);
    }
}

/// Draws the view through a window: sky and treetops.
pub(super) fn view(drawing: &mut Drawing, opening: &Quad) {
    let palette = drawing.palette;
    let (high, low) = (palette.backdrop_top.lighter(0.05), palette.backdrop_bottom.lighter(0.06));
    drawing.canvas.poly(opening, Fill::gradient(opening[0], opening[3], high, low));
    drawing.canvas.clip(polygon(opening));
    let wide = opening[1].0 - opening[0].0;
    let base = opening[2].1.max(opening[3].1);
    for _ in 0..5 {
        let at = (opening[0].0 + wide * drawing.rng.range(0.0, 1.0), base - drawing.rng.range(0.0, 3.0));
        let size = drawing.rng.range(0.14, 0.26) * wide;
        let green = palette.green.mix(low, 0.4).lighter(drawing.rng.range(-0.04, 0.04));
        drawing.canvas.oval(at, size, size * 0.9, green);
    }
    drawing.canvas.unclip();
}

pub(super) fn frame(drawing: &mut Drawing, opening: &Quad, columns: usize, rows: usize) {
    let ink =
        drawing.palette.second.with_lightness(if drawing.palette.body.light > 0.5 { 0.34 } else { 0.78 });
    drawing.bars(opening, (columns, rows), 0.75, ink);
}

/// Draws the light of a window on the floor, pane by pane.
pub(super) fn pieces(drawing: &mut Drawing, patch: &Quad, columns: usize, rows: usize) {
    let cover = sunlight_opacity(drawing.style.light);
    for pane in cells(columns, rows, (0.94, 0.94)) {
        drawing.shine(&pane.of(patch), cover);
    }
}

/// Returns the opacity of sunlight through a window.
pub(super) fn sunlight_opacity(light: Light) -> f32 {
    match light {
        Light::Morning | Light::Evening | Light::Noon | Light::Side => 0.5,
        Light::Dapple | Light::Top | Light::Soft => 0.32,
        Light::Overcast | Light::Snow | Light::Fog => 0.18,
        Light::Dusk | Light::Night | Light::Lamp => 0.06,
    }
}
