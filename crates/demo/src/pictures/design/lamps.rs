//! Lamps: on a table, from the ceiling, on the floor.

use tiny_skia::PathBuilder;

use super::super::canvas::{At, Ink};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::furniture::leg;
use super::{round, shadow, thing};

/// Light that falls from a shade whose opening is at `at`.
fn cone(sheet: &mut Sheet, at: At, half: f32, floor: f32) {
    let glow = sheet.palette.glow.lit(0.06);
    let cover = if sheet.palette.lit { 0.42 } else { 0.2 };
    let spread = half + (floor - at.1) * 0.5;
    sheet.canvas.poly(
        &[(at.0 - half, at.1), (at.0 + half, at.1), (at.0 + spread, floor), (at.0 - spread, floor)],
        Ink::Fade(at, (at.0, floor), (glow, cover), (glow, cover * 0.12)),
    );
    sheet.canvas.wash(Ink::Glow(at, 30.0, (glow, cover * 0.8), (glow, 0.0)));
}

/// A lampshade of one of four kinds that ends at `low`.
fn lampshade(sheet: &mut Sheet, at: f32, low: f32, half: f32, high: f32, colour: Colour) {
    let mut path = PathBuilder::new();
    match sheet.hand.count(0, 3) {
        0 => {
            path.move_to(at - half * 0.55, low - high);
            path.line_to(at + half * 0.55, low - high);
            path.line_to(at + half, low);
            path.line_to(at - half, low);
        }
        1 => {
            path.move_to(at - half, low);
            path.cubic_to(at - half, low - high * 1.3, at + half, low - high * 1.3, at + half, low);
        }
        2 => {
            path.move_to(at - half * 0.12, low - high);
            path.line_to(at + half * 0.12, low - high);
            path.quad_to(at + half * 0.25, low - high * 0.3, at + half, low);
            path.line_to(at - half, low);
            path.quad_to(at - half * 0.25, low - high * 0.3, at - half * 0.12, low - high);
        }
        _ => {
            path.move_to(at - half * 0.9, low - high);
            path.line_to(at + half * 0.9, low - high);
            path.line_to(at + half * 0.9, low);
            path.line_to(at - half * 0.9, low);
        }
    }
    path.close();
    round(sheet, path.finish(), at - half, at + half, colour);
    sheet.canvas.oval((at, low), half * 0.94, half * 0.1, sheet.palette.glow.lit(0.07));
}

pub(super) fn table_lamp(sheet: &mut Sheet) {
    let at = sheet.width() / 2.0 + sheet.hand.between(-5.0, 5.0);
    let colour = thing(sheet);
    let half = sheet.hand.between(15.0, 20.0);
    let low = sheet.hand.between(38.0, 46.0);
    let high = sheet.hand.between(12.0, 19.0);
    shadow(sheet, 82.0, at - 9.0, at + 9.0, 50.0);
    cone(sheet, (at, low), half * 0.8, 80.0);
    let stem = sheet.palette.second.at(if colour.light > 0.55 { 0.34 } else { 0.7 });
    if sheet.hand.chance(50) {
        sheet.canvas.rect(at - 0.8, low - 3.0, 1.6, 82.0 - low, stem);
        sheet.canvas.oval((at, 80.6), 9.6, 2.3, stem.lit(-0.05));
        sheet.canvas.oval((at, 79.6), 9.6, 2.3, stem.lit(0.06));
    } else {
        let foot = super::super::canvas::ellipse((at, 69.0), 9.0, 12.6);
        round(sheet, foot, at - 9.0, at + 9.0, stem.lit(0.05));
        sheet.canvas.rect(at - 1.4, low - 2.0, 2.8, 60.0 - low, stem);
    }
    lampshade(sheet, at, low, half, high, colour);
}

pub(super) fn pendant(sheet: &mut Sheet) {
    let width = sheet.width();
    let count = sheet.hand.one(&[1usize, 1, 2, 3]);
    let colour = thing(sheet);
    for lamp in 0..count {
        let at = width * (lamp as f32 + 1.0) / (count as f32 + 1.0);
        let half = width * 0.27 / (count as f32).powf(0.62);
        let low = sheet.hand.between(38.0, 54.0);
        cone(sheet, (at, low), half * 0.8, 92.0);
        sheet.contact((at, 88.0), half * 1.1, 1.6);
        let ink = sheet.palette.ink;
        sheet.canvas.line((at, -2.0), (at, low - half * 0.6), 0.45, ink);
        lampshade(sheet, at, low, half, half * 0.9, colour);
    }
}

pub(super) fn floor_lamp(sheet: &mut Sheet) {
    let width = sheet.width();
    let at = width * if sheet.look.from_left { 0.42 } else { 0.58 };
    let colour = thing(sheet);
    let stem = sheet.palette.second.at(if colour.light > 0.55 { 0.34 } else { 0.72 });
    let low = sheet.hand.between(25.0, 30.0);
    shadow(sheet, 86.0, at - 7.0, at + 7.0, 66.0);
    cone(sheet, (at, low), 10.0, 85.0);
    if sheet.hand.chance(50) {
        for out in [-10.0, 10.0, 2.5] {
            leg(sheet, (at, 50.0), (at + out, 86.0 - (out - 2.5f32).abs() * 0.05), 1.2, stem);
        }
        sheet.canvas.rect(at - 0.6, low - 4.0, 1.2, 56.0 - low, stem);
    } else {
        sheet.canvas.rect(at - 0.6, low - 4.0, 1.2, 90.0 - low, stem);
        sheet.canvas.oval((at, 86.0), 8.6, 2.0, stem.lit(0.04));
    }
    let half = sheet.hand.between(12.0, 15.0);
    lampshade(sheet, at, low, half, sheet.look.colour.light * 6.0 + 9.0, colour);
}
