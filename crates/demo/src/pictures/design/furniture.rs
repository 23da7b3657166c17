//! Things that stand on legs.

use tiny_skia::PathBuilder;

use super::super::canvas::At;
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::upright;
use super::{round, shadow, thing};

const BASE: f32 = 84.0;

/// A leg as a tapering bar.
pub(super) fn leg(sheet: &mut Sheet, from: At, to: At, thick: f32, colour: Colour) {
    sheet.canvas.poly(
        &[
            (from.0 - thick / 2.0, from.1),
            (from.0 + thick / 2.0, from.1),
            (to.0 + thick * 0.3, to.1),
            (to.0 - thick * 0.3, to.1),
        ],
        colour,
    );
}

/// A board that shows its upper side and its front edge.
fn board(sheet: &mut Sheet, x: f32, y: f32, wide: f32, deep: f32, thick: f32, colour: Colour) {
    let top = [(x + deep * 0.7, y - deep), (x + wide - deep * 0.7, y - deep), (x + wide, y), (x, y)];
    sheet.canvas.poly(&top, colour.lit(0.06));
    let material = sheet.look.material;
    sheet.texture(&top, colour.lit(0.06), material, 0.9);
    sheet.canvas.rect(x, y, wide, thick, colour.lit(-0.07));
}

pub(super) fn chair(sheet: &mut Sheet) {
    let middle = sheet.width() / 2.0 + sheet.hand.between(-3.0, 3.0);
    let (colour, wide) = (thing(sheet), sheet.hand.between(23.0, 28.0));
    let seat = sheet.hand.between(55.0, 59.0);
    let top = sheet.hand.between(22.0, 30.0);
    let (left, right) = (middle - wide / 2.0, middle + wide / 2.0);
    shadow(sheet, BASE, left, right, 52.0);
    let dark = colour.lit(-0.14);
    let splay = sheet.hand.between(0.0, 3.0);
    leg(sheet, (left + 4.0, seat), (left + 3.0 - splay * 0.4, BASE - 5.0), 1.6, dark);
    leg(sheet, (right - 4.0, seat), (right - 3.0 + splay * 0.4, BASE - 5.0), 1.6, dark);
    back(sheet, (left + 2.5, right - 2.5), top, seat - 4.0, colour);
    board(sheet, left - 1.0, seat, wide + 2.0, 6.0, 2.2, colour);
    sheet.shade(&upright(left + 1.0, seat + 2.2, wide - 2.0, 1.5), 0.9);
    leg(sheet, (left + 1.0, seat + 2.2), (left - splay, BASE), 2.2, colour.lit(-0.04));
    leg(sheet, (right - 1.0, seat + 2.2), (right + splay, BASE), 2.2, colour.lit(-0.09));
    if sheet.hand.chance(45) {
        let rail = seat + 15.0;
        sheet.canvas.line((left, rail), (right, rail), 1.0, colour.lit(-0.08));
    }
    if sheet.hand.chance(30) {
        let arm = seat - 12.0;
        for x in [left - 1.2, right - 0.6] {
            sheet.canvas.rect(x, arm, 1.8, 12.0, colour.lit(-0.06));
            sheet.canvas.rect(x - 0.8, arm - 1.4, 3.4, 1.6, colour.lit(0.05));
        }
    }
}

fn back(sheet: &mut Sheet, (left, right): (f32, f32), top: f32, low: f32, colour: Colour) {
    let wide = right - left;
    leg(sheet, (left, top), (left + 1.0, low), 1.8, colour.lit(-0.06));
    leg(sheet, (right, top), (right - 1.0, low), 1.8, colour.lit(-0.1));
    match sheet.hand.count(0, 3) {
        0 => {
            let panel = upright(left, top - 1.0, wide, (low - top) * sheet.hand.between(0.35, 0.6));
            sheet.face(&panel, colour.lit(0.02));
            sheet.shine(&panel, 0.06);
        }
        1 => {
            for rail in 0..3 {
                let y = top + (low - top) * 0.28 * rail as f32;
                sheet.canvas.rect(left - 0.6, y, wide + 1.2, 3.4, colour.lit(0.03));
                sheet.canvas.line((left, y + 3.4), (right, y + 3.4), 0.3, colour.lit(-0.14));
            }
        }
        2 => {
            sheet.canvas.rect(left - 0.8, top - 1.0, wide + 1.6, 3.6, colour.lit(0.03));
            let sticks: Vec<_> = (1..7)
                .map(|at| left + wide * at as f32 / 7.0)
                .map(|x| ((x, top + 2.0), (middle(x, left, wide), low + 1.0)))
                .collect();
            sheet.canvas.lines(sticks, 0.9, colour.lit(-0.05));
        }
        _ => {
            let mut path = PathBuilder::new();
            path.move_to(left - 1.0, top + 12.0);
            path.cubic_to(left - 1.0, top - 4.0, right + 1.0, top - 4.0, right + 1.0, top + 12.0);
            path.cubic_to(right - 2.0, top + 7.0, left + 2.0, top + 7.0, left - 1.0, top + 12.0);
            path.close();
            round(sheet, path.finish(), left, right, colour);
        }
    }
}

fn middle(x: f32, left: f32, wide: f32) -> f32 {
    left + wide / 2.0 + (x - left - wide / 2.0) * 0.8
}

pub(super) fn stool(sheet: &mut Sheet) {
    let at = sheet.width() / 2.0 + sheet.hand.between(-4.0, 4.0);
    let (colour, half) = (thing(sheet), sheet.hand.between(14.0, 18.0));
    let seat = sheet.hand.between(42.0, 54.0);
    shadow(sheet, BASE, at - half, at + half, BASE - seat);
    let splay = sheet.hand.between(1.0, 6.0);
    for (x, spread, up, by) in [
        (-0.35, -0.4, 6.0, -0.13),
        (0.4, 0.45, 6.0, -0.16),
        (-0.75, -1.0, 0.0, -0.03),
        (0.75, 1.0, 0.0, -0.09),
    ] {
        leg(
            sheet,
            (at + half * x, seat + 1.0),
            (at + half * x + splay * spread, BASE - up),
            2.4,
            colour.lit(by),
        );
    }
    let rail = seat + (BASE - seat) * 0.6;
    sheet.canvas.line(
        (at - half * 0.75 - splay * 0.5, rail),
        (at + half * 0.75 + splay * 0.5, rail),
        0.9,
        colour.lit(-0.1),
    );
    sheet.canvas.oval((at, seat + 2.2), half, 4.6, colour.lit(-0.1));
    sheet.canvas.oval((at, seat), half, 4.6, colour.lit(0.06));
    let path = super::super::canvas::ellipse((at, seat), half, 4.6);
    sheet.canvas.clip(path);
    let material = sheet.look.material;
    sheet.texture(&upright(at - half, seat - 4.6, half * 2.0, 9.2), colour.lit(0.06), material, 1.0);
    sheet.canvas.unclip();
}

pub(super) fn bench(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, wide) = (thing(sheet), width * sheet.hand.between(0.56, 0.7));
    let left = (width - wide) / 2.0 + sheet.hand.between(-4.0, 4.0);
    let seat = sheet.hand.between(58.0, 62.0);
    shadow(sheet, BASE, left + 2.0, left + wide - 2.0, BASE - seat);
    let panel = sheet.hand.chance(50);
    for x in [left + wide * 0.1, left + wide * 0.86] {
        if panel {
            sheet.canvas.rect(x, seat, wide * 0.045, BASE - seat, colour.lit(-0.1));
        } else {
            leg(sheet, (x + 1.5, seat), (x - 1.5, BASE), 2.2, colour.lit(-0.06));
            leg(sheet, (x + 3.5, seat), (x + 6.5, BASE - 1.0), 2.2, colour.lit(-0.12));
        }
    }
    board(sheet, left, seat, wide, 5.4, 2.4, colour);
    if sheet.hand.chance(45) {
        let cushion = sheet.palette.second;
        let x = left + wide * sheet.hand.between(0.08, 0.5);
        round(sheet, super::super::canvas::ellipse((x + 12.0, seat - 3.6), 13.0, 2.6), x, x + 25.0, cushion);
    }
}

pub(super) fn table(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, wide) = (thing(sheet), width * sheet.hand.between(0.54, 0.66));
    let left = (width - wide) / 2.0 + sheet.hand.between(-4.0, 4.0);
    let top = sheet.hand.between(43.0, 48.0);
    shadow(sheet, BASE, left + 3.0, left + wide - 3.0, BASE - top);
    let inset = wide * sheet.hand.between(0.02, 0.14);
    let lean = sheet.hand.between(-3.0, 4.0);
    for (x, y, by) in [
        (left + inset + 6.0, BASE - 6.0, -0.15),
        (left + wide - inset - 6.0, BASE - 6.0, -0.17),
        (left + inset, BASE, -0.04),
        (left + wide - inset, BASE, -0.09),
    ] {
        let out = if x < left + wide / 2.0 { -lean } else { lean };
        leg(sheet, (x, top + 2.0), (x + out, y), 2.6, colour.lit(by));
    }
    if sheet.hand.chance(50) {
        sheet.canvas.rect(left + inset, top + 2.0, wide - inset * 2.0, 6.0, colour.lit(-0.12));
        let knob = (left + wide / 2.0, top + 5.0);
        sheet.canvas.oval(knob, 0.8, 0.8, sheet.palette.second.lit(0.1));
    }
    board(sheet, left, top, wide, 7.0, 2.0, colour);
    let at = left + wide * sheet.hand.between(0.2, 0.8);
    super::vessels::small(sheet, (at, top - 3.0), 4.6);
}

pub(super) fn shelf(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, wide) = (thing(sheet), width * sheet.hand.between(0.44, 0.58));
    let left = (width - wide) / 2.0;
    let (top, boards) = (sheet.hand.between(16.0, 24.0), sheet.hand.count(4, 6));
    shadow(sheet, BASE, left, left + wide, 55.0);
    sheet.shade(&upright(left + sheet.reach() * 5.0, top + 3.0, wide, BASE - top - 12.0), 0.35);
    for x in [left, left + wide - 1.6] {
        sheet.canvas.rect(x, top - 3.0, 1.6, BASE - top + 3.0, colour.lit(-0.1));
    }
    let palette = sheet.palette;
    for row in 0..boards {
        let y = top + 2.0 + (BASE - top - 8.0) * row as f32 / (boards - 1) as f32;
        if row > 0 {
            let mut x = left + wide * sheet.hand.between(0.06, 0.5);
            for _ in 0..sheet.hand.count(2, 7) {
                let (thick, high) = (sheet.hand.between(1.2, 2.8), sheet.hand.between(5.0, 8.6));
                let book = sheet.hand.one(&[
                    palette.second,
                    palette.paper.lit(-0.06),
                    palette.ink.lit(0.12),
                    palette.body.lit(-0.16),
                ]);
                if x + thick < left + wide - 2.0 {
                    sheet.canvas.rect(x, y - high, thick, high, book);
                }
                x += thick + 0.25;
            }
        }
        sheet.canvas.rect(left, y, wide, 1.7, colour.lit(0.04));
        sheet.shade(&upright(left + 1.6, y + 1.7, wide - 3.2, 1.1), 0.8);
    }
}
