//! Abstract flat works: fields, rings, edges, rows, weaves.

use super::super::canvas::{Fill, ellipse};
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::texture::{Quad, point_on, sub_quad};

/// Returns six related colours of a flat work, the ground first.
pub(super) fn tones(drawing: &Drawing) -> [Colour; 6] {
    let palette = drawing.palette;
    let body = palette.body;
    let pale = body.with_lightness(if body.light > 0.8 { 0.72 } else { 0.88 }).mix(palette.lightest, 0.3);
    let deep = body.with_lightness(if body.light < 0.35 { 0.5 } else { 0.32 });
    [body, palette.second, pale, deep, palette.lightest, body.mix(palette.second, 0.5)]
}

pub(super) fn fields(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(drawing);
    let ground = if drawing.rng.chance(50) { deep } else { pale };
    drawing.canvas.poly(area, ground);
    let mut top = 0.06;
    let count = drawing.rng.count(2, 3);
    for field in 0..count {
        let high =
            if field + 1 == count { 0.94 - top } else { drawing.rng.range(0.16, 0.46) * (0.94 - top) * 1.5 };
        let high = high.min(0.94 - top);
        let tone = [body, second, body.mix(ground, 0.4)][field % 3];
        for edge in 0..5 {
            // Soft edges: the field is drawn several times, smaller each time.
            let in_by = 0.012 * edge as f32;
            let cover = 0.3 + 0.12 * edge as f32;
            drawing.canvas.poly(
                &sub_quad(area, (0.06 + in_by, 0.94 - in_by), (top + in_by * 0.7, top + high - in_by * 0.7)),
                Fill::Alpha(tone, cover),
            );
        }
        top += high + 0.025;
        if top > 0.86 {
            break;
        }
    }
}

pub(super) fn rings(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, pale);
    let wide = area[1].0 - area[0].0;
    if drawing.rng.chance(45) {
        let at = point_on(area, drawing.rng.range(0.4, 0.6), drawing.rng.range(0.42, 0.56));
        let size = wide * drawing.rng.range(0.36, 0.44);
        let thick = size * drawing.rng.range(0.16, 0.4);
        drawing.canvas.stroke(ellipse(at, size - thick / 2.0, size - thick / 2.0), thick, body);
        let small = size * drawing.rng.range(0.12, 0.3);
        let off = size - thick;
        let turn = drawing.rng.range(0.0, std::f32::consts::TAU);
        drawing.canvas.oval(
            (at.0 + turn.cos() * (off - small), at.1 + turn.sin() * (off - small)),
            small,
            small,
            second,
        );
        return;
    }
    let (columns, rows) = if drawing.rng.chance(50) {
        (2, if area[3].1 - area[0].1 > wide * 1.2 { 3 } else { 2 })
    } else {
        (1, 1)
    };
    for row in 0..rows {
        for column in 0..columns {
            let cell = sub_quad(
                area,
                (column as f32 / columns as f32, (column + 1) as f32 / columns as f32),
                (row as f32 / rows as f32, (row + 1) as f32 / rows as f32),
            );
            let ground = drawing.rng.choose(&[pale, deep, between, paper]);
            drawing.canvas.poly(&cell, ground);
            let corner = cell[drawing.rng.count(0, 3)];
            let most = (cell[1].0 - cell[0].0).max(1.0);
            let outline = super::super::canvas::polygon(&cell);
            drawing.canvas.clip(outline);
            let count = drawing.rng.count(2, 5);
            for ring in 0..count {
                let size = most * (1.0 - ring as f32 / count as f32) * 0.98;
                let tone = if ring % 2 == 0 { drawing.rng.choose(&[body, second]) } else { ground };
                drawing.canvas.oval(corner, size, size, tone);
            }
            drawing.canvas.unclip();
        }
    }
}

pub(super) fn edges(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, pale);
    let (one, two) = (drawing.rng.range(0.15, 0.5), drawing.rng.range(0.5, 0.9));
    let flip = drawing.rng.chance(50);
    let at = |s: f32, t: f32| point_on(area, if flip { 1.0 - s } else { s }, t);
    drawing.canvas.poly(&[at(0.0, one), at(1.0, two), at(1.0, 1.0), at(0.0, 1.0)], body);
    let cut = drawing.rng.range(0.3, 0.7);
    drawing
        .canvas
        .poly(&[at(cut, one + (two - one) * cut), at(1.0, two), at(1.0, 1.0), at(cut * 0.6, 1.0)], deep);
    drawing.canvas.poly(&[at(0.0, 0.0), at(cut, 0.0), at(0.0, one * 0.9)], second);
    if drawing.rng.chance(60) {
        let size = (area[1].0 - area[0].0) * drawing.rng.range(0.1, 0.2);
        let spot = at(drawing.rng.range(0.55, 0.8), drawing.rng.range(0.16, 0.34));
        drawing.canvas.oval(spot, size, size, if drawing.rng.chance(50) { between } else { paper });
    }
    let bar = drawing.rng.range(0.02, 0.06);
    drawing.canvas.poly(
        &[
            at(cut, one + (two - one) * cut),
            at(cut + bar, one + (two - one) * (cut + bar)),
            at(cut * 0.6 + bar, 1.0),
            at(cut * 0.6, 1.0),
        ],
        paper,
    );
}

pub(super) fn rows(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(drawing);
    let ground = if body.light < 0.55 { pale } else { deep };
    drawing.canvas.poly(area, ground);
    let columns = drawing.rng.count(5, 11);
    let rows = (columns as f32 * (area[3].1 - area[0].1) / (area[1].0 - area[0].0)).round() as usize;
    let kind = drawing.rng.count(0, 3);
    for row in 0..rows {
        for column in 0..columns {
            let cell = sub_quad(
                area,
                (
                    0.04 + 0.92 * column as f32 / columns as f32,
                    0.04 + 0.92 * (column + 1) as f32 / columns as f32,
                ),
                (0.04 + 0.92 * row as f32 / rows as f32, 0.04 + 0.92 * (row + 1) as f32 / rows as f32),
            );
            let other = drawing.rng.chance(9);
            let tone = if other { second } else { body.lighter(drawing.rng.range(-0.04, 0.05)) };
            let (a, size) = (point_on(&cell, 0.5, 0.5), (cell[1].0 - cell[0].0) * 0.5);
            let grow = drawing.rng.range(0.62, 0.86);
            match kind {
                0 => drawing.canvas.oval(a, size * grow, size * grow, tone),
                1 => drawing.canvas.poly(&sub_quad(&cell, (0.14, 0.86), (0.32, 0.32 + 0.4 * grow)), tone),
                2 => {
                    let lean = drawing.rng.range(-0.3, 0.3) * size;
                    drawing.canvas.line(
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
                    drawing.canvas.poly(&half, tone);
                }
            }
        }
    }
}

pub(super) fn woven(drawing: &mut Drawing, area: &Quad) {
    let all = tones(drawing);
    let [body, second, pale, deep, paper, between] = all;
    drawing.canvas.poly(area, body);
    let mut top: f32 = 0.0;
    while top < 1.0 {
        let high = drawing.rng.choose(&[0.02f32, 0.035, 0.06, 0.1, 0.16]);
        let tone = drawing.rng.choose(&[body, body, second, pale, deep, between]);
        let band = sub_quad(area, (0.0, 1.0), (top, (top + high).min(1.0)));
        drawing.canvas.poly(&band, tone);
        if high > 0.05 {
            let count = drawing.rng.count(3, 8);
            let step = drawing.rng.choose(&[0usize, 1, 2]);
            let form = drawing.rng.choose(&[second, paper, deep, body]);
            for piece in 0..count {
                let (left, right) = (piece as f32 / count as f32, (piece + 1) as f32 / count as f32);
                match step {
                    0 if piece % 2 == 0 => {
                        drawing.canvas.poly(&sub_quad(&band, (left, right), (0.0, 1.0)), form)
                    }
                    1 => drawing.canvas.poly(
                        &[
                            point_on(&band, left, 1.0),
                            point_on(&band, (left + right) / 2.0, 0.0),
                            point_on(&band, right, 1.0),
                        ],
                        form,
                    ),
                    2 => {
                        let middle = (left + right) / 2.0;
                        drawing.canvas.poly(
                            &[
                                point_on(&band, left, 0.5),
                                point_on(&band, middle, 0.08),
                                point_on(&band, right, 0.5),
                                point_on(&band, middle, 0.92),
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
    drawing.texture(area, body, super::super::style::Material::Cloth, 0.75);
}
