//! Vessels, bowls, baskets and small solids on a table.

use tiny_skia::{Path, PathBuilder};

use super::super::canvas::{Fill, Point, ellipse, polygon};
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::texture::rect_quad;
use super::{round, shadow, thing};

const BASE: f32 = 82.0;

/// Returns the outline of a turned body, from half widths at foot, belly, shoulder and lip.
fn turned(at: f32, base: f32, high: f32, half: [f32; 4]) -> Option<Path> {
    let [foot, belly, neck, lip] = half;
    let (middle, top) = (base - high * 0.45, base - high);
    let mut path = PathBuilder::new();
    path.move_to(at - foot, base);
    path.cubic_to(
        at - belly * 1.1,
        base - high * 0.12,
        at - belly * 1.1,
        middle - high * 0.12,
        at - neck,
        base - high * 0.76,
    );
    path.quad_to(at - neck * 0.9, base - high * 0.88, at - lip, top);
    path.line_to(at + lip, top);
    path.quad_to(at + neck * 0.9, base - high * 0.88, at + neck, base - high * 0.76);
    path.cubic_to(
        at + belly * 1.1,
        middle - high * 0.12,
        at + belly * 1.1,
        base - high * 0.12,
        at + foot,
        base,
    );
    path.quad_to(at, base + foot * 0.24, at - foot, base);
    path.close();
    path.finish()
}

fn vessel(drawing: &mut Drawing, at: f32, base: f32, size: (f32, f32), colour: Colour) {
    let (half, high) = size;
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
        let cut = base - high * drawing.rng.range(0.35, 0.7);
        drawing.canvas.clip(path);
        let glaze = drawing.palette.second.mix(colour, 0.25);
        drawing.canvas.poly(
            &rect_quad(at - half, base - high, half * 2.0, cut - base + high),
            Fill::Alpha(glaze, 0.75),
        );
        let drip = (at + half * drawing.rng.range(-0.5, 0.5), cut);
        drawing.canvas.oval(drip, half * 0.3, half * 0.2, Fill::Alpha(glaze, 0.75));
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
    let colour = thing(drawing);
    let second = drawing.palette.second;
    let room = (width * 0.8 / count as f32).min(33.0);
    let start = width / 2.0 - room * count as f32 / 2.0;
    for turn in 0..count {
        let back = turn % 2 == 1;
        let base = BASE - if back { 5.5 } else { 0.0 } + drawing.rng.range(-1.0, 1.0);
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
        let stem = ((at, 44.0), (at + drawing.rng.range(-9.0, 9.0), 16.0));
        drawing.canvas.lines([stem], 0.4, green);
        for leaf in 0..7 {
            let share = leaf as f32 / 7.0;
            let (x, y) = (at + (stem.1.0 - at) * share, 44.0 - 28.0 * share);
            let side = if leaf % 2 == 0 { 1.8 } else { -1.8 };
            drawing.canvas.oval((x + side, y), 1.9, 0.8, green.lighter(side * 0.02));
        }
    }
}

/// Draws a bowl, seen slightly from above.
fn bowl(drawing: &mut Drawing, at: Point, half: f32, high: f32, colour: Colour) {
    let mut path = PathBuilder::new();
    path.move_to(at.0 - half, at.1 - high);
    path.cubic_to(at.0 - half * 0.9, at.1 - high * 0.2, at.0 - half * 0.5, at.1, at.0 - half * 0.4, at.1);
    path.line_to(at.0 + half * 0.4, at.1);
    path.cubic_to(at.0 + half * 0.5, at.1, at.0 + half * 0.9, at.1 - high * 0.2, at.0 + half, at.1 - high);
    path.close();
    round(drawing, path.finish(), at.0 - half, at.0 + half, colour);
    let lip = half * 0.2;
    drawing.canvas.oval((at.0, at.1 - high), half, lip, colour.lighter(0.06));
    drawing.canvas.oval((at.0, at.1 - high + lip * 0.1), half * 0.93, lip * 0.86, colour.lighter(-0.12));
}

pub(super) fn bowls(drawing: &mut Drawing) {
    let width = drawing.width();
    let colour = thing(drawing);
    let second = drawing.palette.second;
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
    let colour = thing(drawing);
    let (half, high) = (drawing.rng.range(19.0, 23.0), drawing.rng.range(27.0, 36.0));
    let to = if drawing.style.from_left { 1.0 } else { -1.0 };
    shadow(drawing, BASE, at - half * 0.6, at + half * 0.6, high);
    let mut handle = PathBuilder::new();
    handle.move_to(at - to * half * 0.8, BASE - high * 0.25);
    handle.cubic_to(
        at - to * half * 1.8,
        BASE - high * 0.1,
        at - to * half * 1.7,
        BASE - high,
        at - to * half * 0.7,
        BASE - high * 0.85,
    );
    drawing.canvas.stroke(handle.finish(), 2.6, colour.lighter(-0.12));
    let mut spout = PathBuilder::new();
    spout.move_to(at + to * half * 0.6, BASE - high * 0.2);
    spout.quad_to(at + to * half * 1.25, BASE - high * 0.3, at + to * half * 1.6, BASE - high * 0.98);
    spout.line_to(at + to * half * 1.32, BASE - high * 0.98);
    spout.quad_to(at + to * half, BASE - high * 0.6, at + to * half * 0.6, BASE - high * 0.62);
    spout.close();
    drawing.canvas.fill(spout.finish(), colour.lighter(-0.07));
    let shape = drawing.rng.choose(&[[0.6, 1.0, 0.62, 0.5], [0.85, 0.95, 0.8, 0.72], [0.5, 0.9, 0.9, 0.55]]);
    round(drawing, turned(at, BASE, high, shape.map(|share| share * half)), at - half, at + half, colour);
    let lid = BASE - high;
    drawing.canvas.oval((at, lid), half * shape[3] * 1.04, half * 0.12, colour.lighter(0.05));
    let knob = drawing.palette.second;
    drawing.canvas.oval((at, lid - half * 0.18), half * 0.13, half * 0.12, knob);
    let cup = at - to * half * 1.8;
    bowl(drawing, (cup, BASE + 4.0), 7.0, 7.0, knob.lighter(0.04));
}

pub(super) fn basket(drawing: &mut Drawing) {
    let at = drawing.width() / 2.0 + drawing.rng.range(-4.0, 4.0);
    let colour = thing(drawing);
    let (half, high) = (drawing.rng.range(20.0, 27.0), drawing.rng.range(25.0, 36.0));
    shadow(drawing, BASE, at - half * 0.8, at + half * 0.8, high);
    let mut handle = PathBuilder::new();
    let rise = drawing.rng.range(12.0, 24.0);
    handle.move_to(at - half * 0.8, BASE - high);
    handle.cubic_to(
        at - half * 0.8,
        BASE - high - rise * 1.3,
        at + half * 0.8,
        BASE - high - rise * 1.3,
        at + half * 0.8,
        BASE - high,
    );
    drawing.canvas.stroke(handle.finish(), 1.8, drawing.palette.second);
    let foot = half * drawing.rng.range(0.6, 0.9);
    let quad = [(at - half, BASE - high), (at + half, BASE - high), (at + foot, BASE), (at - foot, BASE)];
    round(drawing, polygon(&quad), at - half, at + half, colour);
    let rows = 11;
    for row in 0..rows {
        let share = (row as f32 + 0.5) / rows as f32;
        let edge = half + (foot - half) * share;
        let y = BASE - high + high * share;
        let count = 16;
        let weave: Vec<_> = (0..count)
            .filter(|at| (at + row) % 2 == 0)
            .map(|piece| at - edge + edge * 2.0 * piece as f32 / count as f32)
            .map(|x| ((x + 0.5, y), (x + edge * 2.0 / count as f32 - 0.5, y)))
            .collect();
        drawing.canvas.lines(weave, high / rows as f32 * 0.62, Fill::Alpha(colour.lighter(0.09), 0.6));
    }
    drawing.canvas.oval((at, BASE - high), half, 3.4, colour.lighter(-0.22));
    drawing.canvas.stroke(ellipse((at, BASE - high), half, 3.4), 1.5, colour.lighter(0.06));
}

/// Draws a ball, a block, a cone and a bar, for toys and packages.
pub(super) fn solids(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (thing(drawing), drawing.palette.second);
    let paper = drawing.palette.lightest.lighter(-0.04);
    let tones = [colour, second, paper, colour.lighter(-0.14)];
    let left = width * 0.2;
    for turn in 0..4usize {
        let at = left + width * 0.2 * turn as f32;
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
                drawing.canvas.rect(at - size, base - high, size * 2.0, high, tone);
                drawing.texture(
                    &rect_quad(at - size, base - high, size * 2.0, high),
                    tone,
                    drawing.style.material,
                    0.9,
                );
                drawing.canvas.poly(
                    &[
                        (at - size, base - high),
                        (at + size, base - high),
                        (at + size * 1.4, base - high - 3.0),
                        (at - size * 0.6, base - high - 3.0),
                    ],
                    tone.lighter(0.08),
                );
                drawing.canvas.poly(
                    &[
                        (at + size, base - high),
                        (at + size * 1.4, base - high - 3.0),
                        (at + size * 1.4, base - 3.0),
                        (at + size, base),
                    ],
                    tone.lighter(-0.14),
                );
            }
            2 => {
                let high = size * 2.6;
                shadow(drawing, base, at - size, at + size, high * 0.8);
                round(
                    drawing,
                    polygon(&[(at, base - high), (at + size, base), (at - size, base)]),
                    at - size,
                    at + size,
                    tone,
                );
            }
            _ => {
                let high = size * 3.4;
                shadow(drawing, base, at - size * 0.6, at + size * 0.6, high);
                round(
                    drawing,
                    polygon(&rect_quad(at - size * 0.6, base - high, size * 1.2, high)),
                    at - size * 0.6,
                    at + size * 0.6,
                    tone,
                );
                drawing.canvas.oval((at, base - high), size * 0.6, size * 0.14, tone.lighter(0.07));
            }
        }
    }
}
