//! Sculptures in an empty room.

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Close, Curve, To};
use super::super::geometry::{Point, curve, lerp, outline, placed, rect_quad, shifted, slant, taper};

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
    drawing.wall(wall, edge, (0.03, -0.03));
    let floor = wall.lighter(-0.1).mix(palette.second.with_lightness(wall.light - 0.1), 0.25);
    drawing.band(edge, edge + 34.0, Fill::down(edge, 100.0, floor, floor.lighter(0.05)));
    drawing.canvas.line((-1.0, edge), (width + 1.0, edge), 0.5, wall.lighter(0.06));
    let x = if drawing.style.from_left { width * 0.05 } else { width * 0.95 };
    let glow = palette.glow.lighter(0.06);
    drawing.canvas.fill_all(Fill::Radial((x, 8.0), 90.0, glow, 0.3));
    wall
}

fn solid(drawing: &mut Drawing, x: f32, top: f32, wide: f32, base: f32, tone: Colour) {
    let quad = rect_quad(x, top, wide, base - top);
    let (right, deep) = (x + wide, (wide * 0.22, wide * -0.11));
    let (far, lift) = (right + deep.0, deep.1);
    let side = [(right, top), (far, top + lift), (far, base + lift), (right, base)];
    drawing.canvas.poly(&slant((x, right), top, deep), tone.lighter(0.09));
    drawing.textured_quad(&quad, tone);
    drawing.textured_quad(&side, tone.lighter(if drawing.style.from_left { -0.11 } else { 0.03 }));
    if !drawing.style.from_left {
        drawing.shade(&quad, 0.35);
    }
}

/// Draws the shadow of the work on the floor.
fn floor_shadow(drawing: &mut Drawing, left: f32, right: f32, high: f32) {
    let by = (drawing.shadow_reach() * high * 0.6, -7.0);
    let from = lerp((left, BASE), (right, BASE), 0.5);
    drawing.fading_shade(&slant((left, right), BASE, by), from, (from.0 + by.0, BASE + by.1), 1.0);
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
        let (inner, low) = (half - thick, high - thick * 0.8);
        let over = Curve(-half, high * 1.32, half, high * 1.32, half, 0.0);
        let under = Curve(inner, low * 1.32, -inner, low * 1.32, -inner, 0.0);
        let back = outline((at + 3.4, base - 1.7), (1.0, -1.0), (-half, 0.0), &[over, Close]);
        let tone = if turn == 1 { drawing.palette.second } else { body.lighter(-0.02 * turn as f32) };
        drawing.canvas.fill(back, tone.lighter(if drawing.style.from_left { -0.14 } else { 0.05 }));
        let front = outline((at, base), (1.0, -1.0), (-half, 0.0), &[over, To(inner, 0.0), under, Close]);
        drawing.canvas.fill(front.clone(), tone);
        drawing.canvas.clip(front);
        let quad = rect_quad(at - half, base - high, half * 2.0, high);
        drawing.texture(&quad, tone, drawing.style.material, 1.0);
        turn_light(drawing, &quad);
        drawing.canvas.unclip();
        let edge = placed((at, base), (inner, low), [(-1.0, 0.0), (-0.8, -0.66), (-0.3, -0.95)]);
        let hole = Fill::Alpha(drawing.palette.shadow, 0.35);
        drawing.canvas.stroke(curve(&edge).finish(), 0.5, hole);
    }
    viewer(drawing);
}

/// Lightens the side towards the light and darkens the other.
fn turn_light(drawing: &mut Drawing, quad: &[Point; 4]) {
    let (from, to) = if drawing.style.from_left { (quad[0], quad[1]) } else { (quad[1], quad[0]) };
    let palette = drawing.palette;
    let (glow, shadow) = ((palette.glow.lighter(0.06), 0.2), (palette.shadow, palette.shadow_opacity * 0.5));
    drawing.canvas.poly(quad, Fill::Linear(from, to, glow, shadow));
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
    let reach = drawing.shadow_reach();
    drawing.shade(&slant((left, left + wide), 98.0, (reach * 8.0, -8.0)), 0.7);
    let plinth = wall.lighter(0.06);
    drawing.canvas.rect(left, top, wide, 32.0, plinth.lighter(-0.05));
    let middle = left + wide / 2.0;
    let upper = taper((middle, top - 5.0), wide / 2.0 - 4.0, (middle, top), wide / 2.0);
    drawing.canvas.poly(&upper, plinth.lighter(0.03));
    for turn in 0..count {
        let at = left + wide * (turn as f32 + 0.7) / (count as f32 + 0.4);
        let half = wide / count as f32 * drawing.rng.range(0.26, 0.4);
        let high = drawing.rng.range(15.0, 42.0);
        let base = top - drawing.rng.range(0.8, 3.6);
        let shadow = taper((at + reach * high * 0.35, base - 3.0), half * 0.4, (at, base), half * 0.5);
        drawing.shade(&shadow, 0.8);
        let neck = drawing.rng.range(0.25, 0.8);
        let parts = [
            Curve(-1.15, 0.15, -1.15, 0.6, -neck, 0.8),
            To(-neck, 1.0),
            To(neck, 1.0),
            To(neck, 0.8),
            Curve(1.15, 0.6, 1.15, 0.15, 0.5, 0.0),
            Close,
        ];
        let vessel = outline((at, base), (half, -high), (-0.5, 0.0), &parts);
        let tone = if turn % 3 == 1 { second } else { body.lighter(drawing.rng.range(-0.06, 0.06)) };
        let (bright, dark) =
            if drawing.style.from_left { (at - half, at + half) } else { (at + half, at - half) };
        drawing.canvas.fill(vessel, Fill::across(bright, dark, tone.lighter(0.07), tone.lighter(-0.13)));
        drawing.canvas.oval((at, base - high), half * neck, half * neck * 0.2, tone.lighter(-0.2));
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
    let veil = Fill::Alpha(drawing.palette.shadow, drawing.palette.shadow_opacity * 0.35);
    for (at, size, _) in &spots {
        drawing.canvas.oval((at.0 + off.0, at.1 + off.1), *size, size * 0.96, veil);
    }
    let shadows = wires.iter().map(|(a, b)| shifted([*a, *b], off).into());
    drawing.canvas.lines(shadows, 0.3, Fill::Alpha(drawing.palette.shadow, 0.15));
    drawing.canvas.lines(wires.iter().copied(), 0.35, ink);
    for (at, size, tone) in spots {
        drawing.canvas.oval(at, size, size * 0.96, tone);
    }
    viewer(drawing);
}
