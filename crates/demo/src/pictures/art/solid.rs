//! Works that stand or hang in an empty room.

use tiny_skia::PathBuilder;

use super::super::canvas::{At, Ink, curve};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::upright;

const BASE: f32 = 84.0;

/// White room, with light from one side.
fn room(sheet: &mut Sheet) -> Colour {
    let (palette, width) = (sheet.palette, sheet.width());
    let light = if palette.lit {
        0.4
    } else if palette.body.light > 0.72 {
        0.64
    } else {
        0.88
    };
    let wall = palette.body.at(light).muted(0.4).mix(palette.paper.at(light), 0.5);
    let edge = 68.0;
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (width, edge), (wall.lit(0.03), 1.0), (wall.lit(-0.03), 1.0)));
    let floor = wall.lit(-0.1).mix(palette.second.at(wall.light - 0.1), 0.25);
    sheet.canvas.rect(
        -1.0,
        edge,
        width + 2.0,
        34.0,
        Ink::Fade((0.0, edge), (0.0, 100.0), (floor, 1.0), (floor.lit(0.05), 1.0)),
    );
    sheet.canvas.line((-1.0, edge), (width + 1.0, edge), 0.5, wall.lit(0.06));
    let x = if sheet.look.from_left { width * 0.05 } else { width * 0.95 };
    let glow = palette.glow.lit(0.06);
    sheet.canvas.wash(Ink::Glow((x, 8.0), 90.0, (glow, 0.3), (glow, 0.0)));
    wall
}

fn solid(sheet: &mut Sheet, x: f32, top: f32, wide: f32, base: f32, tone: Colour) {
    let quad = upright(x, top, wide, base - top);
    let deep = wide * 0.22;
    let side = [
        (x + wide, top),
        (x + wide + deep, top - deep * 0.5),
        (x + wide + deep, base - deep * 0.5),
        (x + wide, base),
    ];
    sheet.canvas.poly(
        &[(x, top), (x + wide, top), (x + wide + deep, top - deep * 0.5), (x + deep, top - deep * 0.5)],
        tone.lit(0.09),
    );
    sheet.face(&quad, tone);
    sheet.face(&side, tone.lit(if sheet.look.from_left { -0.11 } else { 0.03 }));
    if !sheet.look.from_left {
        sheet.shade(&quad, 0.35);
    }
}

/// The shadow of the whole on the floor.
fn fall(sheet: &mut Sheet, left: f32, right: f32, high: f32) {
    let reach = sheet.reach() * high * 0.6;
    let (from, to) = (((left + right) / 2.0, BASE), ((left + right) / 2.0 + reach, BASE - 7.0));
    sheet.fading_shade(
        &[(left, BASE), (right, BASE), (right + reach, BASE - 7.0), (left + reach, BASE - 7.0)],
        from,
        to,
        1.0,
    );
    sheet.contact(from, (right - left) / 2.0 + 3.0, 1.7);
}

pub(super) fn blocks(sheet: &mut Sheet) {
    room(sheet);
    let width = sheet.width();
    let (body, second) = (sheet.palette.body, sheet.palette.second);
    let groups = sheet.hand.count(1, 3);
    for group in 0..groups {
        let at = width * (group as f32 + 1.0) / (groups as f32 + 1.0);
        let most = (34.0 / groups as f32 + 9.0).min(34.0);
        fall(sheet, at - most / 2.0, at + most / 2.0, 46.0);
        let mut base = BASE;
        let count = sheet.hand.count(2, 5);
        for block in 0..count {
            let high = sheet.hand.between(7.0, 17.0);
            let wide = most * sheet.hand.between(0.45, 1.0);
            if base - high < 14.0 {
                break;
            }
            let off = sheet.hand.between(-0.12, 0.12) * most;
            let tone = if block == 1 && group == 0 {
                second.mix(body, 0.3)
            } else {
                body.lit(sheet.hand.between(-0.03, 0.03))
            };
            solid(sheet, at - wide / 2.0 + off, base - high, wide, base, tone);
            base -= high;
        }
    }
    viewer(sheet);
}

pub(super) fn arches(sheet: &mut Sheet) {
    room(sheet);
    let width = sheet.width();
    let body = sheet.palette.body;
    let count = sheet.hand.count(1, 3);
    let size = sheet.hand.between(40.0, 52.0);
    for turn in 0..count {
        let share = 1.0 - 0.22 * turn as f32;
        let (half, high) = (size * 0.5 * share, size * 1.15 * share);
        let at = width * (0.38 + 0.17 * turn as f32);
        let base = BASE + 2.4 * turn as f32;
        fall(sheet, at - half, at + half, high);
        let thick = half * sheet.hand.between(0.3, 0.5);
        let mut path = PathBuilder::new();
        let outer = |path: &mut PathBuilder, off: At, half: f32, high: f32, start: bool| {
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
        let tone = if turn == 1 { sheet.palette.second } else { body.lit(-0.02 * turn as f32) };
        sheet.canvas.fill(path.finish(), tone.lit(if sheet.look.from_left { -0.14 } else { 0.05 }));
        let mut front = PathBuilder::new();
        outer(&mut front, (0.0, 0.0), half, high, true);
        front.line_to(at + half - thick, base);
        let (inner, low) = (half - thick, high - thick * 0.8);
        front.cubic_to(at + inner, base - low * 1.32, at - inner, base - low * 1.32, at - inner, base);
        front.close();
        let front = front.finish();
        let hole = sheet.palette.shadow;
        sheet.canvas.fill(front.clone(), tone);
        sheet.canvas.clip(front);
        let quad = upright(at - half, base - high, half * 2.0, high);
        let material = sheet.look.material;
        sheet.texture(&quad, tone, material, 1.0);
        sheet.turn_light(&quad);
        sheet.canvas.unclip();
        let edge = [
            (at - inner, base),
            (at - inner * 0.8, base - low * 0.66),
            (at - inner * 0.3, base - low * 0.95),
        ];
        sheet.canvas.stroke(curve(&edge).finish(), 0.5, Ink::Veil(hole, 0.35));
    }
    viewer(sheet);
}

impl Sheet<'_> {
    /// Light on the side where it comes from, shadow on the other.
    fn turn_light(&mut self, quad: &[At; 4]) {
        let (from, to) = if self.look.from_left { (quad[0], quad[1]) } else { (quad[1], quad[0]) };
        let (glow, shadow, depth) = (self.palette.glow.lit(0.06), self.palette.shadow, self.palette.depth);
        self.canvas.poly(quad, Ink::Fade(from, to, (glow, 0.2), (shadow, depth * 0.5)));
    }
}

/// Somebody who looks at it.
fn viewer(sheet: &mut Sheet) {
    let width = sheet.width();
    let side = if sheet.hand.chance(50) { 0.09 } else { 0.91 };
    let at = (width * side, 87.0);
    sheet.somebody(at, 25.0);
}

pub(super) fn vessels(sheet: &mut Sheet) {
    let wall = room(sheet);
    let width = sheet.width();
    let (body, second) = (sheet.palette.body, sheet.palette.second);
    let (left, wide, top) = (width * 0.16, width * 0.66, 66.0);
    let count = sheet.hand.count(3, 6);
    sheet.shade(
        &[
            (left, 98.0),
            (left + wide, 98.0),
            (left + wide + sheet.reach() * 8.0, 90.0),
            (left + sheet.reach() * 8.0, 90.0),
        ],
        0.7,
    );
    let plinth = wall.lit(0.06);
    sheet.canvas.rect(left, top, wide, 32.0, plinth.lit(-0.05));
    sheet.canvas.poly(
        &[(left, top), (left + wide, top), (left + wide - 4.0, top - 5.0), (left + 4.0, top - 5.0)],
        plinth.lit(0.03),
    );
    for turn in 0..count {
        let at = left + wide * (turn as f32 + 0.7) / (count as f32 + 0.4);
        let half = wide / count as f32 * sheet.hand.between(0.26, 0.4);
        let high = sheet.hand.between(15.0, 42.0);
        let base = top - sheet.hand.between(0.8, 3.6);
        let reach = sheet.reach() * high * 0.35;
        sheet.shade(
            &[
                (at - half * 0.5, base),
                (at + half * 0.5, base),
                (at + half * 0.4 + reach, base - 3.0),
                (at - half * 0.4 + reach, base - 3.0),
            ],
            0.8,
        );
        let (neck, belly) = (half * sheet.hand.between(0.25, 0.8), half * 1.15);
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
        let tone = if turn % 3 == 1 { second } else { body.lit(sheet.hand.between(-0.06, 0.06)) };
        let (bright, dark) =
            if sheet.look.from_left { (at - half, at + half) } else { (at + half, at - half) };
        sheet.canvas.fill(
            path.finish(),
            Ink::Fade((bright, 0.0), (dark, 0.0), (tone.lit(0.07), 1.0), (tone.lit(-0.13), 1.0)),
        );
        sheet.canvas.oval((at, base - high), neck, neck * 0.2, tone.lit(-0.2));
    }
}

pub(super) fn mobile(sheet: &mut Sheet) {
    let wall = room(sheet);
    let width = sheet.width();
    let (body, second, ink) = (sheet.palette.body, sheet.palette.second, sheet.palette.ink);
    let off = (sheet.reach().clamp(-1.0, 1.0) * 9.0, 9.0);
    let middle = width / 2.0;
    let mut spots: Vec<(At, f32, Colour)> = Vec::new();
    let mut wires: Vec<(At, At)> = vec![((middle, -1.0), (middle, 17.0))];
    let mut hang = (middle, 17.0);
    let tones = [body, second, body.lit(-0.12), body.mix(wall, 0.4), second.lit(0.08)];
    for level in 0..sheet.hand.count(3, 4) {
        let side = if level % 2 == 0 { 1.0 } else { -1.0 };
        let (long, short) =
            (sheet.hand.between(24.0, 32.0) * (1.0 - 0.16 * level as f32), sheet.hand.between(10.0, 16.0));
        let (far, near) = ((hang.0 + side * long, hang.1 + 3.5), (hang.0 - side * short, hang.1 - 1.5));
        wires.push((near, far));
        let drop = sheet.hand.between(5.0, 10.0);
        wires.push((far, (far.0, far.1 + drop)));
        let size = sheet.hand.between(5.0, 8.5);
        spots.push(((far.0, far.1 + drop + size), size, tones[level % 5]));
        hang = (near.0, near.1 + sheet.hand.between(7.0, 12.0));
        wires.push((near, hang));
    }
    spots.push(((hang.0, hang.1 + 6.0), 6.0, second));
    for (at, size, _) in &spots {
        let veil = Ink::Veil(sheet.palette.shadow, sheet.palette.depth * 0.35);
        sheet.canvas.oval((at.0 + off.0, at.1 + off.1), *size, size * 0.96, veil);
    }
    sheet.canvas.lines(
        wires.iter().map(|(a, b)| ((a.0 + off.0, a.1 + off.1), (b.0 + off.0, b.1 + off.1))),
        0.3,
        Ink::Veil(sheet.palette.shadow, 0.15),
    );
    sheet.canvas.lines(wires.iter().copied(), 0.35, ink);
    for (at, size, tone) in spots {
        sheet.canvas.oval(at, size, size * 0.96, tone);
    }
    viewer(sheet);
}
