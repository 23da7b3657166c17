//! Vessels, bowls, baskets and small solids on a table.

use tiny_skia::Path;

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Bend, Close, Curve, To};
use super::super::geometry::{Point, ellipse, outline, polygon, rect_quad, slant, taper};
use super::{round, shadow};

const BASE: f32 = 82.0;

/// Returns the outline of a turned body, from half widths at foot, belly, shoulder and lip.
fn turned(at: f32, base: f32, high: f32, [foot, belly, neck, lip]: [f32; 4]) -> Option<Path> {
    let bulge = belly * 1.1;
    let parts = [
        Curve(-bulge, 0.12, -bulge, 0.57, -neck, 0.76),
        Bend(-neck * 0.9, 0.88, -lip, 1.0),
        To(lip, 1.0),
        Bend(neck * 0.9, 0.88, neck, 0.76),
        Curve(bulge, 0.57, bulge, 0.12, foot, 0.0),
        Bend(0.0, -foot * 0.24 / high, -foot, 0.0),
        Close,
    ];
    outline((at, base), (1.0, -high), (-foot, 0.0), &parts)
}

fn vessel(drawing: &mut Drawing, at: f32, base: f32, (half, high): (f32, f32), colour: Colour) {
    let shape = drawing.rng.choose(&[
        [0.5, 1.0, 0.3, 0.36],
        [0.62, 0.9, 0.7, 0.78],
        [0.42, 1.0, 0.62, 0.5],
        [0.7, 0.74, 0.68, 0.7],
        [0.4, 0.8, 0.22, 0.3],
    ]);
    let widths = shape.map(|share| share * half);
    shadow(drawing, base, at - widths[0], at + widths[0], high);
    let path = turned(at, base, high, widths);
    round(drawing, path.clone(), at - half, at + half, colour);
    if drawing.rng.chance(45) {
        let glazed = high * (1.0 - drawing.rng.range(0.35, 0.7));
        drawing.canvas.clip(path);
        let glaze = Fill::Alpha(drawing.palette.second.mix(colour, 0.25), 0.75);
        drawing.canvas.poly(&rect_quad(at - half, base - high, half * 2.0, glazed), glaze);
        let drip = (at + half * drawing.rng.range(-0.5, 0.5), base - high + glazed);
        drawing.canvas.oval(drip, half * 0.3, half * 0.2, glaze);
        drawing.canvas.unclip();
    }
    drawing.canvas.oval((at, base - high), widths[3], widths[3] * 0.22, colour.lighter(-0.2));
}

/// Draws one small vessel.
pub(super) fn small(drawing: &mut Drawing, at: Point, size: f32) {
    let colour = drawing.palette.second;
    let path = turned(at.0, at.1, size * 2.2, [0.5, 1.0, 0.4, 0.45].map(|share| share * size));
    drawing.contact_shadow((at.0 + drawing.shadow_reach() * size * 0.4, at.1), size, size * 0.16);
    round(drawing, path, at.0 - size, at.0 + size, colour);
    drawing.canvas.oval((at.0, at.1 - size * 2.2), size * 0.45, size * 0.1, colour.lighter(-0.18));
}

pub(super) fn group(drawing: &mut Drawing) {
    let width = drawing.width();
    let count = drawing.rng.count(2, 5);
    let (colour, second) = (drawing.palette.body, drawing.palette.second);
    let room = (width * 0.8 / count as f32).min(33.0);
    let start = width / 2.0 - room * count as f32 / 2.0;
    for turn in 0..count {
        let back = if turn % 2 == 1 { 5.5 } else { 0.0 };
        let base = BASE - back + drawing.rng.range(-1.0, 1.0);
        let at = start + room * (turn as f32 + 0.5);
        let (half, high) = (room * drawing.rng.range(0.34, 0.5), drawing.rng.range(20.0, 50.0));
        let tone = match turn {
            1 => second,
            0 => colour,
            _ => colour.lighter(0.09 - 0.06 * turn as f32),
        };
        vessel(drawing, at, base, (half, high), tone);
    }
    if drawing.rng.chance(40) {
        let green = drawing.palette.green;
        let at = start + room * 0.5;
        let tip = (at + drawing.rng.range(-9.0, 9.0), 16.0);
        drawing.canvas.line((at, 44.0), tip, 0.4, green);
        for leaf in 0..7 {
            let share = leaf as f32 / 7.0;
            let side = if leaf % 2 == 0 { 1.8 } else { -1.8 };
            let spot = (at + (tip.0 - at) * share + side, 44.0 - 28.0 * share);
            drawing.canvas.oval(spot, 1.9, 0.8, green.lighter(side * 0.02));
        }
    }
}

/// Draws a bowl, seen slightly from above.
fn bowl(drawing: &mut Drawing, at: Point, half: f32, high: f32, colour: Colour) {
    let parts =
        [Curve(-0.9, -0.2, -0.5, 0.0, -0.4, 0.0), To(0.4, 0.0), Curve(0.5, 0.0, 0.9, -0.2, 1.0, -1.0), Close];
    let path = outline(at, (half, high), (-1.0, -1.0), &parts);
    round(drawing, path, at.0 - half, at.0 + half, colour);
    let lip = half * 0.2;
    drawing.canvas.oval((at.0, at.1 - high), half, lip, colour.lighter(0.06));
    drawing.canvas.oval((at.0, at.1 - high + lip * 0.1), half * 0.93, lip * 0.86, colour.lighter(-0.12));
}

pub(super) fn bowls(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (drawing.palette.body, drawing.palette.second);
    let at = (width * drawing.rng.range(0.32, 0.4), BASE);
    let count = drawing.rng.count(3, 5);
    shadow(drawing, BASE, at.0 - 10.0, at.0 + 10.0, 30.0);
    for step in 0..count {
        let tone = if step % 2 == 0 { colour } else { second.mix(colour, 0.35) };
        bowl(drawing, (at.0, at.1 - 6.4 * step as f32), 22.0 - 1.5 * step as f32, 9.5, tone);
    }
    let cup = (width * 0.68, BASE + 3.0);
    shadow(drawing, cup.1, cup.0 - 6.0, cup.0 + 6.0, 16.0);
    vessel(drawing, cup.0, cup.1, (9.0, drawing.style.colour.light * 8.0 + 13.0), second);
    let plate = (width * 0.84, BASE - 1.0);
    drawing.contact_shadow(plate, 15.0, 2.4);
    drawing.canvas.oval((plate.0, plate.1 - 0.8), 14.0, 2.9, colour.lighter(0.07));
    drawing.canvas.oval((plate.0, plate.1 - 0.9), 10.0, 1.9, colour.lighter(-0.05));
}

pub(super) fn teapot(drawing: &mut Drawing) {
    let at = drawing.width() / 2.0 + drawing.rng.range(-4.0, 4.0);
    let colour = drawing.palette.body;
    let (half, high) = (drawing.rng.range(19.0, 23.0), drawing.rng.range(27.0, 36.0));
    let to = if drawing.style.from_left { half } else { -half };
    shadow(drawing, BASE, at - half * 0.6, at + half * 0.6, high);
    let handle = [Curve(-1.8, -0.1, -1.7, -1.0, -0.7, -0.85)];
    let handle = outline((at, BASE), (to, high), (-0.8, -0.25), &handle);
    drawing.canvas.stroke(handle, 2.6, colour.lighter(-0.12));
    let spout = [Bend(1.25, -0.3, 1.6, -0.98), To(1.32, -0.98), Bend(1.0, -0.6, 0.6, -0.62), Close];
    let spout = outline((at, BASE), (to, high), (0.6, -0.2), &spout);
    drawing.canvas.fill(spout, colour.lighter(-0.07));
    let shape = drawing.rng.choose(&[[0.6, 1.0, 0.62, 0.5], [0.85, 0.95, 0.8, 0.72], [0.5, 0.9, 0.9, 0.55]]);
    round(drawing, turned(at, BASE, high, shape.map(|share| share * half)), at - half, at + half, colour);
    let lid = BASE - high;
    drawing.canvas.oval((at, lid), half * shape[3] * 1.04, half * 0.12, colour.lighter(0.05));
    let knob = drawing.palette.second;
    drawing.canvas.oval((at, lid - half * 0.18), half * 0.13, half * 0.12, knob);
    bowl(drawing, (at - to * 1.8, BASE + 4.0), 7.0, 7.0, knob.lighter(0.04));
}

pub(super) fn basket(drawing: &mut Drawing) {
    let at = drawing.width() / 2.0 + drawing.rng.range(-4.0, 4.0);
    let colour = drawing.palette.body;
    let (half, high) = (drawing.rng.range(20.0, 27.0), drawing.rng.range(25.0, 36.0));
    shadow(drawing, BASE, at - half * 0.8, at + half * 0.8, high);
    let rim = (at, BASE - high);
    let rise = drawing.rng.range(12.0, 24.0);
    let handle = [Curve(-0.8, -1.3, 0.8, -1.3, 0.8, 0.0)];
    let handle = outline(rim, (half, rise), (-0.8, 0.0), &handle);
    drawing.canvas.stroke(handle, 1.8, drawing.palette.second);
    let foot = half * drawing.rng.range(0.6, 0.9);
    let body = polygon(&taper(rim, half, (at, BASE), foot));
    round(drawing, body, at - half, at + half, colour);
    for row in 0..11 {
        let share = (row as f32 + 0.5) / 11.0;
        let (edge, y) = (half + (foot - half) * share, rim.1 + high * share);
        let weave = (0..16)
            .filter(|at| (at + row) % 2 == 0)
            .map(|piece| at - edge + edge * 2.0 * piece as f32 / 16.0)
            .map(|x| ((x + 0.5, y), (x + edge / 8.0 - 0.5, y)));
        drawing.canvas.lines(weave, high / 11.0 * 0.62, Fill::Alpha(colour.lighter(0.09), 0.6));
    }
    drawing.canvas.oval(rim, half, 3.4, colour.lighter(-0.22));
    drawing.canvas.stroke(ellipse(rim, half, 3.4), 1.5, colour.lighter(0.06));
}

/// Draws a ball, a block, a cone and a bar, for toys and packages.
pub(super) fn solids(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (drawing.palette.body, drawing.palette.second);
    let paper = drawing.palette.lightest.lighter(-0.04);
    let tones = [colour, second, paper, colour.lighter(-0.14)];
    for turn in 0..4usize {
        let at = width * 0.2 + width * 0.2 * turn as f32;
        let base = BASE - if turn % 2 == 1 { 5.0 } else { 0.0 };
        let (size, tone) = (drawing.rng.range(8.0, 11.5), tones[(turn + drawing.rng.count(0, 1)) % 4]);
        match (turn + drawing.rng.count(0, 2)) % 4 {
            0 => {
                shadow(drawing, base, at - size * 0.5, at + size * 0.5, size * 2.0);
                round(drawing, ellipse((at, base - size), size, size), at - size, at + size, tone);
            }
            1 => {
                let high = size * drawing.rng.range(1.6, 3.6);
                shadow(drawing, base, at - size, at + size, high);
                let (top, deep) = (base - high, (size * 0.4, -3.0));
                let front = rect_quad(at - size, top, size * 2.0, high);
                drawing.canvas.poly(&front, tone);
                drawing.texture(&front, tone, drawing.style.material, 0.9);
                drawing.canvas.poly(&slant((at - size, at + size), top, deep), tone.lighter(0.08));
                let (near, far) = (at + size, at + size + deep.0);
                let side = [(near, top), (far, top + deep.1), (far, base + deep.1), (near, base)];
                drawing.canvas.poly(&side, tone.lighter(-0.14));
            }
            2 => {
                let high = size * 2.6;
                shadow(drawing, base, at - size, at + size, high * 0.8);
                let cone = polygon(&[(at, base - high), (at + size, base), (at - size, base)]);
                round(drawing, cone, at - size, at + size, tone);
            }
            _ => {
                let (half, high) = (size * 0.6, size * 3.4);
                shadow(drawing, base, at - half, at + half, high);
                let bar = polygon(&rect_quad(at - half, base - high, half * 2.0, high));
                round(drawing, bar, at - half, at + half, tone);
                drawing.canvas.oval((at, base - high), half, size * 0.14, tone.lighter(0.07));
            }
        }
    }
}
