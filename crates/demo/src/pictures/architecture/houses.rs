//! Houses with a gable, single and in groups, and houses on stilts.

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::{Point, lerp, polygon, rect_quad, shares, shifted, sub_quad};
use super::super::style::{Layout, Material};
use super::Body;

/// Returns the colour of a roof.
fn roof_colour(drawing: &Drawing) -> Colour {
    let palette = drawing.palette;
    let dark = palette.second.with_lightness(if palette.body.light > 0.5 { 0.36 } else { 0.62 });
    palette.body.with_lightness(dark.light).mix(dark, 0.55)
}

/// Draws a house seen from its gable; `pitch` is the height of the roof.
fn house(drawing: &mut Drawing, body: &Body, pitch: f32, colour: Colour) {
    let high = Body { top: body.top - pitch * 0.6, ..*body };
    drawing.cast_shadow(&high);
    drawing.body(body, colour);
    let apex = ((body.left + body.right) / 2.0, body.top - pitch);
    let (left, right) = ((body.left, body.top), (body.right, body.top));
    let wall = polygon(&[left, apex, right]);
    drawing.canvas.fill(wall.clone(), colour);
    drawing.canvas.clip(wall);
    let gable = rect_quad(body.left, apex.1, body.right - body.left, pitch);
    drawing.texture(&gable, colour, drawing.style.material, 1.0);
    drawing.shade_side(&gable, false);
    drawing.canvas.unclip();
    let eave = if body.shows_right() { right } else { left };
    let low = lerp(apex, eave, 1.06);
    let plane = [apex, body.back(apex), body.back(low), low];
    let roof = roof_colour(drawing);
    drawing.canvas.poly(&plane, roof);
    drawing.texture(&plane, roof, Material::Metal, 0.8);
    if body.shows_right() == drawing.style.from_left {
        drawing.shade(&plane, 0.7);
    } else {
        drawing.shine(&plane, 0.12);
    }
    for eave in [left, right] {
        drawing.canvas.line(apex, lerp(apex, eave, 1.05), 0.9, roof.lighter(-0.05));
    }
    if drawing.rng.chance(45) {
        chimney(drawing, body, apex, roof);
    }
}

fn chimney(drawing: &mut Drawing, body: &Body, apex: Point, roof: Colour) {
    let at = lerp(apex, body.back(apex), 0.4);
    let colour = drawing.palette.body.lighter(-0.06);
    drawing.canvas.rect(at.0 - 1.4, at.1 - 4.6, 2.8, 6.0, colour);
    let dark = if drawing.style.from_left { at.0 } else { at.0 - 1.4 };
    drawing.shade(&rect_quad(dark, at.1 - 4.6, 1.4, 6.0), 0.9);
    drawing.canvas.rect(at.0 - 1.7, at.1 - 5.0, 3.4, 0.6, roof.lighter(-0.05));
}

/// Draws the openings of a gable.
fn openings(drawing: &mut Drawing, body: &Body, pitch: f32) {
    let wall = body.front();
    let (wide, middle) = (body.right - body.left, (body.left + body.right) / 2.0);
    match drawing.rng.count(0, 3) {
        0 => {
            drawing.window(&wall, (0.14, 0.58), (0.34, 0.9));
            drawing.door(body.left + wide * 0.7, body.base, wide * 0.15, (body.base - body.top) * 0.62);
        }
        1 => {
            drawing.windows(&wall, 3, 1, (0.5, 0.5));
            let small = rect_quad(middle - wide * 0.09, body.top - pitch * 0.5, wide * 0.18, pitch * 0.3);
            drawing.window(&small, (0.0, 1.0), (0.0, 1.0));
        }
        2 => {
            drawing.window(&wall, (0.3, 0.7), (0.12, 1.0));
            let pane = drawing.pane_colour();
            drawing.canvas.disc((middle, body.top - pitch * 0.34), wide * 0.075, pane);
        }
        _ => {
            drawing.door(body.left + wide * 0.14, body.base, wide * 0.15, (body.base - body.top) * 0.66);
            drawing.window(&wall, (0.44, 0.9), (0.42, 0.72));
        }
    }
    let count = drawing.rng.count(2, 4);
    drawing.windows(&body.side(), count, 1, (0.42, 0.42));
}

/// Draws one house on open ground.
pub(super) fn gable(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(62.0, 72.0);
    drawing.landscape(horizon);
    let symmetric = drawing.style.layout == Layout::Symmetric;
    let base = drawing.rng.range(79.0, 84.0);
    let wide = drawing.rng.range(27.0, 36.0).min(width * 0.4);
    let left = if symmetric { (width - wide) / 2.0 } else { width * drawing.rng.range(0.2, 0.34) };
    let vanish = if symmetric || drawing.rng.chance(70) { width * 1.05 } else { -width * 0.05 };
    let left = if vanish < 0.0 { width - left - wide } else { left };
    let body = Body {
        left,
        right: left + wide,
        top: base - drawing.rng.range(19.0, 27.0),
        base,
        vanish: (vanish, horizon - 2.0),
        deep: drawing.rng.range(0.28, 0.46),
    };
    let pitch = wide * drawing.rng.range(0.36, 0.7);
    let free = (left.min(body.back((left, 0.0)).0), body.right.max(body.back((body.right, 0.0)).0));
    drawing.grove(horizon + 4.0, free);
    let colour = drawing.palette.body;
    house(drawing, &body, pitch, colour);
    openings(drawing, &body, pitch);
    path(drawing, &body);
    let at = (left + wide * drawing.rng.range(-0.5, -0.15), base + 4.0);
    drawing.person(at, 8.6);
}

/// Draws a path from the house to the lower edge.
fn path(drawing: &mut Drawing, body: &Body) {
    let width = drawing.width();
    let from = (body.left + body.right) / 2.0;
    let to = from + (width / 2.0 - from) * 0.8;
    let colour = drawing.palette.ground.lighter(0.07);
    let path = [(from - 2.5, body.base), (from + 2.5, body.base), (to + 12.0, 101.0), (to - 8.0, 101.0)];
    drawing.canvas.poly(&path, Fill::Linear((0.0, body.base), (0.0, 100.0), (colour, 0.9), (colour, 0.35)));
}

/// Draws a group of three to five houses.
pub(super) fn cluster(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(58.0, 66.0);
    drawing.landscape(horizon);
    drawing.grove(horizon + 3.0, (width * 0.2, width * 0.8));
    let count = drawing.rng.count(3, 5);
    let mut order: Vec<usize> = (0..count).collect();
    // Painter's order: those at the ends are in front.
    order.sort_by_key(|at| at.abs_diff(count / 2));
    let colour = drawing.palette.body;
    for (turn, at) in order.into_iter().enumerate() {
        let middle = width * (0.18 + 0.64 * (at as f32 + 0.5) / count as f32);
        let base = horizon + 6.0 + 3.6 * turn as f32;
        let wide = drawing.rng.range(15.0, 20.0);
        let body = Body {
            left: middle - wide / 2.0,
            right: middle + wide / 2.0,
            top: base - drawing.rng.range(11.0, 22.0),
            base,
            vanish: (width * 1.3, horizon - 2.0),
            deep: drawing.rng.range(0.1, 0.18),
        };
        let pitch = wide * drawing.rng.range(0.45, 0.8);
        let by = drawing.rng.range(-0.06, 0.05);
        house(drawing, &body, pitch, colour.lighter(by));
        let wall = body.front();
        if drawing.rng.chance(50) {
            drawing.window(&wall, (0.3, 0.7), (0.25, 0.7));
        } else {
            drawing.windows(&wall, 2, 2, (0.38, 0.45));
        }
    }
    drawing.passer_by((0.3, 0.7), 93.0, 8.4);
}

/// Draws an old house with a gable and a new one beside it.
pub(super) fn pair(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(64.0, 70.0);
    drawing.landscape(horizon);
    let base = drawing.rng.range(80.0, 84.0);
    let old_left = drawing.rng.chance(50);
    let wide = 27.0;
    let (old, new) =
        if old_left { (width * 0.16, width * 0.16 + wide + 2.0) } else { (width * 0.58, width * 0.14) };
    drawing.grove(horizon + 4.0, (width * 0.14, width * 0.86));
    let vanish = (width * 1.1, horizon - 3.0);
    let new_wide = if old_left { width * 0.42 } else { old - new - 2.0 };
    let (top, right) = (base - drawing.rng.range(24.0, 42.0), new + new_wide);
    let body = Body { left: new, right, top, base, vanish, deep: 0.16 };
    let second = drawing.palette.second;
    let apart =
        if (second.light - drawing.palette.body.light).abs() < 0.14 { second.lighter(0.2) } else { second };
    drawing.cast_shadow(&body);
    for (surface, away) in [(body.side(), drawing.style.from_left), (body.front(), false)] {
        drawing.canvas.poly(&surface, apart);
        drawing.shade_side(&surface, away);
    }
    let rows = if body.base - body.top > 32.0 { 3 } else { 2 };
    drawing.windows(&body.front(), 4, rows, (0.72, 0.62));
    let body = Body { left: old, right: old + wide, top: base - 22.0, base: base + 1.0, vanish, deep: 0.2 };
    let colour = drawing.palette.body;
    let pitch = drawing.rng.range(14.0, 20.0);
    house(drawing, &body, pitch, colour);
    openings(drawing, &body, pitch);
    drawing.passer_by((0.4, 0.6), base + 7.0, 8.6);
}

/// Draws a box on stilts over a slope or a meadow.
pub(super) fn raised(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(60.0, 68.0);
    drawing.landscape(horizon);
    let base = drawing.rng.range(80.0, 85.0);
    let wide = width * drawing.rng.range(0.42, 0.56);
    let left = width * drawing.rng.range(0.14, 0.3);
    let lift = drawing.rng.range(11.0, 17.0);
    let body = Body {
        left,
        right: left + wide,
        top: base - lift - drawing.rng.range(19.0, 27.0),
        base: base - lift,
        vanish: (width * 1.02, horizon),
        deep: drawing.rng.range(0.16, 0.3),
    };
    drawing.grove(horizon + 4.0, (left, body.right + 8.0));
    let (reach, under) = (drawing.shadow_reach() * 7.0, Body { top: base - 0.1, base, ..body });
    let (a, b) = ((left, base), (body.right, base));
    let (c, d) = (under.back(b), under.back(a));
    drawing.shade(&shifted([a, b, c, d], (reach, 0.0)), 1.1);
    let dark = drawing.palette.darkest.lighter(0.1);
    for leg in 0..5 {
        let x = left + wide * (0.06 + 0.22 * leg as f32);
        let back = under.back((x, base));
        drawing.canvas.line((back.0, back.1), (back.0, body.base), 0.5, dark.lighter(0.1));
        drawing.canvas.line((x, base), (x, body.base), 0.8, dark);
    }
    let colour = drawing.palette.body;
    drawing.body(&body, colour);
    drawing.canvas.rect(left - 0.8, body.top - 1.0, wide + 1.6, 1.4, dark);
    let band = drawing.rng.range(0.5, 0.66);
    let wall = body.front();
    drawing.windows(&sub_quad(&wall, (0.06, band), (0.2, 0.8)), 4, 1, (0.92, 1.0));
    drawing.window(&wall, (band + 0.1, band + 0.22), (0.3, 0.6));
    stair(drawing, (left + wide * 0.8, body.base), base);
    let at = (left + wide * drawing.rng.range(0.2, 0.7), base + 3.0);
    drawing.person(at, 8.8);
}

fn stair(drawing: &mut Drawing, top: Point, base: f32) {
    let ink = drawing.palette.darkest.lighter(0.1);
    let run = (base - top.1) * 1.2;
    drawing.canvas.line(top, (top.0 - run, base), 0.7, ink);
    let steps = shares(1..9, 9).map(|share| {
        let at = lerp(top, (top.0 - run, base), share);
        (at, (at.0 + 2.6, at.1))
    });
    drawing.canvas.lines(steps, 0.35, ink);
}
