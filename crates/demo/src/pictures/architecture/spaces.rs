//! Enclosed spaces: courts, portals, halls.

use tiny_skia::Path;

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Close, Curve, To};
use super::super::geometry::{
    Point, lerp, lines_across, lines_down, outline, polygon, rect_quad, shares, slant, sub_quad, taper,
};

/// The position of the control points of a quarter of a circle, in radii.
const BEND: f32 = 0.5522;

/// Returns the outline of an opening; with a round arch of half its width above `spring`, or a straight lintel.
fn opening(x: f32, spring: f32, wide: f32, base: f32, round: bool) -> Option<Path> {
    if !round {
        return polygon(&rect_quad(x, spring, wide, base - spring));
    }
    let (radius, low) = (wide / 2.0, (base - spring) / (wide / 2.0));
    let parts = [
        To(-1.0, 0.0),
        Curve(-1.0, -BEND, -BEND, -1.0, 0.0, -1.0),
        Curve(BEND, -1.0, 1.0, -BEND, 1.0, 0.0),
        To(1.0, low),
        Close,
    ];
    outline((x + radius, spring), (radius, radius), (-1.0, low), &parts)
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
    let joint = Fill::Alpha(paving.lighter(-0.12), 0.5);
    drawing.canvas.lines(lines_down(&floor, shares(0..9, 8)), 0.18, joint);
    drawing.canvas.lines(lines_across(&floor, [0.12, 0.28, 0.5, 0.78]), 0.18, joint);
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
    let inside = if drawing.palette.lamps_on { drawing.palette.glow.lighter(-0.08) } else { deep };
    let depth = Fill::down(spring - 6.0, base, inside, inside.lighter(0.12));
    let top_of_opening = if round { spring } else { spring - bay * 0.2 };
    for at in 0..arches {
        let x = left + bay * (at as f32 + 0.16);
        drawing.canvas.fill(opening(x, top_of_opening, bay * 0.68, base, round), depth);
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
    drawing.passer_by((0.3, 0.7), base + 22.0, 12.5);
}

/// Draws a row of walls with aligned openings, and the land at their end.
pub(super) fn portals(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(58.0, 63.0);
    drawing.landscape(horizon);
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
        drawing.band(base, 102.0, floor);
        let thick = 3.4 * size;
        wall_with_opening(drawing, (x, top, wide, base), round, tone);
        reveal(drawing, (x, top, wide, base), thick, round);
        let reach = (drawing.shadow_reach() * 9.0, 13.0 * size);
        drawing.shine(&slant((x, x + wide), base, reach), 0.32);
    }
    let at = (middle + drawing.rng.range(-6.0, 6.0), horizon + 27.0);
    drawing.person(at, 15.0);
}

/// Draws a textured wall over the whole width, with an opening.
fn wall_with_opening(
    drawing: &mut Drawing,
    (x, top, wide, base): (f32, f32, f32, f32),
    round: bool,
    tone: Colour,
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
        let (radius, edge) = (wide / 2.0, 1.0 + 0.2 / wide);
        let high = (above - 0.1 - top) / radius - 1.0;
        let parts = [
            To(edge, high),
            To(edge, 0.0),
            Curve(1.0, -BEND, BEND, -1.0, 0.0, -1.0),
            Curve(-BEND, -1.0, -1.0, -BEND, -edge, 0.0),
            Close,
        ];
        let spandrels = outline((x + radius, top + radius), (radius, radius), (-edge, high), &parts);
        drawing.canvas.fill(spandrels, tone.lighter(-0.015));
    }
}

/// Draws the thickness of a wall at its opening.
fn reveal(drawing: &mut Drawing, (x, top, wide, base): (f32, f32, f32, f32), thick: f32, round: bool) {
    let start = if round { top + wide / 2.0 } else { top };
    let jamb = |x: f32, thick: f32| {
        [(x, start), (x + thick, start + thick.abs()), (x + thick, base - thick.abs() * 0.5), (x, base)]
    };
    let (left, right) = (jamb(x, thick), jamb(x + wide, -thick));
    let (bright, dark) = if drawing.style.from_left { (right, left) } else { (left, right) };
    drawing.canvas.poly(&bright, drawing.palette.body.lighter(0.08));
    drawing.canvas.poly(&dark, drawing.palette.body.lighter(-0.14));
    if !round {
        let (middle, half) = (x + wide / 2.0, wide / 2.0);
        let soffit = taper((middle, top), half, (middle, top + thick), half - thick);
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
    patch[..2].sort_by(|a, b| a.0.total_cmp(&b.0));
    patch[2..].sort_by(|a, b| b.0.total_cmp(&a.0));
    drawing.shine(&patch, 0.55);
    drawing.canvas.poly(&beam, Fill::Linear(sky[0], beam[3], (light, 0.3), (light, 0.03)));
    let round = drawing.rng.chance(50);
    let dark = colour.with_lightness((colour.light * 0.4).max(0.15));
    let wide = drawing.rng.range(9.0, 15.0);
    let top = if round { base - 17.0 } else { base - 24.0 };
    let door = opening(width / 2.0 - wide / 2.0, top, wide, base, round);
    drawing.canvas.fill(door, Fill::down(base - 22.0, base, dark, dark.lighter(0.1)));
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
                for leg in [x + grow, x + 20.0 * grow] {
                    drawing.canvas.rect(leg, y + 1.5 * grow, grow, 2.6 * grow, wood.lighter(-0.1));
                }
            }
        }
    }
}
