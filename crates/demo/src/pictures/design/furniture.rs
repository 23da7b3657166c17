//! Chairs, stools, benches, tables and shelves.

use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Close, Curve};
use super::super::geometry::{Point, ellipse, outline, rect_quad, shares, taper};
use super::{round, shadow, vessels};

const BASE: f32 = 84.0;

/// Draws a tapering leg.
pub(super) fn leg(drawing: &mut Drawing, from: Point, to: Point, thick: f32, colour: Colour) {
    drawing.canvas.poly(&taper(from, thick / 2.0, to, thick * 0.3), colour);
}

/// Draws a board with its upper side and front edge.
fn board(drawing: &mut Drawing, (x, y): Point, wide: f32, deep: f32, thick: f32, colour: Colour) {
    let (middle, half) = (x + wide / 2.0, wide / 2.0);
    let top = taper((middle, y - deep), half - deep * 0.7, (middle, y), half);
    drawing.canvas.poly(&top, colour.lighter(0.06));
    drawing.texture(&top, colour.lighter(0.06), drawing.style.material, 0.9);
    drawing.canvas.rect(x, y, wide, thick, colour.lighter(-0.07));
}

pub(super) fn chair(drawing: &mut Drawing) {
    let middle = drawing.width() / 2.0 + drawing.rng.range(-3.0, 3.0);
    let (colour, wide) = (drawing.palette.body, drawing.rng.range(23.0, 28.0));
    let seat = drawing.rng.range(55.0, 59.0);
    let top = drawing.rng.range(22.0, 30.0);
    let (left, right) = (middle - wide / 2.0, middle + wide / 2.0);
    shadow(drawing, BASE, left, right, 52.0);
    let dark = colour.lighter(-0.14);
    let splay = drawing.rng.range(0.0, 3.0);
    leg(drawing, (left + 4.0, seat), (left + 3.0 - splay * 0.4, BASE - 5.0), 1.6, dark);
    leg(drawing, (right - 4.0, seat), (right - 3.0 + splay * 0.4, BASE - 5.0), 1.6, dark);
    back(drawing, (left + 2.5, right - 2.5), top, seat - 4.0, colour);
    board(drawing, (left - 1.0, seat), wide + 2.0, 6.0, 2.2, colour);
    drawing.shade(&rect_quad(left + 1.0, seat + 2.2, wide - 2.0, 1.5), 0.9);
    leg(drawing, (left + 1.0, seat + 2.2), (left - splay, BASE), 2.2, colour.lighter(-0.04));
    leg(drawing, (right - 1.0, seat + 2.2), (right + splay, BASE), 2.2, colour.lighter(-0.09));
    if drawing.rng.chance(45) {
        let rail = seat + 15.0;
        drawing.canvas.line((left, rail), (right, rail), 1.0, colour.lighter(-0.08));
    }
    if drawing.rng.chance(30) {
        let arm = seat - 12.0;
        for x in [left - 1.2, right - 0.6] {
            drawing.canvas.rect(x, arm, 1.8, 12.0, colour.lighter(-0.06));
            drawing.canvas.rect(x - 0.8, arm - 1.4, 3.4, 1.6, colour.lighter(0.05));
        }
    }
}

fn back(drawing: &mut Drawing, (left, right): (f32, f32), top: f32, low: f32, colour: Colour) {
    let wide = right - left;
    leg(drawing, (left, top), (left + 1.0, low), 1.8, colour.lighter(-0.06));
    leg(drawing, (right, top), (right - 1.0, low), 1.8, colour.lighter(-0.1));
    match drawing.rng.count(0, 3) {
        0 => {
            let panel = rect_quad(left, top - 1.0, wide, (low - top) * drawing.rng.range(0.35, 0.6));
            drawing.textured_quad(&panel, colour.lighter(0.02));
            drawing.shine(&panel, 0.06);
        }
        1 => {
            for rail in 0..3 {
                let y = top + (low - top) * 0.28 * rail as f32;
                drawing.canvas.rect(left - 0.6, y, wide + 1.2, 3.4, colour.lighter(0.03));
                drawing.canvas.line((left, y + 3.4), (right, y + 3.4), 0.3, colour.lighter(-0.14));
            }
        }
        2 => {
            drawing.canvas.rect(left - 0.8, top - 1.0, wide + 1.6, 3.6, colour.lighter(0.03));
            let middle = left + wide / 2.0;
            let sticks = shares(1..7, 7)
                .map(|share| left + wide * share)
                .map(|x| ((x, top + 2.0), (middle + (x - middle) * 0.8, low + 1.0)));
            drawing.canvas.lines(sticks, 0.9, colour.lighter(-0.05));
        }
        _ => {
            let (middle, half) = ((left + right) / 2.0, wide / 2.0 + 1.0);
            let inner = 1.0 - 3.0 / half;
            let parts =
                [Curve(-1.0, -4.0, 1.0, -4.0, 1.0, 12.0), Curve(inner, 7.0, -inner, 7.0, -1.0, 12.0), Close];
            let rest = outline((middle, top), (half, 1.0), (-1.0, 12.0), &parts);
            round(drawing, rest, left, right, colour);
        }
    }
}

pub(super) fn stool(drawing: &mut Drawing) {
    let at = drawing.width() / 2.0 + drawing.rng.range(-4.0, 4.0);
    let (colour, half) = (drawing.palette.body, drawing.rng.range(14.0, 18.0));
    let seat = drawing.rng.range(42.0, 54.0);
    shadow(drawing, BASE, at - half, at + half, BASE - seat);
    let splay = drawing.rng.range(1.0, 6.0);
    for (x, spread, up, by) in [
        (-0.35, -0.4, 6.0, -0.13),
        (0.4, 0.45, 6.0, -0.16),
        (-0.75, -1.0, 0.0, -0.03),
        (0.75, 1.0, 0.0, -0.09),
    ] {
        let (from, to) = ((at + half * x, seat + 1.0), (at + half * x + splay * spread, BASE - up));
        leg(drawing, from, to, 2.4, colour.lighter(by));
    }
    let (rail, reach) = (seat + (BASE - seat) * 0.6, half * 0.75 + splay * 0.5);
    drawing.canvas.line((at - reach, rail), (at + reach, rail), 0.9, colour.lighter(-0.1));
    drawing.canvas.oval((at, seat + 2.2), half, 4.6, colour.lighter(-0.1));
    let top = ellipse((at, seat), half, 4.6);
    drawing.canvas.fill(top.clone(), colour.lighter(0.06));
    drawing.canvas.clip(top);
    let area = rect_quad(at - half, seat - 4.6, half * 2.0, 9.2);
    drawing.texture(&area, colour.lighter(0.06), drawing.style.material, 1.0);
    drawing.canvas.unclip();
}

pub(super) fn bench(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, wide) = (drawing.palette.body, width * drawing.rng.range(0.56, 0.7));
    let left = (width - wide) / 2.0 + drawing.rng.range(-4.0, 4.0);
    let seat = drawing.rng.range(58.0, 62.0);
    shadow(drawing, BASE, left + 2.0, left + wide - 2.0, BASE - seat);
    let panel = drawing.rng.chance(50);
    for x in [left + wide * 0.1, left + wide * 0.86] {
        if panel {
            drawing.canvas.rect(x, seat, wide * 0.045, BASE - seat, colour.lighter(-0.1));
        } else {
            leg(drawing, (x + 1.5, seat), (x - 1.5, BASE), 2.2, colour.lighter(-0.06));
            leg(drawing, (x + 3.5, seat), (x + 6.5, BASE - 1.0), 2.2, colour.lighter(-0.12));
        }
    }
    board(drawing, (left, seat), wide, 5.4, 2.4, colour);
    if drawing.rng.chance(45) {
        let x = left + wide * drawing.rng.range(0.08, 0.5);
        let cushion = ellipse((x + 12.0, seat - 3.6), 13.0, 2.6);
        round(drawing, cushion, x, x + 25.0, drawing.palette.second);
    }
}

pub(super) fn table(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, wide) = (drawing.palette.body, width * drawing.rng.range(0.54, 0.66));
    let left = (width - wide) / 2.0 + drawing.rng.range(-4.0, 4.0);
    let top = drawing.rng.range(43.0, 48.0);
    shadow(drawing, BASE, left + 3.0, left + wide - 3.0, BASE - top);
    let inset = wide * drawing.rng.range(0.02, 0.14);
    let lean = drawing.rng.range(-3.0, 4.0);
    for (x, y, by) in [
        (left + inset + 6.0, BASE - 6.0, -0.15),
        (left + wide - inset - 6.0, BASE - 6.0, -0.17),
        (left + inset, BASE, -0.04),
        (left + wide - inset, BASE, -0.09),
    ] {
        let out = if x < left + wide / 2.0 { -lean } else { lean };
        leg(drawing, (x, top + 2.0), (x + out, y), 2.6, colour.lighter(by));
    }
    if drawing.rng.chance(50) {
        drawing.canvas.rect(left + inset, top + 2.0, wide - inset * 2.0, 6.0, colour.lighter(-0.12));
        let knob = (left + wide / 2.0, top + 5.0);
        drawing.canvas.oval(knob, 0.8, 0.8, drawing.palette.second.lighter(0.1));
    }
    board(drawing, (left, top), wide, 7.0, 2.0, colour);
    let at = left + wide * drawing.rng.range(0.2, 0.8);
    vessels::small(drawing, (at, top - 3.0), 4.6);
}

pub(super) fn shelf(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, wide) = (drawing.palette.body, width * drawing.rng.range(0.44, 0.58));
    let left = (width - wide) / 2.0;
    let (top, boards) = (drawing.rng.range(16.0, 24.0), drawing.rng.count(4, 6));
    shadow(drawing, BASE, left, left + wide, 55.0);
    drawing.shade(&rect_quad(left + drawing.shadow_reach() * 5.0, top + 3.0, wide, BASE - top - 12.0), 0.35);
    for x in [left, left + wide - 1.6] {
        drawing.canvas.rect(x, top - 3.0, 1.6, BASE - top + 3.0, colour.lighter(-0.1));
    }
    let palette = drawing.palette;
    let (pale, dark) = (palette.lightest.lighter(-0.06), palette.darkest.lighter(0.12));
    let books = [palette.second, pale, dark, palette.body.lighter(-0.16)];
    for row in 0..boards {
        let y = top + 2.0 + (BASE - top - 8.0) * row as f32 / (boards - 1) as f32;
        if row > 0 {
            let mut x = left + wide * drawing.rng.range(0.06, 0.5);
            for _ in 0..drawing.rng.count(2, 7) {
                let (thick, high) = (drawing.rng.range(1.2, 2.8), drawing.rng.range(5.0, 8.6));
                let book = drawing.rng.choose(&books);
                if x + thick < left + wide - 2.0 {
                    drawing.canvas.rect(x, y - high, thick, high, book);
                }
                x += thick + 0.25;
            }
        }
        drawing.canvas.rect(left, y, wide, 1.7, colour.lighter(0.04));
        drawing.shade(&rect_quad(left + 1.6, y + 1.7, wide - 3.2, 1.1), 0.8);
    }
}
