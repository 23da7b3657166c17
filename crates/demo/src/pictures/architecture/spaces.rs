//! Enclosed spaces: courts, portals, halls.

use super::super::canvas::{Fill, Point};
use super::super::drawing::{Drawing, lerp};
use super::super::texture::{rect_quad, sub_quad};
use tiny_skia::{Path, PathBuilder};

/// Returns the outline of an opening with a round arch.
fn arch(x: f32, spring: f32, wide: f32, base: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (radius, bend) = (wide / 2.0, wide * 0.2761);
    path.move_to(x, base);
    path.line_to(x, spring);
    path.cubic_to(x, spring - bend, x + radius - bend, spring - radius, x + radius, spring - radius);
    path.cubic_to(x + radius + bend, spring - radius, x + wide, spring - bend, x + wide, spring);
    path.line_to(x + wide, base);
    path.close();
    path.finish()
}

/// Draws a court with an arcade at the back and walls left and right.
pub(super) fn court(drawing: &mut Drawing) {
    let width = drawing.width();
    let colour = drawing.palette.body;
    let base = drawing.rng.range(62.0, 67.0);
    let (left, right) = (width * 0.23, width * 0.77);
    drawing.sky(base);
    let top = drawing.rng.range(20.0, 28.0);
    let low = 108.0;
    let floor = [(left, base), (right, base), (width * 1.25, low), (-width * 0.25, low)];
    let paving = drawing.palette.ground.lighter(0.05);
    drawing.canvas.poly(&floor, paving);
    let joints: Vec<_> = (0..9)
        .map(|at| at as f32 / 8.0)
        .map(|at| (lerp(floor[0], floor[1], at), lerp(floor[3], floor[2], at)))
        .collect();
    drawing.canvas.lines(joints, 0.18, Fill::Alpha(paving.lighter(-0.12), 0.5));
    let rows =
        [0.12f32, 0.28, 0.5, 0.78].map(|at| (lerp(floor[0], floor[3], at), lerp(floor[1], floor[2], at)));
    drawing.canvas.lines(rows, 0.18, Fill::Alpha(paving.lighter(-0.12), 0.5));
    let behind = rect_quad(left, top, right - left, base - top);
    drawing.textured_quad(&behind, colour);
    let left_wall = [(-width * 0.25, top - 34.0), (left, top), (left, base), (-width * 0.25, low)];
    let right_wall = [(right, top), (width * 1.25, top - 34.0), (width * 1.25, low), (right, base)];
    for (wall, away) in [(left_wall, drawing.style.from_left), (right_wall, !drawing.style.from_left)] {
        drawing.textured_quad(&wall, colour);
        drawing.shade_side(&wall, away);
        drawing.windows(&sub_quad(&wall, (0.42, 0.96), (0.14, 0.4)), 4, 1, (0.42, 0.9));
    }
    let arches = drawing.rng.count(3, 6);
    let bay = (right - left) / arches as f32;
    let round = drawing.rng.chance(60);
    let spring = base - (base - top) * 0.36;
    let deep = colour.with_lightness((colour.light * 0.42).max(0.16));
    for at in 0..arches {
        let x = left + bay * (at as f32 + 0.16);
        let inside = if drawing.palette.lamps_on { drawing.palette.glow.lighter(-0.08) } else { deep };
        let opening = if round {
            arch(x, spring, bay * 0.68, base)
        } else {
            super::super::canvas::polygon(&rect_quad(
                x,
                spring - bay * 0.2,
                bay * 0.68,
                base - spring + bay * 0.2,
            ))
        };
        drawing.canvas.fill(
            opening,
            Fill::Linear((0.0, spring - 6.0), (0.0, base), (inside, 1.0), (inside.lighter(0.12), 1.0)),
        );
    }
    drawing.windows(&sub_quad(&behind, (0.0, 1.0), (0.08, 0.34)), arches, 1, (0.36, 0.9));
    let reach = drawing.shadow_reach();
    let (near, far) = if reach > 0.0 { (floor[3], floor[0]) } else { (floor[2], floor[1]) };
    let into = reach.signum() * width * drawing.rng.range(0.16, 0.34);
    drawing.shade(&[far, (far.0 + into, far.1), (near.0 + into * 2.1, near.1), near], 0.9);
    drawing.shade(&[far, (far.0 + into, far.1), (far.0, top + 6.0)], 0.8);
    let middle = (width * drawing.rng.range(0.44, 0.56), base + 12.0);
    if drawing.rng.chance(60) {
        let kind = drawing.rng.count(0, 3);
        drawing.tree(middle, 27.0, kind);
    } else {
        let water = drawing.palette.backdrop_top.lighter(-0.08);
        drawing.canvas.oval(middle, 17.0, 4.4, colour.lighter(0.05));
        drawing.canvas.oval((middle.0, middle.1 - 0.5), 15.6, 3.7, water);
    }
    let at = (width * drawing.rng.range(0.3, 0.7), base + 22.0);
    drawing.person(at, 12.5);
}

/// Draws a row of walls with aligned openings, and the land at their end.
pub(super) fn portals(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(58.0, 63.0);
    drawing.land(horizon);
    let middle = width * drawing.rng.range(0.42, 0.58);
    let kind = drawing.rng.count(0, 3);
    let at = (middle + drawing.rng.range(-4.0, 4.0), horizon + 4.0);
    drawing.tree(at, 15.0, kind);
    let colour = drawing.palette.body;
    let walls = drawing.rng.count(3, 4);
    let round = drawing.rng.chance(40);
    for wall in (0..walls).rev() {
        let near = 1.0 - wall as f32 / walls as f32;
        let size = near * near * 0.85 + 0.28;
        let sway = if wall % 2 == 0 { 1.0 } else { -1.0 } * drawing.rng.range(0.0, 3.0);
        let (wide, base) = (34.0 * size + 4.0, horizon + 38.0 * size * near + 3.0);
        let top = horizon - 46.0 * size;
        let x = middle - wide / 2.0 + sway;
        let tone = colour.lighter(0.09 - 0.13 * near);
        let floor = drawing.palette.ground.lighter(0.1 - 0.12 * near);
        drawing.canvas.rect(-1.0, base, width + 2.0, 102.0 - base, floor);
        let thick = 3.4 * size;
        wall_with_opening(drawing, (x, top, wide, base), round, tone);
        reveal(drawing, (x, top, wide, base), thick, round);
        let reach = drawing.shadow_reach();
        let lit = [
            (x, base),
            (x + wide, base),
            (x + wide + reach * 9.0, base + 13.0 * size),
            (x + reach * 9.0, base + 13.0 * size),
        ];
        drawing.shine(&lit, 0.32);
    }
    let at = (middle + drawing.rng.range(-6.0, 6.0), horizon + 27.0);
    drawing.person(at, 15.0);
}

/// Draws a textured wall over the whole width, with an opening.
fn wall_with_opening(
    drawing: &mut Drawing,
    (x, top, wide, base): (f32, f32, f32, f32),
    round: bool,
    tone: super::Colour,
) {
    let width = drawing.width();
    let above = if round { top - wide * 0.02 } else { top };
    for piece in [
        rect_quad(-1.0, -1.0, x + 1.0, base + 1.0),
        rect_quad(x + wide, -1.0, width + 1.0 - x - wide, base + 1.0),
        rect_quad(x - 0.1, -1.0, wide + 0.2, above + 1.0),
    ] {
        drawing.textured_quad(&piece, tone);
        drawing.fading_shade(&piece, piece[0], piece[3], 0.3);
    }
    if round {
        let spring = top + wide / 2.0;
        let mut path = PathBuilder::new();
        let bend = wide * 0.2239;
        path.move_to(x - 0.1, above - 0.1);
        path.line_to(x + wide + 0.1, above - 0.1);
        path.line_to(x + wide + 0.1, spring);
        path.cubic_to(x + wide, spring - wide * 0.2761, x + wide - bend, top, x + wide / 2.0, top);
        path.cubic_to(x + bend, top, x, spring - wide * 0.2761, x - 0.1, spring);
        path.close();
        drawing.canvas.fill(path.finish(), tone.lighter(-0.015));
    }
}

/// Draws the thickness of a wall at its opening.
fn reveal(drawing: &mut Drawing, (x, top, wide, base): (f32, f32, f32, f32), thick: f32, round: bool) {
    let start = if round { top + wide / 2.0 } else { top };
    let left = [(x, start), (x + thick, start + thick), (x + thick, base - thick * 0.5), (x, base)];
    let right = [
        (x + wide, start),
        (x + wide - thick, start + thick),
        (x + wide - thick, base - thick * 0.5),
        (x + wide, base),
    ];
    let (bright, dark) = if drawing.style.from_left { (right, left) } else { (left, right) };
    drawing.canvas.poly(&bright, drawing.palette.body.lighter(0.08));
    drawing.canvas.poly(&dark, drawing.palette.body.lighter(-0.14));
    if !round {
        let soffit = [(x, top), (x + wide, top), (x + wide - thick, top + thick), (x + thick, top + thick)];
        drawing.canvas.poly(&soffit, drawing.palette.body.lighter(-0.2));
    }
}

/// Draws a high room lit by an opening in its roof.
pub(super) fn hall(drawing: &mut Drawing) {
    let width = drawing.width();
    let colour = drawing.palette.body;
    let (left, right, top, base) = (width * 0.3, width * 0.7, 26.0, 70.0);
    let back = rect_quad(left, top, right - left, base - top);
    let ceiling = [(-1.0, -8.0), (width + 1.0, -8.0), (right, top), (left, top)];
    let floor = [(left, base), (right, base), (width + 1.0, 106.0), (-1.0, 106.0)];
    let left_wall = [(-1.0, -8.0), (left, top), (left, base), (-1.0, 106.0)];
    let right_wall = [(right, top), (width + 1.0, -8.0), (width + 1.0, 106.0), (right, base)];
    drawing.canvas.poly(&ceiling, colour.lighter(-0.16));
    drawing.canvas.poly(&floor, drawing.palette.ground);
    for (wall, away) in [(left_wall, drawing.style.from_left), (right_wall, !drawing.style.from_left)] {
        drawing.textured_quad(&wall, colour);
        drawing.fading_shade(&wall, (0.0, 0.0), (0.0, 100.0), if away { 1.1 } else { 0.7 });
    }
    drawing.textured_quad(&back, colour.lighter(0.03));
    let sky = sub_quad(&ceiling, (0.36, 0.64), (0.3, 0.86));
    let light = drawing.palette.lightest.mix(drawing.palette.glow, 0.25);
    drawing.canvas.poly(&sky, light);
    drawing.canvas.poly(
        &[sky[3], sky[2], lerp(sky[2], back[1], 0.3), lerp(sky[3], back[0], 0.3)],
        colour.lighter(-0.05),
    );
    let reach = drawing.shadow_reach().clamp(-0.5, 0.5) * 22.0;
    let spot = |at: Point| (width / 2.0 + (at.0 - width / 2.0) * 1.25 + reach, base + (at.1 + 8.0) * 0.62);
    let beam = [sky[0], sky[1], spot(sky[1]), spot(sky[0])];
    let mut patch = [spot(sky[3]), spot(sky[2]), spot(sky[1]), spot(sky[0])];
    patch.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (a, b, c, d) = (patch[0], patch[1], patch[2], patch[3]);
    drawing
        .shine(&[(a.0.min(b.0), a.1), (a.0.max(b.0), a.1), (c.0.max(d.0), c.1), (c.0.min(d.0), c.1)], 0.55);
    drawing.canvas.poly(&beam, Fill::Linear(sky[0], beam[3], (light, 0.3), (light, 0.03)));
    let round = drawing.rng.chance(50);
    let dark = colour.with_lightness((colour.light * 0.4).max(0.15));
    let wide = drawing.rng.range(9.0, 15.0);
    let x = width / 2.0 - wide / 2.0;
    let door = if round {
        arch(x, base - 17.0, wide, base)
    } else {
        super::super::canvas::polygon(&rect_quad(x, base - 24.0, wide, 24.0))
    };
    drawing
        .canvas
        .fill(door, Fill::Linear((0.0, base - 22.0), (0.0, base), (dark, 1.0), (dark.lighter(0.1), 1.0)));
    benches(drawing, base);
    let at = (width / 2.0 + drawing.rng.range(-10.0, 10.0), base + 8.0);
    drawing.person(at, 13.5);
}

/// Draws two rows of benches, left and right of the middle.
fn benches(drawing: &mut Drawing, base: f32) {
    let width = drawing.width();
    if drawing.rng.chance(50) {
        let wood = drawing.palette.second.mix(drawing.palette.body, 0.3).with_lightness(0.45);
        for row in 0..3 {
            let y = base + 5.0 + row as f32 * row as f32 * 3.2 + row as f32 * 3.0;
            let grow = (y - base) / 30.0 + 0.6;
            for side in [-1.0f32, 1.0] {
                let x = width / 2.0 + side * 25.0 * grow - 11.0 * grow;
                drawing.shade(&rect_quad(x + 1.0, y + 3.4 * grow, 22.0 * grow, 1.2 * grow), 1.0);
                drawing.canvas.rect(x, y, 22.0 * grow, 1.5 * grow, wood);
                drawing.canvas.rect(x + grow, y + 1.5 * grow, 1.0 * grow, 2.6 * grow, wood.lighter(-0.1));
                drawing.canvas.rect(
                    x + 20.0 * grow,
                    y + 1.5 * grow,
                    1.0 * grow,
                    2.6 * grow,
                    wood.lighter(-0.1),
                );
            }
        }
    }
}
