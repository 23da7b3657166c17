//! Sculptures in an empty room.

use tiny_skia::PathBuilder;

use super::super::canvas::{Fill, Point, curve};
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::texture::rect_quad;

const BASE: f32 = 84.0;

/// Draws a white room, with light from one side; returns its colour.
fn room(drawing: &mut Drawing) -> Colour {
    let (palette, width) = (drawing.palette, drawing.width());
    let light = if palette.lamps_on {
        0.4
    } else if palette.body.light > 0.72 {
        0.64
    } else {
        0.88
    };
    let wall = palette.body.with_lightness(light).muted(0.4).mix(palette.lightest.with_lightness(light), 0.5);
    let edge = 68.0;
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (width, edge),
        (wall.lighter(0.03), 1.0),
        (wall.lighter(-0.03), 1.0),
    ));
    let floor = wall.lighter(-0.1).mix(palette.second.with_lightness(wall.light - 0.1), 0.25);
    drawing.canvas.rect(
        -1.0,
        edge,
        width + 2.0,
        34.0,
        Fill::Linear((0.0, edge), (0.0, 100.0), (floor, 1.0), (floor.lighter(0.05), 1.0)),
    );
    drawing.canvas.line((-1.0, edge), (width + 1.0, edge), 0.5, wall.lighter(0.06));
    let x = if drawing.style.from_left { width * 0.05 } else { width * 0.95 };
    let glow = palette.glow.lighter(0.06);
    drawing.canvas.fill_all(Fill::Radial((x, 8.0), 90.0, (glow, 0.3), (glow, 0.0)));
    wall
}

fn solid(drawing: &mut Drawing, x: f32, top: f32, wide: f32, base: f32, tone: Colour) {
    let quad = rect_quad(x, top, wide, base - top);
    let deep = wide * 0.22;
    let side = [
        (x + wide, top),
        (x + wide + deep, top - deep * 0.5),
        (x + wide + deep, base - deep * 0.5),
        (x + wide, base),
    ];
    drawing.canvas.poly(
        &[(x, top), (x + wide, top), (x + wide + deep, top - deep * 0.5), (x + deep, top - deep * 0.5)],
        tone.lighter(0.09),
    );
    drawing.textured_quad(&quad, tone);
    drawing.textured_quad(&side, tone.lighter(if drawing.style.from_left { -0.11 } else { 0.03 }));
    if !drawing.style.from_left {
        drawing.shade(&quad, 0.35);
    }
}

/// Draws the shadow of the work on the floor.
fn floor_shadow(drawing: &mut Drawing, left: f32, right: f32, high: f32) {
    let reach = drawing.shadow_reach() * high * 0.6;
    let (from, to) = (((left + right) / 2.0, BASE), ((left + right) / 2.0 + reach, BASE - 7.0));
    drawing.fading_shade(
        &[(left, BASE), (right, BASE), (right + reach, BASE - 7.0), (left + reach, BASE - 7.0)],
        from,
        to,
        1.0,
    );
    drawing.contact_shadow(from, (right - left) / 2.0 + 3.0, 1.7);
}

pub(super) fn blocks(drawing: &mut Drawing) {
    room(drawing);
    let width = drawing.width();
    let (body, second) = (drawing.palette.body, drawing.palette.second);
    let groups = drawing.rng.count(1, 3);
    for group in 0..groups {
        let at = width * (group as f32 + 1.0) / (groups as f32 + 1.0);
        let most = (34.0 / groups as f32 + 9.0).min(34.0);
        floor_shadow(drawing, at - most / 2.0, at + most / 2.0, 46.0);
        let mut base = BASE;
        let count = drawing.rng.count(2, 5);
        for block in 0..count {
            let high = drawing.rng.range(7.0, 17.0);
            let wide = most * drawing.rng.range(0.45, 1.0);
            if base - high < 14.0 {
                break;
            }
            let off = drawing.rng.range(-0.12, 0.12) * most;
            let tone = if block == 1 && group == 0 {
                second.mix(body, 0.3)
            } else {
                body.lighter(drawing.rng.range(-0.03, 0.03))
            };
            solid(drawing, at - wide / 2.0 + off, base - high, wide, base, tone);
            base -= high;
        }
    }
    viewer(drawing);
}

pub(super) fn arches(drawing: &mut Drawing) {
    room(drawing);
    let width = drawing.width();
    let body = drawing.palette.body;
    let count = drawing.rng.count(1, 3);
    let size = drawing.rng.range(40.0, 52.0);
    for turn in 0..count {
        let share = 1.0 - 0.22 * turn as f32;
        let (half, high) = (size * 0.5 * share, size * 1.15 * share);
        let at = width * (0.38 + 0.17 * turn as f32);
        let base = BASE + 2.4 * turn as f32;
        floor_shadow(drawing, at - half, at + half, high);
        let thick = half * drawing.rng.range(0.3, 0.5);
        let mut path = PathBuilder::new();
        let outer = |path: &mut PathBuilder, off: Point, half: f32, high: f32, start: bool| {
            let (x, y) = (at + off.0, base + off.1);
            if start {
                path.move_to(x - half, y)
            } else {
                path.line_to(x - half, y)
            }
            path.cubic_to(x - half, y - high * 1.32, x + half, y - high * 1.32, x + half, y);
        };
        outer(&mut path, (3.4, -1.7), half, high, true);
        path.close();
        let tone = if turn == 1 { drawing.palette.second } else { body.lighter(-0.02 * turn as f32) };
        drawing.canvas.fill(path.finish(), tone.lighter(if drawing.style.from_left { -0.14 } else { 0.05 }));
        let mut front = PathBuilder::new();
        outer(&mut front, (0.0, 0.0), half, high, true);
        front.line_to(at + half - thick, base);
        let (inner, low) = (half - thick, high - thick * 0.8);
        front.cubic_to(at + inner, base - low * 1.32, at - inner, base - low * 1.32, at - inner, base);
        front.close();
        let front = front.finish();
        let hole = drawing.palette.shadow;
        drawing.canvas.fill(front.clone(), tone);
        drawing.canvas.clip(front);
        let quad = rect_quad(at - half, base - high, half * 2.0, high);
        let material = drawing.style.material;
        drawing.texture(&quad, tone, material, 1.0);
        drawing.turn_light(&quad);
        drawing.canvas.unclip();
        let edge = [
            (at - inner, base),
            (at - inner * 0.8, base - low * 0.66),
            (at - inner * 0.3, base - low * 0.95),
        ];
        drawing.canvas.stroke(curve(&edge).finish(), 0.5, Fill::Alpha(hole, 0.35));
    }
    viewer(drawing);
}

impl Drawing<'_> {
    /// Lightens the side towards the light and darkens the other.
    fn turn_light(&mut self, quad: &[Point; 4]) {
        let (from, to) = if self.style.from_left { (quad[0], quad[1]) } else { (quad[1], quad[0]) };
        let (glow, shadow, depth) =
            (self.palette.glow.lighter(0.06), self.palette.shadow, self.palette.shadow_opacity);
        self.canvas.poly(quad, Fill::Linear(from, to, (glow, 0.2), (shadow, depth * 0.5)));
    }
}

/// Draws a person who looks at it.
fn viewer(drawing: &mut Drawing) {
    let width = drawing.width();
    let side = if drawing.rng.chance(50) { 0.09 } else { 0.91 };
    let at = (width * side, 87.0);
    drawing.person(at, 25.0);
}

pub(super) fn vessels(drawing: &mut Drawing) {
    let wall = room(drawing);
    let width = drawing.width();
    let (body, second) = (drawing.palette.body, drawing.palette.second);
    let (left, wide, top) = (width * 0.16, width * 0.66, 66.0);
    let count = drawing.rng.count(3, 6);
    drawing.shade(
        &[
            (left, 98.0),
            (left + wide, 98.0),
            (left + wide + drawing.shadow_reach() * 8.0, 90.0),
            (left + drawing.shadow_reach() * 8.0, 90.0),
        ],
        0.7,
    );
    let plinth = wall.lighter(0.06);
    drawing.canvas.rect(left, top, wide, 32.0, plinth.lighter(-0.05));
    drawing.canvas.poly(
        &[(left, top), (left + wide, top), (left + wide - 4.0, top - 5.0), (left + 4.0, top - 5.0)],
        plinth.lighter(0.03),
    );
    for turn in 0..count {
        let at = left + wide * (turn as f32 + 0.7) / (count as f32 + 0.4);
        let half = wide / count as f32 * drawing.rng.range(0.26, 0.4);
        let high = drawing.rng.range(15.0, 42.0);
        let base = top - drawing.rng.range(0.8, 3.6);
        let reach = drawing.shadow_reach() * high * 0.35;
        drawing.shade(
            &[
                (at - half * 0.5, base),
                (at + half * 0.5, base),
                (at + half * 0.4 + reach, base - 3.0),
                (at - half * 0.4 + reach, base - 3.0),
            ],
            0.8,
        );
        let (neck, belly) = (half * drawing.rng.range(0.25, 0.8), half * 1.15);
        let mut path = PathBuilder::new();
        path.move_to(at - half * 0.5, base);
        path.cubic_to(
            at - belly,
            base - high * 0.15,
            at - belly,
            base - high * 0.6,
            at - neck,
            base - high * 0.8,
        );
        path.line_to(at - neck, base - high);
        path.line_to(at + neck, base - high);
        path.line_to(at + neck, base - high * 0.8);
        path.cubic_to(at + belly, base - high * 0.6, at + belly, base - high * 0.15, at + half * 0.5, base);
        path.close();
        let tone = if turn % 3 == 1 { second } else { body.lighter(drawing.rng.range(-0.06, 0.06)) };
        let (bright, dark) =
            if drawing.style.from_left { (at - half, at + half) } else { (at + half, at - half) };
        drawing.canvas.fill(
            path.finish(),
            Fill::Linear((bright, 0.0), (dark, 0.0), (tone.lighter(0.07), 1.0), (tone.lighter(-0.13), 1.0)),
        );
        drawing.canvas.oval((at, base - high), neck, neck * 0.2, tone.lighter(-0.2));
    }
}

pub(super) fn mobile(drawing: &mut Drawing) {
    let wall = room(drawing);
    let width = drawing.width();
    let (body, second, ink) = (drawing.palette.body, drawing.palette.second, drawing.palette.darkest);
    let off = (drawing.shadow_reach().clamp(-1.0, 1.0) * 9.0, 9.0);
    let middle = width / 2.0;
    let mut spots: Vec<(Point, f32, Colour)> = Vec::new();
    let mut wires: Vec<(Point, Point)> = vec![((middle, -1.0), (middle, 17.0))];
    let mut hang = (middle, 17.0);
    let tones = [body, second, body.lighter(-0.12), body.mix(wall, 0.4), second.lighter(0.08)];
    for level in 0..drawing.rng.count(3, 4) {
        let side = if level % 2 == 0 { 1.0 } else { -1.0 };
        let (long, short) =
            (drawing.rng.range(24.0, 32.0) * (1.0 - 0.16 * level as f32), drawing.rng.range(10.0, 16.0));
        let (far, near) = ((hang.0 + side * long, hang.1 + 3.5), (hang.0 - side * short, hang.1 - 1.5));
        wires.push((near, far));
        let drop = drawing.rng.range(5.0, 10.0);
        wires.push((far, (far.0, far.1 + drop)));
        let size = drawing.rng.range(5.0, 8.5);
        spots.push(((far.0, far.1 + drop + size), size, tones[level % 5]));
        hang = (near.0, near.1 + drawing.rng.range(7.0, 12.0));
        wires.push((near, hang));
    }
    spots.push(((hang.0, hang.1 + 6.0), 6.0, second));
    for (at, size, _) in &spots {
        let veil = Fill::Alpha(drawing.palette.shadow, drawing.palette.shadow_opacity * 0.35);
        drawing.canvas.oval((at.0 + off.0, at.1 + off.1), *size, size * 0.96, veil);
    }
    drawing.canvas.lines(
        wires.iter().map(|(a, b)| ((a.0 + off.0, a.1 + off.1), (b.0 + off.0, b.1 + off.1))),
        0.3,
        Fill::Alpha(drawing.palette.shadow, 0.15),
    );
    drawing.canvas.lines(wires.iter().copied(), 0.35, ink);
    for (at, size, tone) in spots {
        drawing.canvas.oval(at, size, size * 0.96, tone);
    }
    viewer(drawing);
}
