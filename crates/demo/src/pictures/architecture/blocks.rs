//! Buildings with flat roofs: towers, facades, bars, steps, pavilions.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{Quad, cells, lines_across, rect_quad, shares, sub_quad};
use super::Body;

/// Draws a tower of a few floors, some of them shifted.
pub(super) fn tower(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(78.0, 84.0);
    drawing.land(horizon, 1);
    let base = horizon + drawing.rng.range(6.0, 9.0);
    let floors = drawing.rng.count(4, 7);
    let top = drawing.rng.range(13.0, 22.0);
    let high = (base - top) / floors as f32;
    let wide = width * drawing.rng.range(0.36, 0.46);
    let left = (width - wide) * drawing.rng.range(0.34, 0.52);
    let vanish = (width * 1.15, horizon - 4.0);
    let shift = if drawing.rng.chance(60) { drawing.rng.range(1.5, 5.0) } else { 0.0 };
    let (columns, fill) =
        (drawing.rng.count(2, 5), (drawing.rng.range(0.45, 0.84), drawing.rng.range(0.45, 0.7)));
    drawing.grove(horizon + 2.0, (left - 3.0, left + wide + 14.0));
    let all = Body { left, right: left + wide, top: base - (base - top) * 0.5, base, vanish, deep: 0.2 };
    drawing.cast_shadow(&all);
    let colour = drawing.palette.body;
    for floor in 0..floors {
        let off = if floor % 2 == 0 { 0.0 } else { shift };
        let below = base - high * floor as f32;
        let (left, right) = (left + off, left + wide + off);
        let body = Body { left, right, top: below - high, base: below, vanish, deep: 0.18 };
        let by = drawing.rng.range(-0.02, 0.02);
        drawing.body(&body, colour.lighter(by));
        let shopfront = if floor == 0 { (0.9, 0.8) } else { fill };
        drawing.windows(&body.front(), columns, 1, shopfront);
        drawing.windows(&body.side(), 2, 1, (fill.0 * 0.8, fill.1));
        let slab = drawing.palette.lightest.mix(colour, 0.6);
        drawing.canvas.rect(body.left - 0.5, body.top - 0.4, wide + 1.0, 0.9, slab);
        drawing.shade(&rect_quad(body.left, body.top + 0.5, wide, high * 0.12), 0.9);
    }
    let at = (left - drawing.rng.range(4.0, 10.0), base + 3.0);
    drawing.person(at, 6.4);
}

/// Draws a wall with rows of windows that fills the picture, and the street in front.
pub(super) fn facade(drawing: &mut Drawing) {
    let width = drawing.width();
    let street = drawing.rng.range(84.0, 89.0);
    let top = if drawing.rng.chance(55) { drawing.rng.range(8.0, 16.0) } else { -2.0 };
    drawing.sky(street);
    drawing.ground(street);
    let wall = rect_quad(-1.0, top, width + 2.0, street - top);
    let colour = drawing.palette.body;
    drawing.textured_quad(&wall, colour);
    drawing.shade_side(&wall, false);
    let rows = drawing.rng.count(3, 5);
    let columns = (rows as f32 * width / 92.0 * drawing.rng.range(1.2, 1.7)).round().max(3.0) as usize;
    let fill = (drawing.rng.range(0.42, 0.66), drawing.rng.range(0.5, 0.74));
    let upper = sub_quad(&wall, (0.02, 0.98), (0.03, 0.8));
    drawing.windows(&upper, columns, rows - 1, fill);
    blinds(drawing, &upper, (columns, rows - 1), fill);
    let lower = sub_quad(&wall, (0.02, 0.98), (0.8, 1.0));
    let base = drawing.palette.second.mix(colour, 0.5).lighter(-0.05);
    drawing.canvas.poly(&sub_quad(&wall, (0.0, 1.0), (0.81, 1.0)), Fill::Alpha(base, 0.65));
    drawing.windows(&lower, columns, 1, (fill.0, 0.62));
    if top > 0.0 {
        drawing.band(top - 1.4, top + 0.8, colour.lighter(0.04));
        drawing.shade(&rect_quad(-1.0, top + 0.8, width + 2.0, 2.2), 1.0);
    }
    // The shadow of a neighbouring building outside the picture.
    let reach = drawing.shadow_reach();
    let edge = if reach > 0.0 { 0.0 } else { width };
    let into = reach.signum() * width * drawing.rng.range(0.18, 0.42);
    drawing.shade(&[(edge, top), (edge + into * 0.35, top), (edge + into, street), (edge, street)], 0.55);
    let pavement = drawing.palette.ground.lighter(0.05);
    drawing.band(street, street + 2.4, pavement);
    drawing.band(street + 2.4, street + 3.0, Fill::Alpha(drawing.palette.shadow, 0.4));
    for _ in 0..drawing.rng.count(1, 3) {
        drawing.passer_by((0.12, 0.88), street + 2.0, 9.4);
    }
}

/// Draws half-closed blinds in some windows, in the second colour.
fn blinds(drawing: &mut Drawing, wall: &Quad, count: (usize, usize), fill: (f32, f32)) {
    let colour = drawing.palette.second.mix(drawing.palette.lightest, 0.35);
    for cell in cells(count.0, count.1, fill) {
        if drawing.rng.chance(22) {
            let blind = sub_quad(&cell.of(wall), (0.0, 1.0), (0.0, drawing.rng.range(0.3, 0.75)));
            drawing.canvas.poly(&blind, colour);
            drawing.canvas.lines(lines_across(&blind, [1.0]), 0.25, colour.lighter(-0.15));
        }
    }
}

/// Draws a long low building.
pub(super) fn bar(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(66.0, 74.0);
    drawing.landscape(horizon);
    let base = horizon + drawing.rng.range(4.0, 8.0);
    let (left, right) = (width * drawing.rng.range(0.07, 0.15), width * drawing.rng.range(0.8, 0.9));
    let high = drawing.rng.range(13.0, 20.0);
    let vanish = (width * 1.25, horizon - 1.0);
    let body = Body { left, right, top: base - high, base, vanish, deep: 0.12 };
    drawing.grove(horizon + 2.0, (left + 8.0, right - 4.0));
    drawing.cast_shadow(&body);
    let colour = drawing.palette.body;
    drawing.body(&body, colour);
    let wall = body.front();
    let split = drawing.rng.range(0.3, 0.7);
    let (columns, wide) = (drawing.rng.count(6, 12), drawing.rng.range(0.6, 0.92));
    let glazed = if drawing.rng.chance(50) { (0.04, split) } else { (split, 0.96) };
    drawing.windows(&sub_quad(&wall, glazed, (0.22, 0.98)), columns, 1, (wide, 1.0));
    let closed = if glazed.0 < 0.1 { (split + 0.06, 0.94) } else { (0.06, split - 0.06) };
    drawing.windows(&sub_quad(&wall, closed, (0.3, 0.6)), 2, 1, (0.3, 0.8));
    let roof = drawing.palette.second.with_lightness((colour.light - 0.2).max(0.25)).mix(colour, 0.3);
    drawing.canvas.rect(left - 3.5, body.top - 1.7, right - left + 7.0, 2.2, roof);
    drawing.shade(&rect_quad(left, body.top + 0.5, right - left, high * 0.16), 1.1);
    pool(drawing, base + 7.0);
    drawing.passer_by((0.3, 0.8), base + 3.5, 7.4);
}

/// Draws still water in front that reflects the sky, in some pictures.
fn pool(drawing: &mut Drawing, top: f32) {
    if drawing.rng.chance(45) {
        let width = drawing.width();
        let (low, high) = (drawing.palette.backdrop_bottom, drawing.palette.backdrop_top);
        drawing.band(top, 101.0, Fill::down(top, 100.0, low.lighter(-0.03), high.lighter(-0.08)));
        let glints: Vec<_> = (0..14)
            .map(|_| {
                let (x, y) = (drawing.rng.range(0.0, width), drawing.rng.range(top + 1.0, 99.0));
                ((x, y), (x + drawing.rng.range(3.0, 14.0), y))
            })
            .collect();
        drawing.canvas.lines(glints, 0.22, Fill::Alpha(low.lighter(0.08), 0.5));
    }
}

/// Draws terraces on a hillside.
pub(super) fn steps(drawing: &mut Drawing) {
    let width = drawing.width();
    drawing.sky(86.0);
    drawing.hills(70.0, 2);
    let falls_right = !drawing.style.from_left;
    let mirror = |x: f32| if falls_right { x } else { width - x };
    let hill = drawing.palette.ground.mix(drawing.palette.green, 0.35);
    let (high, low) = (mirror(-1.0), mirror(width + 1.0));
    let slope = [(high, 34.0), (low, 88.0), (low, 101.0), (high, 101.0)];
    drawing.canvas.poly(&slope, Fill::down(30.0, 100.0, hill.lighter(0.05), hill.lighter(-0.08)));
    let count = drawing.rng.count(3, 5);
    let kind = drawing.rng.count(0, 2);
    drawing.tree((mirror(width * 0.1), 42.0), 19.0, kind);
    let wide = width * 0.66 / count as f32;
    let high = drawing.rng.range(13.0, 16.5);
    let colour = drawing.palette.body;
    for step in 0..count {
        let x = width * 0.17 + wide * step as f32;
        let base = 34.0 + 54.0 * ((x + wide) / width) + 1.5;
        let left = mirror(x).min(mirror(x + wide * 1.3));
        let (right, vanish) = (left + wide * 1.3, (mirror(width * 1.2), 30.0));
        let body = Body { left, right, top: base - high, base: base + 2.0, vanish, deep: 0.07 };
        let by = drawing.rng.range(-0.03, 0.03);
        drawing.cast_shadow(&body);
        drawing.body(&body, colour.lighter(by));
        let wall = body.front();
        drawing.windows(&sub_quad(&wall, (0.08, 0.92), (0.2, 0.78)), 3, 1, (0.8, 1.0));
        let slab = colour.lighter(0.07);
        drawing.canvas.rect(left - 0.6, body.top - 0.8, wide * 1.3 + 1.2, 1.2, slab);
        let bush = (left + wide * drawing.rng.range(0.2, 1.0), body.top - 0.6);
        let green = drawing.palette.green;
        drawing.canvas.oval(bush, 2.4, 1.7, green);
        drawing.canvas.oval((bush.0 + 1.9, bush.1 + 0.3), 1.8, 1.2, green.lighter(-0.03));
    }
    let kind = drawing.rng.count(0, 2);
    drawing.tree((mirror(width * 0.93), 90.0), 24.0, kind);
    let at = (mirror(width * drawing.rng.range(0.3, 0.5)), 93.0);
    drawing.person(at, 8.0);
}

/// Draws a thin roof on posts with recessed glass.
pub(super) fn pavilion(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(64.0, 71.0);
    drawing.landscape(horizon);
    let base = horizon + drawing.rng.range(7.0, 11.0);
    let (left, right) = (width * drawing.rng.range(0.13, 0.2), width * drawing.rng.range(0.78, 0.88));
    let top = base - drawing.rng.range(21.0, 28.0);
    drawing.grove(horizon + 3.0, (left + 4.0, right));
    let colour = drawing.palette.body;
    let plinth = drawing.palette.ground.lighter(0.08);
    drawing.shade(&rect_quad(left + drawing.shadow_reach() * 6.0, base + 1.5, right - left, 3.0), 0.9);
    drawing.canvas.rect(left - 2.0, base, right - left + 4.0, 2.6, plinth);
    let inner = rect_quad(left + 9.0, top, right - left - 18.0, base - top);
    let solid = drawing.rng.range(0.25, 0.45);
    let split = if drawing.rng.chance(50) { solid } else { 1.0 - solid };
    let (wall, glass) = if split < 0.5 { ((0.0, split), (split, 1.0)) } else { ((split, 1.0), (0.0, split)) };
    let wall = sub_quad(&inner, wall, (0.0, 1.0));
    drawing.textured_quad(&wall, colour);
    let panes = drawing.rng.count(4, 7);
    drawing.windows(&sub_quad(&inner, glass, (0.0, 1.0)), panes, 1, (0.94, 1.0));
    drawing.fading_shade(&inner, inner[0], inner[3], 1.1);
    let posts = drawing.rng.count(5, 9);
    let dark = colour.with_lightness((colour.light - 0.18).max(0.2));
    for share in shares(0..posts, posts - 1) {
        let x = left + 2.0 + (right - left - 4.0) * share;
        drawing.canvas.rect(x - 0.45, top, 0.9, base - top, dark);
    }
    let roof = colour.lighter(-0.04);
    let thick = drawing.rng.range(2.2, 5.0);
    let edge = rect_quad(left - 5.0, top - thick, right - left + 10.0, thick);
    drawing.textured_quad(&edge, roof);
    drawing.shade_side(&edge, false);
    drawing.shade(&rect_quad(left - 5.0, top - 0.5, right - left + 10.0, 0.7), 1.2);
    drawing.passer_by((0.3, 0.7), base + 6.0, 9.2);
}
