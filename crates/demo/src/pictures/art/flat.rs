//! Flat works of pure form: fields, rings, edges, rows, weaves.

use super::super::canvas::{Ink, ellipse};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::{Quad, on, part};

/// The colours of a flat work, ground first; all of one family.
pub(super) fn tones(sheet: &Sheet) -> [Colour; 6] {
    let palette = sheet.palette;
    let body = palette.body;
    let pale = body.at(if body.light > 0.8 { 0.72 } else { 0.88 }).mix(palette.paper, 0.3);
    let deep = body.at(if body.light < 0.35 { 0.5 } else { 0.32 });
    [body, palette.second, pale, deep, palette.paper, body.mix(palette.second, 0.5)]
}

pub(super) fn fields(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(sheet);
    let ground = if sheet.hand.chance(50) { deep } else { pale };
    sheet.canvas.poly(area, ground);
    let mut top = 0.06;
    let count = sheet.hand.count(2, 3);
    for field in 0..count {
        let high =
            if field + 1 == count { 0.94 - top } else { sheet.hand.between(0.16, 0.46) * (0.94 - top) * 1.5 };
        let high = high.min(0.94 - top);
        let tone = [body, second, body.mix(ground, 0.4)][field % 3];
        for edge in 0..5 {
            // Soft edges: the same field a little smaller each time.
            let in_by = 0.012 * edge as f32;
            let cover = 0.3 + 0.12 * edge as f32;
            sheet.canvas.poly(
                &part(area, (0.06 + in_by, 0.94 - in_by), (top + in_by * 0.7, top + high - in_by * 0.7)),
                Ink::Veil(tone, cover),
            );
        }
        top += high + 0.025;
        if top > 0.86 {
            break;
        }
    }
}

pub(super) fn rings(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(sheet);
    sheet.canvas.poly(area, pale);
    let wide = area[1].0 - area[0].0;
    if sheet.hand.chance(45) {
        let at = on(area, sheet.hand.between(0.4, 0.6), sheet.hand.between(0.42, 0.56));
        let size = wide * sheet.hand.between(0.36, 0.44);
        let thick = size * sheet.hand.between(0.16, 0.4);
        sheet.canvas.stroke(ellipse(at, size - thick / 2.0, size - thick / 2.0), thick, body);
        let small = size * sheet.hand.between(0.12, 0.3);
        let off = size - thick;
        let turn = sheet.hand.between(0.0, std::f32::consts::TAU);
        sheet.canvas.oval(
            (at.0 + turn.cos() * (off - small), at.1 + turn.sin() * (off - small)),
            small,
            small,
            second,
        );
        return;
    }
    let (columns, rows) = if sheet.hand.chance(50) {
        (2, if area[3].1 - area[0].1 > wide * 1.2 { 3 } else { 2 })
    } else {
        (1, 1)
    };
    for row in 0..rows {
        for column in 0..columns {
            let cell = part(
                area,
                (column as f32 / columns as f32, (column + 1) as f32 / columns as f32),
                (row as f32 / rows as f32, (row + 1) as f32 / rows as f32),
            );
            let ground = sheet.hand.one(&[pale, deep, between, paper]);
            sheet.canvas.poly(&cell, ground);
            let corner = cell[sheet.hand.count(0, 3)];
            let most = (cell[1].0 - cell[0].0).max(1.0);
            let outline = super::super::canvas::polygon(&cell);
            sheet.canvas.clip(outline);
            let count = sheet.hand.count(2, 5);
            for ring in 0..count {
                let size = most * (1.0 - ring as f32 / count as f32) * 0.98;
                let tone = if ring % 2 == 0 { sheet.hand.one(&[body, second]) } else { ground };
                sheet.canvas.oval(corner, size, size, tone);
            }
            sheet.canvas.unclip();
        }
    }
}

pub(super) fn edges(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(sheet);
    sheet.canvas.poly(area, pale);
    let (one, two) = (sheet.hand.between(0.15, 0.5), sheet.hand.between(0.5, 0.9));
    let flip = sheet.hand.chance(50);
    let at = |s: f32, t: f32| on(area, if flip { 1.0 - s } else { s }, t);
    sheet.canvas.poly(&[at(0.0, one), at(1.0, two), at(1.0, 1.0), at(0.0, 1.0)], body);
    let cut = sheet.hand.between(0.3, 0.7);
    sheet
        .canvas
        .poly(&[at(cut, one + (two - one) * cut), at(1.0, two), at(1.0, 1.0), at(cut * 0.6, 1.0)], deep);
    sheet.canvas.poly(&[at(0.0, 0.0), at(cut, 0.0), at(0.0, one * 0.9)], second);
    if sheet.hand.chance(60) {
        let size = (area[1].0 - area[0].0) * sheet.hand.between(0.1, 0.2);
        let spot = at(sheet.hand.between(0.55, 0.8), sheet.hand.between(0.16, 0.34));
        sheet.canvas.oval(spot, size, size, if sheet.hand.chance(50) { between } else { paper });
    }
    let bar = sheet.hand.between(0.02, 0.06);
    sheet.canvas.poly(
        &[
            at(cut, one + (two - one) * cut),
            at(cut + bar, one + (two - one) * (cut + bar)),
            at(cut * 0.6 + bar, 1.0),
            at(cut * 0.6, 1.0),
        ],
        paper,
    );
}

pub(super) fn rows(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(sheet);
    let ground = if body.light < 0.55 { pale } else { deep };
    sheet.canvas.poly(area, ground);
    let columns = sheet.hand.count(5, 11);
    let rows = (columns as f32 * (area[3].1 - area[0].1) / (area[1].0 - area[0].0)).round() as usize;
    let kind = sheet.hand.count(0, 3);
    for row in 0..rows {
        for column in 0..columns {
            let cell = part(
                area,
                (
                    0.04 + 0.92 * column as f32 / columns as f32,
                    0.04 + 0.92 * (column + 1) as f32 / columns as f32,
                ),
                (0.04 + 0.92 * row as f32 / rows as f32, 0.04 + 0.92 * (row + 1) as f32 / rows as f32),
            );
            let other = sheet.hand.chance(9);
            let tone = if other { second } else { body.lit(sheet.hand.between(-0.04, 0.05)) };
            let (a, size) = (on(&cell, 0.5, 0.5), (cell[1].0 - cell[0].0) * 0.5);
            let grow = sheet.hand.between(0.62, 0.86);
            match kind {
                0 => sheet.canvas.oval(a, size * grow, size * grow, tone),
                1 => sheet.canvas.poly(&part(&cell, (0.14, 0.86), (0.32, 0.32 + 0.4 * grow)), tone),
                2 => {
                    let lean = sheet.hand.between(-0.3, 0.3) * size;
                    sheet.canvas.line(
                        (a.0 + lean, a.1 - size * grow),
                        (a.0 - lean, a.1 + size * grow),
                        size * 0.3,
                        tone,
                    );
                }
                _ => {
                    let half = if (row + column) % 2 == 0 {
                        [cell[0], cell[1], cell[2]]
                    } else {
                        [cell[0], cell[2], cell[3]]
                    };
                    sheet.canvas.poly(&half, tone);
                }
            }
        }
    }
}

pub(super) fn woven(sheet: &mut Sheet, area: &Quad) {
    let all = tones(sheet);
    let [body, second, pale, deep, paper, between] = all;
    sheet.canvas.poly(area, body);
    let mut top: f32 = 0.0;
    while top < 1.0 {
        let high = sheet.hand.one(&[0.02f32, 0.035, 0.06, 0.1, 0.16]);
        let tone = sheet.hand.one(&[body, body, second, pale, deep, between]);
        let band = part(area, (0.0, 1.0), (top, (top + high).min(1.0)));
        sheet.canvas.poly(&band, tone);
        if high > 0.05 {
            let count = sheet.hand.count(3, 8);
            let step = sheet.hand.one(&[0usize, 1, 2]);
            let form = sheet.hand.one(&[second, paper, deep, body]);
            for piece in 0..count {
                let (left, right) = (piece as f32 / count as f32, (piece + 1) as f32 / count as f32);
                match step {
                    0 if piece % 2 == 0 => sheet.canvas.poly(&part(&band, (left, right), (0.0, 1.0)), form),
                    1 => sheet.canvas.poly(
                        &[on(&band, left, 1.0), on(&band, (left + right) / 2.0, 0.0), on(&band, right, 1.0)],
                        form,
                    ),
                    2 => {
                        let middle = (left + right) / 2.0;
                        sheet.canvas.poly(
                            &[
                                on(&band, left, 0.5),
                                on(&band, middle, 0.08),
                                on(&band, right, 0.5),
                                on(&band, middle, 0.92),
                            ],
                            form,
                        );
                    }
                    _ => {}
                }
            }
        }
        top += high;
    }
    sheet.texture(area, body, super::super::look::Material::Cloth, 0.75);
}
