//! What is built in: shelves, stairs, counters.

use super::super::canvas::Ink;
use super::super::sheet::Sheet;
use super::super::texture::{on, part, upright};
use super::Box;
use super::furniture::{block, pendant, still, wood};

pub(super) fn shelves(sheet: &mut Sheet, space: &Box) {
    let colour = wood(sheet);
    let across = if sheet.look.from_left { (0.5, 0.97) } else { (0.03, 0.5) };
    let case = part(&space.back, across, (0.1, 1.0));
    sheet.canvas.poly(&case, colour.lit(-0.14));
    let (columns, rows) = (sheet.hand.count(2, 4), sheet.hand.count(4, 6));
    let palette = sheet.palette;
    let books = [
        palette.second,
        palette.body,
        palette.paper.lit(-0.06),
        palette.ink.lit(0.14),
        palette.body.lit(-0.14),
        palette.second.lit(0.12),
    ];
    for row in 0..rows {
        for column in 0..columns {
            let cell = part(
                &case,
                (column as f32 / columns as f32, (column + 1) as f32 / columns as f32),
                (row as f32 / rows as f32, (row + 1) as f32 / rows as f32),
            );
            let mut at = 0.06;
            let full = sheet.hand.between(0.35, 0.95);
            while at < full {
                let thick = sheet.hand.between(0.045, 0.11);
                let top = sheet.hand.between(0.22, 0.5);
                let book = sheet.hand.one(&books);
                let by = sheet.hand.between(-0.04, 0.04);
                sheet.canvas.poly(&part(&cell, (at, at + thick), (top, 0.94)), book.lit(by));
                at += thick + 0.012;
            }
            sheet.shade(&part(&cell, (0.0, 1.0), (0.04, 0.2)), 0.8);
        }
    }
    let boards: Vec<_> = (0..=rows)
        .map(|row| row as f32 / rows as f32)
        .map(|at| (on(&case, 0.0, at), on(&case, 1.0, at)))
        .chain(
            (0..=columns)
                .map(|at| at as f32 / columns as f32)
                .map(|at| (on(&case, at, 0.0), on(&case, at, 1.0))),
        )
        .collect();
    sheet.canvas.lines(boards, 0.9, colour.lit(0.04));
    let (low, high) = if sheet.look.from_left { (0.12, 0.42) } else { (0.56, 0.86) };
    let seat = palette.second.at((colour.light + 0.12).min(0.8));
    block(sheet, space, (low, high), (0.3, 0.52), 7.0, seat);
    let x = on(&space.floor, (low + high) / 2.0, 0.3).0;
    pendant(sheet, (x, 33.0), 3.4);
}

pub(super) fn stair(sheet: &mut Sheet, space: &Box) {
    let colour = wood(sheet);
    let up_right = sheet.look.from_left;
    let back = space.back;
    let count = 11;
    let (start, end) = if up_right { (0.42, 0.98) } else { (0.58, 0.02) };
    let foot = on(&back, start, 1.0);
    let head = on(&back, end, 0.12);
    let (run, rise) = ((head.0 - foot.0) / count as f32, (foot.1 - head.1) / count as f32);
    let reach = sheet.reach() * 4.0;
    sheet.shade(&[(foot.0 + reach, foot.1), (head.0 + reach, head.1 + 5.0), (head.0 + reach, foot.1)], 0.75);
    for step in 0..count {
        let (x, y) = (foot.0 + run * step as f32, foot.1 + 5.0 - rise * (step as f32 + 1.0));
        let (left, wide) = if run > 0.0 { (x, run) } else { (x + run, -run) };
        sheet.canvas.rect(left, y, wide + 0.2, foot.1 + 5.0 - y, colour.lit(-0.04));
        sheet.canvas.rect(left - 0.3, y - 0.2, wide + 0.8, 1.0, colour.lit(0.13));
        sheet.canvas.poly(
            &[(left, y), (left + wide, y), (left + wide, y - 1.8), (left + run * 0.3, y - 1.8)],
            Ink::Veil(colour.lit(0.08), 0.6),
        );
    }
    let ink = sheet.palette.ink.lit(0.06);
    let rail: Vec<_> = (0..count)
        .map(|step| (foot.0 + run * (step as f32 + 0.5), foot.1 + 5.0 - rise * (step as f32 + 1.0)))
        .map(|at| (at, (at.0, at.1 - 9.0)))
        .collect();
    sheet.canvas.lines(rail, 0.22, ink);
    sheet.canvas.line(
        (foot.0 + run * 0.5, foot.1 - 4.0 - rise),
        (head.0 - run * 0.5, head.1 - 4.0),
        0.7,
        ink,
    );
    let (low, high) = if up_right { (0.08, 0.34) } else { (0.66, 0.92) };
    let seat = sheet.palette.second.lit(0.04);
    block(sheet, space, (low, high), (0.24, 0.44), 7.5, seat);
    let at = (on(&space.floor, 0.5, 0.5).0, space.back[2].1 + 17.0);
    if sheet.hand.chance(40) {
        sheet.somebody(at, 30.0);
    }
}

pub(super) fn counter(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let colour = palette.second.at(if palette.ground.light > 0.5 { 0.46 } else { 0.6 });
    let (left, right) = if sheet.look.from_left { (0.2, 0.94) } else { (0.06, 0.8) };
    let shelf = part(&space.back, (left, right), (0.3, 0.34));
    for up in [0.0, 12.0] {
        let board = shelf.map(|at| (at.0, at.1 + up));
        sheet.shade(&board.map(|at| (at.0, at.1 + 1.6)), 0.7);
        sheet.canvas.poly(&board, wood(sheet).lit(0.06));
        let mut x = board[0].0 + 2.0;
        while x < board[1].0 - 3.0 {
            let (wide, high) = (sheet.hand.between(1.2, 2.6), sheet.hand.between(3.0, 7.5));
            let jar = sheet.hand.one(&[
                palette.second,
                palette.body.lit(-0.12),
                palette.paper.lit(-0.08),
                palette.green,
            ]);
            sheet.canvas.rect(x, board[0].1 - high, wide, high, jar);
            sheet.canvas.rect(x + wide * 0.3, board[0].1 - high - 1.0, wide * 0.4, 1.0, jar.lit(-0.08));
            x += wide + sheet.hand.between(0.6, 3.4);
        }
    }
    let base = space.back[2].1 + 12.0;
    let (x, wide) =
        (on(&space.back, left, 1.0).0 - 6.0, (right - left) * (space.back[1].0 - space.back[0].0) + 10.0);
    let front = upright(x, base - 21.0, wide, 21.0);
    sheet.shade(
        &[
            front[3],
            front[2],
            (front[2].0 + sheet.reach() * 10.0, base + 5.0),
            (front[3].0 + sheet.reach() * 10.0, base + 5.0),
        ],
        0.9,
    );
    sheet.canvas.poly(&front, colour);
    let material = sheet.look.material;
    sheet.texture(&front, colour, material, 1.0);
    sheet.fading_shade(&front, front[3], front[0], 0.5);
    sheet.canvas.poly(
        &[
            (x - 1.0, base - 21.0),
            (x + wide + 1.0, base - 21.0),
            (x + wide - 3.0, base - 24.5),
            (x + 3.0, base - 24.5),
        ],
        palette.paper.mix(colour, 0.35),
    );
    sheet.canvas.rect(x - 1.0, base - 21.2, wide + 2.0, 1.3, colour.lit(0.2));
    let at = (x + wide * sheet.hand.between(0.15, 0.4), base - 22.5);
    still(sheet, at, 2.4);
    let stools = sheet.hand.count(2, 4);
    for stool in 0..stools {
        let at = (x + wide * (stool as f32 + 0.6) / (stools as f32 + 0.2), base + 6.0);
        sheet.contact((at.0, at.1), 4.0, 1.0);
        sheet.canvas.lines(
            [
                ((at.0 - 1.6, at.1 - 13.0), (at.0 - 2.6, at.1)),
                ((at.0 + 1.6, at.1 - 13.0), (at.0 + 2.6, at.1)),
            ],
            0.6,
            palette.ink.lit(0.08),
        );
        sheet.canvas.oval((at.0, at.1 - 13.4), 3.2, 0.95, palette.body.lit(-0.08));
    }
    for lamp in 0..3 {
        pendant(sheet, (x + wide * (0.2 + 0.3 * lamp as f32), 26.0), 3.2);
    }
}
