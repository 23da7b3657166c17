//! Built-in elements: shelves, stairs, counters.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{Quad, cells, point_on, rect_quad, shifted, slant, sub_quad, taper};
use super::Space;
use super::furniture::{block, pendant, small_object, wood};

pub(super) fn shelves(drawing: &mut Drawing, space: &Space) {
    let colour = wood(drawing);
    let across = if drawing.style.from_left { (0.5, 0.97) } else { (0.03, 0.5) };
    let case = sub_quad(&space.back, across, (0.1, 1.0));
    drawing.canvas.poly(&case, colour.lighter(-0.14));
    let (columns, rows) = (drawing.rng.count(2, 4), drawing.rng.count(4, 6));
    let palette = drawing.palette;
    let books = [
        palette.second,
        palette.body,
        palette.lightest.lighter(-0.06),
        palette.darkest.lighter(0.14),
        palette.body.lighter(-0.14),
        palette.second.lighter(0.12),
    ];
    for cell in cells(columns, rows, (1.0, 1.0)).map(|cell| cell.of(&case)) {
        let mut at = 0.06;
        let full = drawing.rng.range(0.35, 0.95);
        while at < full {
            let thick = drawing.rng.range(0.045, 0.11);
            let top = drawing.rng.range(0.22, 0.5);
            let book = drawing.rng.choose(&books);
            let by = drawing.rng.range(-0.04, 0.04);
            drawing.canvas.poly(&sub_quad(&cell, (at, at + thick), (top, 0.94)), book.lighter(by));
            at += thick + 0.012;
        }
        drawing.shade(&sub_quad(&cell, (0.0, 1.0), (0.04, 0.2)), 0.8);
    }
    drawing.bars(&case, (columns, rows), 0.9, colour.lighter(0.04));
    let (low, high) = if drawing.style.from_left { (0.12, 0.42) } else { (0.56, 0.86) };
    let seat = palette.second.with_lightness((colour.light + 0.12).min(0.8));
    block(drawing, space, ((low, high), (0.3, 0.52)), 7.0, seat);
    let x = point_on(&space.floor, (low + high) / 2.0, 0.3).0;
    pendant(drawing, (x, 33.0), 3.4);
}

pub(super) fn stair(drawing: &mut Drawing, space: &Space) {
    let colour = wood(drawing);
    let up_right = drawing.style.from_left;
    let back = space.back;
    let count = 11;
    let (start, end) = if up_right { (0.42, 0.98) } else { (0.58, 0.02) };
    let foot = point_on(&back, start, 1.0);
    let head = point_on(&back, end, 0.12);
    let (run, rise) = ((head.0 - foot.0) / count as f32, (foot.1 - head.1) / count as f32);
    let reach = drawing.shadow_reach() * 4.0;
    drawing
        .shade(&[(foot.0 + reach, foot.1), (head.0 + reach, head.1 + 5.0), (head.0 + reach, foot.1)], 0.75);
    for step in 0..count {
        let (x, y) = (foot.0 + run * step as f32, foot.1 + 5.0 - rise * (step as f32 + 1.0));
        let (left, wide) = if run > 0.0 { (x, run) } else { (x + run, -run) };
        drawing.canvas.rect(left, y, wide + 0.2, foot.1 + 5.0 - y, colour.lighter(-0.04));
        drawing.canvas.rect(left - 0.3, y - 0.2, wide + 0.8, 1.0, colour.lighter(0.13));
        let nosing = [(left, y), (left + wide, y), (left + wide, y - 1.8), (left + run * 0.3, y - 1.8)];
        drawing.canvas.poly(&nosing, Fill::Alpha(colour.lighter(0.08), 0.6));
    }
    let ink = drawing.palette.darkest.lighter(0.06);
    let rail = (0..count)
        .map(|step| (foot.0 + run * (step as f32 + 0.5), foot.1 + 5.0 - rise * (step as f32 + 1.0)))
        .map(|at| (at, (at.0, at.1 - 9.0)));
    drawing.canvas.lines(rail, 0.22, ink);
    let ends = ((foot.0 + run * 0.5, foot.1 - 4.0 - rise), (head.0 - run * 0.5, head.1 - 4.0));
    drawing.canvas.line(ends.0, ends.1, 0.7, ink);
    let (low, high) = if up_right { (0.08, 0.34) } else { (0.66, 0.92) };
    let seat = drawing.palette.second.lighter(0.04);
    block(drawing, space, ((low, high), (0.24, 0.44)), 7.5, seat);
    let at = (point_on(&space.floor, 0.5, 0.5).0, space.back[2].1 + 17.0);
    if drawing.rng.chance(40) {
        drawing.person(at, 30.0);
    }
}

pub(super) fn counter(drawing: &mut Drawing, space: &Space) {
    let palette = drawing.palette;
    let colour = palette.second.with_lightness(if palette.ground.light > 0.5 { 0.46 } else { 0.6 });
    let (left, right) = if drawing.style.from_left { (0.2, 0.94) } else { (0.06, 0.8) };
    let shelf = sub_quad(&space.back, (left, right), (0.3, 0.34));
    for up in [0.0, 12.0] {
        jars(drawing, &shifted(shelf, (0.0, up)));
    }
    let base = space.back[2].1 + 12.0;
    let (x, wide) = (shelf[0].0 - 6.0, shelf[1].0 - shelf[0].0 + 10.0);
    let front = rect_quad(x, base - 21.0, wide, 21.0);
    drawing.shade(&slant((x, x + wide), base, (drawing.shadow_reach() * 10.0, 5.0)), 0.9);
    drawing.canvas.poly(&front, colour);
    drawing.texture(&front, colour, drawing.style.material, 1.0);
    drawing.fading_shade(&front, front[3], front[0], 0.5);
    let (middle, half) = (x + wide / 2.0, wide / 2.0);
    let top = taper((middle, base - 24.5), half - 3.0, (middle, base - 21.0), half + 1.0);
    drawing.canvas.poly(&top, palette.lightest.mix(colour, 0.35));
    drawing.canvas.rect(x - 1.0, base - 21.2, wide + 2.0, 1.3, colour.lighter(0.2));
    let at = (x + wide * drawing.rng.range(0.15, 0.4), base - 22.5);
    small_object(drawing, at, 2.4);
    let stools = drawing.rng.count(2, 4);
    for stool in 0..stools {
        let at = (x + wide * (stool as f32 + 0.6) / (stools as f32 + 0.2), base + 6.0);
        drawing.contact_shadow(at, 4.0, 1.0);
        let [a, b, c, d] = taper((at.0, at.1 - 13.0), 1.6, at, 2.6);
        drawing.canvas.lines([(a, d), (b, c)], 0.6, palette.darkest.lighter(0.08));
        drawing.canvas.oval((at.0, at.1 - 13.4), 3.2, 0.95, palette.body.lighter(-0.08));
    }
    for lamp in 0..3 {
        pendant(drawing, (x + wide * (0.2 + 0.3 * lamp as f32), 26.0), 3.2);
    }
}

/// Draws a wall shelf with jars.
fn jars(drawing: &mut Drawing, board: &Quad) {
    let palette = drawing.palette;
    let (dark, pale) = (palette.body.lighter(-0.12), palette.lightest.lighter(-0.08));
    let tones = [palette.second, dark, pale, palette.green];
    drawing.shade(&shifted(*board, (0.0, 1.6)), 0.7);
    drawing.canvas.poly(board, wood(drawing).lighter(0.06));
    let (mut x, y) = (board[0].0 + 2.0, board[0].1);
    while x < board[1].0 - 3.0 {
        let (wide, high) = (drawing.rng.range(1.2, 2.6), drawing.rng.range(3.0, 7.5));
        let jar = drawing.rng.choose(&tones);
        drawing.canvas.rect(x, y - high, wide, high, jar);
        drawing.canvas.rect(x + wide * 0.3, y - high - 1.0, wide * 0.4, 1.0, jar.lighter(-0.08));
        x += wide + drawing.rng.range(0.6, 3.4);
    }
}
