//! Flat things: cloths, posters, books, and round things on a wall.

use super::super::canvas::{Ink, ellipse, polygon};
use super::super::colour::Colour;
use super::super::look::Material;
use super::super::sheet::Sheet;
use super::super::texture::{Quad, on, part, upright};
use super::{round, shadow, thing};

/// The shadow of something that hangs on a wall.
fn on_wall(sheet: &mut Sheet, quad: &Quad, off: f32) {
    let dx = sheet.reach().signum() * off;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        sheet.shade(&quad.map(|at| (at.0 + dx * by, at.1 + off * 0.9 * by)), 0.28);
    }
}

pub(super) fn cloth(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, second) = (thing(sheet), sheet.palette.second);
    let quad = upright(width * 0.17, 14.0, width * 0.66, 72.0);
    let ink = sheet.palette.ink;
    sheet.canvas.line((width * 0.1, 13.6), (width * 0.9, 13.6), 1.1, ink);
    on_wall(sheet, &quad, 3.0);
    sheet.canvas.poly(&quad, colour);
    match sheet.hand.count(0, 3) {
        0 => {
            for _ in 0..sheet.hand.count(3, 6) {
                let (top, thick) = (sheet.hand.between(0.05, 0.9), sheet.hand.between(0.01, 0.09));
                let tone = sheet.hand.one(&[second, colour.lit(0.12), colour.lit(-0.12)]);
                sheet.canvas.poly(&part(&quad, (0.0, 1.0), (top, (top + thick).min(1.0))), tone);
            }
        }
        1 => {
            let count = sheet.hand.count(3, 6);
            for row in 0..count {
                for column in 0..count {
                    if (row + column) % 2 == 0 {
                        let cell = |at: usize| (at as f32 / count as f32, (at + 1) as f32 / count as f32);
                        sheet.canvas.poly(&part(&quad, cell(column), cell(row)), second.mix(colour, 0.25));
                    }
                }
            }
        }
        2 => {
            let field = part(&quad, (0.12, 0.88), (0.1, 0.9));
            sheet.canvas.poly(&field, second.mix(colour, 0.15));
            let inner = part(&quad, (0.2, 0.8), (0.17, 0.83));
            sheet.canvas.poly(&inner, colour.lit(0.05));
            let at = on(&quad, 0.5, 0.5);
            sheet.canvas.oval(at, 8.0, 8.0, second);
        }
        _ => {
            let split = sheet.hand.between(0.3, 0.7);
            sheet.canvas.poly(&part(&quad, (0.0, 1.0), (split, 1.0)), second);
            let low = part(&quad, (0.0, 1.0), (split - 0.06, split - 0.04));
            sheet.canvas.poly(&low, second);
        }
    }
    sheet.texture(&quad, colour, Material::Cloth, 0.9);
    let folds = sheet.hand.count(3, 5);
    for fold in 0..folds {
        let at = (fold as f32 + 0.3) / folds as f32;
        let strip = part(&quad, (at, at + 0.6 / folds as f32), (0.0, 1.0));
        sheet.fading_shade(&strip, strip[0], strip[1], 0.3);
    }
    let fringe: Vec<_> = (0..34)
        .map(|at| on(&quad, (at as f32 + 0.5) / 34.0, 1.0))
        .map(|at| (at, (at.0, at.1 + 2.6)))
        .collect();
    sheet.canvas.lines(fringe, 0.4, colour.lit(-0.05));
}

/// A composition of plain forms, as posters without words have.
fn forms(sheet: &mut Sheet, quad: &Quad, ground: Colour, form: Colour, other: Colour) {
    sheet.canvas.poly(quad, ground);
    sheet.canvas.clip(polygon(quad));
    let (wide, high) = (quad[1].0 - quad[0].0, quad[3].1 - quad[0].1);
    let at = on(quad, sheet.hand.between(0.3, 0.7), sheet.hand.between(0.3, 0.6));
    match sheet.hand.count(0, 4) {
        0 => {
            sheet.canvas.oval(at, wide * 0.34, wide * 0.34, form);
            sheet.canvas.poly(&part(quad, (0.0, 1.0), (0.72, 1.0)), other);
        }
        1 => {
            for ring in 0..5 {
                let size = wide * (0.62 - 0.12 * ring as f32);
                sheet.canvas.oval(on(quad, 0.5, 1.0), size, size, if ring % 2 == 0 { form } else { ground });
            }
            sheet.canvas.oval(on(quad, 0.75, 0.2), wide * 0.11, wide * 0.11, other);
        }
        2 => {
            for bar in 0..6 {
                let top = 0.08 + 0.15 * bar as f32;
                let to = sheet.hand.between(0.35, 0.95);
                sheet.canvas.poly(
                    &part(quad, (0.0, to), (top, top + 0.085)),
                    if bar % 3 == 1 { other } else { form },
                );
            }
        }
        3 => {
            sheet.canvas.poly(&[on(quad, 0.0, 1.0), on(quad, 1.0, 0.25), on(quad, 1.0, 1.0)], form);
            sheet.canvas.poly(&[on(quad, 0.0, 0.0), on(quad, 0.55, 0.0), on(quad, 0.0, 0.62)], other);
        }
        _ => {
            for row in 0..4 {
                for column in 0..3 {
                    let spot = on(quad, (column as f32 + 0.5) / 3.0, (row as f32 + 0.5) / 4.0);
                    let size = (wide / 3.0).min(high / 4.0) * sheet.hand.one(&[0.2, 0.32, 0.42]);
                    sheet.canvas.oval(spot, size, size, if (row + column) % 4 == 1 { other } else { form });
                }
            }
        }
    }
    sheet.canvas.unclip();
}

pub(super) fn posters(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, second) = (thing(sheet), sheet.palette.second);
    let paper = sheet.palette.paper;
    let dark = sheet.palette.ink.lit(0.1);
    let (wide, high) = (37.0, 56.0);
    let gap = sheet.hand.between(6.0, 10.0);
    let top = 19.0;
    for side in [0, 1] {
        let x = width / 2.0 - gap / 2.0 - wide + side as f32 * (wide + gap);
        let quad = upright(x, top, wide, high);
        on_wall(sheet, &quad, 1.8);
        if side == 0 {
            forms(sheet, &quad, paper, colour, second)
        } else {
            forms(sheet, &quad, colour, paper, dark.mix(second, 0.4))
        }
        let curl = part(&quad, (0.0, 1.0), (0.86, 1.0));
        sheet.fading_shade(&curl, curl[3], curl[0], 0.25);
    }
}

pub(super) fn books(sheet: &mut Sheet) {
    let width = sheet.width();
    let (colour, second, paper) = (thing(sheet), sheet.palette.second, sheet.palette.paper);
    let middle = width / 2.0 + sheet.hand.between(-3.0, 3.0);
    let mut base = 82.0;
    shadow(sheet, base, middle - 27.0, middle + 27.0, 34.0);
    for book in 0..sheet.hand.count(2, 4) {
        let (half, thick) = (sheet.hand.between(22.0, 29.0), sheet.hand.between(4.0, 7.5));
        let off = sheet.hand.between(-3.0, 3.0);
        let tone = [second, colour, colour.lit(-0.13), paper.lit(-0.08)][book % 4];
        let x = middle - half + off;
        sheet.canvas.rect(x, base - thick, half * 2.0, thick, tone);
        let pages = if sheet.look.from_left { x + half * 0.3 } else { x };
        sheet.canvas.rect(pages + 1.0, base - thick + 0.9, half * 1.7 - 1.6, thick - 1.8, paper.lit(-0.03));
        let leaves: Vec<_> = (1..4)
            .map(|leaf| base - thick + 0.9 + (thick - 1.8) * leaf as f32 / 4.0)
            .map(|y| ((pages + 1.5, y), (pages + half * 1.7 - 1.2, y)))
            .collect();
        sheet.canvas.lines(leaves, 0.12, Ink::Veil(sheet.palette.shadow, 0.25));
        base -= thick;
        sheet.shade(&upright(x + 0.5, base + 0.1, half * 2.0 - 1.0, 0.5), 0.5);
    }
    let (wide, high) = (sheet.hand.between(26.0, 30.0), sheet.hand.between(32.0, 37.0));
    let lean = if sheet.look.from_left { 1.6 } else { -1.6 };
    let quad = [
        (middle - wide / 2.0 + lean, base - high),
        (middle + wide / 2.0 + lean, base - high),
        (middle + wide / 2.0, base),
        (middle - wide / 2.0, base),
    ];
    sheet.canvas.poly(&quad.map(|at| (at.0 + 1.6, at.1 - 0.4)), paper.lit(-0.06));
    let dark = sheet.palette.ink.lit(0.08);
    forms(sheet, &quad, colour, paper, second.mix(dark, 0.3));
    let spine = part(&quad, (0.0, 0.07), (0.0, 1.0));
    sheet.shade(&spine, 0.6);
}

pub(super) fn clock(sheet: &mut Sheet) {
    let at = (sheet.width() / 2.0, sheet.hand.between(45.0, 50.0));
    let (colour, size) = (thing(sheet), sheet.hand.between(24.0, 30.0));
    let dx = sheet.reach().signum() * 4.0;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        let veil = Ink::Veil(sheet.palette.shadow, sheet.palette.depth * 0.25);
        sheet.canvas.oval((at.0 + dx * by, at.1 + 4.0 * by), size, size, veil);
    }
    round(sheet, ellipse(at, size, size), at.0 - size, at.0 + size, colour);
    let dial = if colour.light > 0.6 { colour.lit(0.08) } else { sheet.palette.paper };
    sheet.canvas.oval(at, size * 0.87, size * 0.87, dial);
    let ink = sheet.palette.ink;
    let mark = |turn: f32, far: f32| (at.0 + turn.sin() * size * far, at.1 - turn.cos() * size * far);
    let turns = (0..12).map(|hour| hour as f32 * std::f32::consts::FRAC_PI_6);
    let marks: Vec<_> = turns.map(|turn| (mark(turn, 0.7), mark(turn, 0.79))).collect();
    sheet.canvas.lines(marks, 0.8, ink);
    let (hour, minute) = (sheet.hand.between(0.0, 6.2), sheet.hand.between(0.0, 6.2));
    sheet.canvas.line(at, mark(hour, 0.42), 1.5, ink);
    sheet.canvas.line(at, mark(minute, 0.66), 1.0, ink);
    let second = sheet.palette.second;
    sheet.canvas.oval(at, 1.8, 1.8, second);
}

pub(super) fn mirror(sheet: &mut Sheet) {
    let at = (sheet.width() / 2.0, 46.0);
    let (colour, size) = (thing(sheet), sheet.hand.between(25.0, 31.0));
    let tall = sheet.hand.one(&[1.0f32, 1.0, 1.22]);
    let dx = sheet.reach().signum() * 4.0;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        let veil = Ink::Veil(sheet.palette.shadow, sheet.palette.depth * 0.25);
        sheet.canvas.oval((at.0 + dx * by, at.1 + 4.0 * by), size, size * tall, veil);
    }
    round(sheet, ellipse(at, size, size * tall), at.0 - size, at.0 + size, colour);
    let glass = ellipse(at, size * 0.9, size * tall * 0.91);
    let (high, low) = (sheet.palette.high, sheet.palette.low.lit(0.04));
    sheet.canvas.fill(
        glass.clone(),
        Ink::Fade((at.0 - size, at.1 - size), (at.0 + size, at.1 + size), (low, 1.0), (high, 1.0)),
    );
    sheet.canvas.clip(glass);
    let second = sheet.palette.second;
    sheet.canvas.rect(at.0 - size, at.1 + size * 0.45, size * 2.0, size, second.mix(low, 0.35));
    sheet.shine(
        &[
            (at.0 - size, at.1 - size * 0.2),
            (at.0 - size * 0.2, at.1 - size * 1.2),
            (at.0 + size * 0.3, at.1 - size * 1.2),
            (at.0 - size, at.1 + size * 0.5),
        ],
        0.3,
    );
    sheet.canvas.unclip();
}
