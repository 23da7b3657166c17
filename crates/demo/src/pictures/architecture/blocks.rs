//! Buildings with flat roofs: towers, facades, bars, steps, pavilions.

use super::super::canvas::Ink;
use super::super::sheet::Sheet;
use super::super::texture::{part, upright};
use super::Body;

/// A few floors one on the other, some of them shifted.
pub(super) fn tower(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(78.0, 84.0);
    sheet.sky(horizon);
    sheet.distance(horizon, 1);
    sheet.ground(horizon);
    let base = horizon + sheet.hand.between(6.0, 9.0);
    let floors = sheet.hand.count(4, 7);
    let top = sheet.hand.between(13.0, 22.0);
    let high = (base - top) / floors as f32;
    let wide = width * sheet.hand.between(0.36, 0.46);
    let left = (width - wide) * sheet.hand.between(0.34, 0.52);
    let vanish = (width * 1.15, horizon - 4.0);
    let shift = if sheet.hand.chance(60) { sheet.hand.between(1.5, 5.0) } else { 0.0 };
    let (columns, fill) =
        (sheet.hand.count(2, 5), (sheet.hand.between(0.45, 0.84), sheet.hand.between(0.45, 0.7)));
    sheet.grove(horizon + 2.0, (left - 3.0, left + wide + 14.0));
    let all = Body { left, right: left + wide, top: base - (base - top) * 0.5, base, vanish, deep: 0.2 };
    sheet.cast(&all);
    let colour = sheet.palette.body;
    for floor in 0..floors {
        let off = if floor % 2 == 0 { 0.0 } else { shift };
        let below = base - high * floor as f32;
        let body = Body {
            left: left + off,
            right: left + wide + off,
            top: below - high,
            base: below,
            vanish,
            deep: 0.18,
        };
        let by = sheet.hand.between(-0.02, 0.02);
        sheet.body(&body, colour.lit(by));
        let wall = body.front();
        if floor == 0 {
            sheet.windows(&wall, columns, 1, (0.9, 0.8));
        } else {
            sheet.windows(&wall, columns, 1, fill);
        }
        let side = body.side();
        sheet.windows(&side, 2, 1, (fill.0 * 0.8, fill.1));
        let slab = sheet.palette.paper.mix(colour, 0.6);
        sheet.canvas.rect(body.left - 0.5, body.top - 0.4, wide + 1.0, 0.9, slab);
        sheet.shade(&upright(body.left, body.top + 0.5, wide, high * 0.12), 0.9);
    }
    let at = (left - sheet.hand.between(4.0, 10.0), base + 3.0);
    sheet.somebody(at, 6.4);
}

/// A wall that fills the sheet, windows in rows, and the street before it.
pub(super) fn facade(sheet: &mut Sheet) {
    let width = sheet.width();
    let street = sheet.hand.between(84.0, 89.0);
    let top = if sheet.hand.chance(55) { sheet.hand.between(8.0, 16.0) } else { -2.0 };
    sheet.sky(street);
    sheet.ground(street);
    let wall = upright(-1.0, top, width + 2.0, street - top);
    let colour = sheet.palette.body;
    sheet.face(&wall, colour);
    sheet.turn(&wall, false);
    let rows = sheet.hand.count(3, 5);
    let columns = (rows as f32 * width / 92.0 * sheet.hand.between(1.2, 1.7)).round().max(3.0) as usize;
    let fill = (sheet.hand.between(0.42, 0.66), sheet.hand.between(0.5, 0.74));
    let upper = part(&wall, (0.02, 0.98), (0.03, 0.8));
    sheet.windows(&upper, columns, rows - 1, fill);
    blinds(sheet, &upper, (columns, rows - 1), fill);
    let lower = part(&wall, (0.02, 0.98), (0.8, 1.0));
    let base = sheet.palette.second.mix(colour, 0.5).lit(-0.05);
    sheet.canvas.poly(&part(&wall, (0.0, 1.0), (0.81, 1.0)), Ink::Veil(base, 0.65));
    sheet.windows(&lower, columns, 1, (fill.0, 0.62));
    if top > 0.0 {
        sheet.canvas.rect(-1.0, top - 1.4, width + 2.0, 2.2, colour.lit(0.04));
        sheet.shade(&upright(-1.0, top + 0.8, width + 2.0, 2.2), 1.0);
    }
    // A neighbour outside of the sheet throws its edge across the wall.
    let reach = sheet.reach();
    let edge = if reach > 0.0 { 0.0 } else { width };
    let into = reach.signum() * width * sheet.hand.between(0.18, 0.42);
    sheet.shade(&[(edge, top), (edge + into * 0.35, top), (edge + into, street), (edge, street)], 0.55);
    let pavement = sheet.palette.ground.lit(0.05);
    sheet.canvas.rect(-1.0, street, width + 2.0, 2.4, pavement);
    sheet.canvas.rect(-1.0, street + 2.4, width + 2.0, 0.6, Ink::Veil(sheet.palette.shadow, 0.4));
    for _ in 0..sheet.hand.count(1, 3) {
        let at = (sheet.hand.between(0.12, 0.88) * width, street + 2.0);
        sheet.somebody(at, 9.4);
    }
}

/// Some windows have a blind, half down, in the second colour.
fn blinds(sheet: &mut Sheet, wall: &super::Quad, count: (usize, usize), fill: (f32, f32)) {
    let colour = sheet.palette.second.mix(sheet.palette.paper, 0.35);
    let (wide, high) = (1.0 / count.0 as f32, 1.0 / count.1 as f32);
    for row in 0..count.1 {
        for column in 0..count.0 {
            if sheet.hand.chance(22) {
                let left = (column as f32 + (1.0 - fill.0) / 2.0) * wide;
                let top = (row as f32 + (1.0 - fill.1) / 2.0) * high;
                let down = top + fill.1 * high * sheet.hand.between(0.3, 0.75);
                let blind = part(wall, (left, left + fill.0 * wide), (top, down));
                sheet.canvas.poly(&blind, colour);
                sheet.canvas.line(blind[3], blind[2], 0.25, colour.lit(-0.15));
            }
        }
    }
}

/// A long low building under the sky.
pub(super) fn bar(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(66.0, 74.0);
    sheet.land(horizon);
    let base = horizon + sheet.hand.between(4.0, 8.0);
    let (left, right) = (width * sheet.hand.between(0.07, 0.15), width * sheet.hand.between(0.8, 0.9));
    let high = sheet.hand.between(13.0, 20.0);
    let vanish = (width * 1.25, horizon - 1.0);
    let body = Body { left, right, top: base - high, base, vanish, deep: 0.12 };
    sheet.grove(horizon + 2.0, (left + 8.0, right - 4.0));
    sheet.cast(&body);
    let colour = sheet.palette.body;
    sheet.body(&body, colour);
    let wall = body.front();
    let split = sheet.hand.between(0.3, 0.7);
    let (columns, wide) = (sheet.hand.count(6, 12), sheet.hand.between(0.6, 0.92));
    let glazed = if sheet.hand.chance(50) { (0.04, split) } else { (split, 0.96) };
    sheet.windows(&part(&wall, glazed, (0.22, 0.98)), columns, 1, (wide, 1.0));
    let closed = if glazed.0 < 0.1 { (split + 0.06, 0.94) } else { (0.06, split - 0.06) };
    sheet.windows(&part(&wall, closed, (0.3, 0.6)), 2, 1, (0.3, 0.8));
    let roof = sheet.palette.second.at((colour.light - 0.2).max(0.25)).mix(colour, 0.3);
    sheet.canvas.rect(left - 3.5, body.top - 1.7, right - left + 7.0, 2.2, roof);
    sheet.shade(&upright(left, body.top + 0.5, right - left, high * 0.16), 1.1);
    pool(sheet, base + 7.0);
    let at = (width * sheet.hand.between(0.3, 0.8), base + 3.5);
    sheet.somebody(at, 7.4);
}

/// Still water in front, now and then, that gives the sky back.
fn pool(sheet: &mut Sheet, top: f32) {
    if sheet.hand.chance(45) {
        let width = sheet.width();
        let (low, high) = (sheet.palette.low, sheet.palette.high);
        let water = Ink::Fade((0.0, top), (0.0, 100.0), (low.lit(-0.03), 1.0), (high.lit(-0.08), 1.0));
        sheet.canvas.rect(-1.0, top, width + 2.0, 101.0 - top, water);
        let glints: Vec<_> = (0..14)
            .map(|_| {
                let (x, y) = (sheet.hand.between(0.0, width), sheet.hand.between(top + 1.0, 99.0));
                ((x, y), (x + sheet.hand.between(3.0, 14.0), y))
            })
            .collect();
        sheet.canvas.lines(glints, 0.22, Ink::Veil(low.lit(0.08), 0.5));
    }
}

/// Terraces that go down a hillside.
pub(super) fn steps(sheet: &mut Sheet) {
    let width = sheet.width();
    sheet.sky(86.0);
    sheet.distance(70.0, 2);
    let falls_right = !sheet.look.from_left;
    let mirror = |x: f32| if falls_right { x } else { width - x };
    let hill = sheet.palette.ground.mix(sheet.palette.green, 0.35);
    let slope = [
        (mirror(-1.0), 34.0),
        (mirror(width + 1.0), 88.0),
        (mirror(width + 1.0), 101.0),
        (mirror(-1.0), 101.0),
    ];
    sheet
        .canvas
        .poly(&slope, Ink::Fade((0.0, 30.0), (0.0, 100.0), (hill.lit(0.05), 1.0), (hill.lit(-0.08), 1.0)));
    let count = sheet.hand.count(3, 5);
    let kind = sheet.hand.count(0, 2);
    sheet.tree((mirror(width * 0.1), 42.0), 19.0, kind);
    let wide = width * 0.66 / count as f32;
    let high = sheet.hand.between(13.0, 16.5);
    let colour = sheet.palette.body;
    for step in 0..count {
        let x = width * 0.17 + wide * step as f32;
        let base = 34.0 + 54.0 * ((x + wide) / width) + 1.5;
        let left = mirror(x).min(mirror(x + wide * 1.3));
        let body = Body {
            left,
            right: left + wide * 1.3,
            top: base - high,
            base: base + 2.0,
            vanish: (mirror(width * 1.2), 30.0),
            deep: 0.07,
        };
        let by = sheet.hand.between(-0.03, 0.03);
        sheet.cast(&body);
        sheet.body(&body, colour.lit(by));
        let wall = body.front();
        sheet.windows(&part(&wall, (0.08, 0.92), (0.2, 0.78)), 3, 1, (0.8, 1.0));
        let slab = colour.lit(0.07);
        sheet.canvas.rect(left - 0.6, body.top - 0.8, wide * 1.3 + 1.2, 1.2, slab);
        let bush = (left + wide * sheet.hand.between(0.2, 1.0), body.top - 0.6);
        let green = sheet.palette.green;
        sheet.canvas.oval(bush, 2.4, 1.7, green);
        sheet.canvas.oval((bush.0 + 1.9, bush.1 + 0.3), 1.8, 1.2, green.lit(-0.03));
    }
    let kind = sheet.hand.count(0, 2);
    sheet.tree((mirror(width * 0.93), 90.0), 24.0, kind);
    let at = (mirror(width * sheet.hand.between(0.3, 0.5)), 93.0);
    sheet.somebody(at, 8.0);
}

/// A thin roof on posts with glass set back under it.
pub(super) fn pavilion(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(64.0, 71.0);
    sheet.land(horizon);
    let base = horizon + sheet.hand.between(7.0, 11.0);
    let (left, right) = (width * sheet.hand.between(0.13, 0.2), width * sheet.hand.between(0.78, 0.88));
    let top = base - sheet.hand.between(21.0, 28.0);
    sheet.grove(horizon + 3.0, (left + 4.0, right));
    let colour = sheet.palette.body;
    let plinth = sheet.palette.ground.lit(0.08);
    sheet.shade(&upright(left + sheet.reach() * 6.0, base + 1.5, right - left, 3.0), 0.9);
    sheet.canvas.rect(left - 2.0, base, right - left + 4.0, 2.6, plinth);
    let inner = upright(left + 9.0, top, right - left - 18.0, base - top);
    let solid = sheet.hand.between(0.25, 0.45);
    let (wall, glass) = if sheet.hand.chance(50) {
        ((0.0, solid), (solid, 1.0))
    } else {
        ((1.0 - solid, 1.0), (0.0, 1.0 - solid))
    };
    let wall = part(&inner, wall, (0.0, 1.0));
    sheet.face(&wall, colour);
    let panes = sheet.hand.count(4, 7);
    sheet.windows(&part(&inner, glass, (0.0, 1.0)), panes, 1, (0.94, 1.0));
    sheet.fading_shade(&inner, inner[0], inner[3], 1.1);
    let posts = sheet.hand.count(5, 9);
    let dark = colour.at((colour.light - 0.18).max(0.2));
    for post in 0..posts {
        let x = left + 2.0 + (right - left - 4.0) * post as f32 / (posts - 1) as f32;
        sheet.canvas.rect(x - 0.45, top, 0.9, base - top, dark);
    }
    let roof = colour.lit(-0.04);
    let thick = sheet.hand.between(2.2, 5.0);
    let edge = upright(left - 5.0, top - thick, right - left + 10.0, thick);
    sheet.face(&edge, roof);
    sheet.turn(&edge, false);
    sheet.shade(&upright(left - 5.0, top - 0.5, right - left + 10.0, 0.7), 1.2);
    let at = (width * sheet.hand.between(0.3, 0.7), base + 6.0);
    sheet.somebody(at, 9.2);
}
