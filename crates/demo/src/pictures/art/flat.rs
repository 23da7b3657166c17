//! Abstract flat works: fields, rings, edges, marks, weaves.

use std::f32::consts::TAU;

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::{Quad, cells, ellipse, point_on, polygon, sub_quad};
use super::super::style::Material;

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
        let (left, last) = (0.94 - top, field + 1 == count);
        let high = left * if last { 1.0 } else { (drawing.rng.range(0.16, 0.46) * 1.5).min(1.0) };
        let tone = [body, second, body.mix(ground, 0.4)][field % 3];
        for edge in 0..5 {
            // Soft edges: the field is drawn several times, smaller each time.
            let inset = 0.012 * edge as f32;
            let down = (top + inset * 0.7, top + high - inset * 0.7);
            let part = sub_quad(area, (0.06 + inset, 0.94 - inset), down);
            drawing.canvas.poly(&part, Fill::Alpha(tone, 0.3 + 0.12 * edge as f32));
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
        let off = size - thick - small;
        let (sin, cos) = drawing.rng.range(0.0, TAU).sin_cos();
        drawing.canvas.disc((at.0 + cos * off, at.1 + sin * off), small, second);
        return;
    }
    let rows = if area[3].1 - area[0].1 > wide * 1.2 { 3 } else { 2 };
    let (columns, rows) = if drawing.rng.chance(50) { (2, rows) } else { (1, 1) };
    for cell in cells(columns, rows, (1.0, 1.0)).map(|cell| cell.of(area)) {
        let ground = drawing.rng.choose(&[pale, deep, between, paper]);
        drawing.canvas.poly(&cell, ground);
        let corner = cell[drawing.rng.count(0, 3)];
        let most = (cell[1].0 - cell[0].0).max(1.0);
        drawing.canvas.clip(polygon(&cell));
        let count = drawing.rng.count(2, 5);
        for ring in 0..count {
            let size = most * (1.0 - ring as f32 / count as f32) * 0.98;
            let tone = if ring % 2 == 0 { drawing.rng.choose(&[body, second]) } else { ground };
            drawing.canvas.disc(corner, size, tone);
        }
        drawing.canvas.unclip();
    }
}

pub(super) fn edges(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, pale);
    let (one, two) = (drawing.rng.range(0.15, 0.5), drawing.rng.range(0.5, 0.9));
    let flip = drawing.rng.chance(50);
    let at = |s: f32, t: f32| point_on(area, if flip { 1.0 - s } else { s }, t);
    let edge = |s: f32| at(s, one + (two - one) * s);
    drawing.canvas.poly(&[edge(0.0), edge(1.0), at(1.0, 1.0), at(0.0, 1.0)], body);
    let cut = drawing.rng.range(0.3, 0.7);
    drawing.canvas.poly(&[edge(cut), edge(1.0), at(1.0, 1.0), at(cut * 0.6, 1.0)], deep);
    drawing.canvas.poly(&[at(0.0, 0.0), at(cut, 0.0), at(0.0, one * 0.9)], second);
    if drawing.rng.chance(60) {
        let size = (area[1].0 - area[0].0) * drawing.rng.range(0.1, 0.2);
        let spot = at(drawing.rng.range(0.55, 0.8), drawing.rng.range(0.16, 0.34));
        drawing.canvas.disc(spot, size, if drawing.rng.chance(50) { between } else { paper });
    }
    let bar = drawing.rng.range(0.02, 0.06);
    let bar = [edge(cut), edge(cut + bar), at(cut * 0.6 + bar, 1.0), at(cut * 0.6, 1.0)];
    drawing.canvas.poly(&bar, paper);
}

/// Draws dots, bars, strokes or triangles in rows.
pub(super) fn marks(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(drawing);
    drawing.canvas.poly(area, if body.light < 0.55 { pale } else { deep });
    let columns = drawing.rng.count(5, 11);
    let rows = (columns as f32 * (area[3].1 - area[0].1) / (area[1].0 - area[0].0)).round() as usize;
    let kind = drawing.rng.count(0, 3);
    let field = sub_quad(area, (0.04, 0.96), (0.04, 0.96));
    for place in cells(columns, rows, (1.0, 1.0)) {
        let cell = place.of(&field);
        let other = drawing.rng.chance(9);
        let tone = if other { second } else { body.lighter(drawing.rng.range(-0.04, 0.05)) };
        let (at, size) = (point_on(&cell, 0.5, 0.5), (cell[1].0 - cell[0].0) * 0.5);
        let grow = drawing.rng.range(0.62, 0.86);
        match kind {
            0 => drawing.canvas.disc(at, size * grow, tone),
            1 => drawing.canvas.poly(&sub_quad(&cell, (0.14, 0.86), (0.32, 0.32 + 0.4 * grow)), tone),
            2 => {
                let (lean, high) = (drawing.rng.range(-0.3, 0.3) * size, size * grow);
                let ends = ((at.0 + lean, at.1 - high), (at.0 - lean, at.1 + high));
                drawing.canvas.line(ends.0, ends.1, size * 0.3, tone);
            }
            _ if place.is_even() => drawing.canvas.poly(&[cell[0], cell[1], cell[2]], tone),
            _ => drawing.canvas.poly(&[cell[0], cell[2], cell[3]], tone),
        }
    }
}

pub(super) fn woven(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, body);
    let mut top: f32 = 0.0;
    while top < 1.0 {
        let high = drawing.rng.choose(&[0.02f32, 0.035, 0.06, 0.1, 0.16]);
        let tone = drawing.rng.choose(&[body, body, second, pale, deep, between]);
        let band = sub_quad(area, (0.0, 1.0), (top, (top + high).min(1.0)));
        drawing.canvas.poly(&band, tone);
        top += high;
        if high <= 0.05 {
            continue;
        }
        let count = drawing.rng.count(3, 8);
        let step = drawing.rng.choose(&[0usize, 1, 2]);
        let form = drawing.rng.choose(&[second, paper, deep, body]);
        for cell in cells(count, 1, (1.0, 1.0)) {
            let quad = cell.of(&band);
            let on = |s: f32, t: f32| point_on(&quad, s, t);
            match step {
                0 if cell.is_even() => drawing.canvas.poly(&quad, form),
                1 => drawing.canvas.poly(&[on(0.0, 1.0), on(0.5, 0.0), on(1.0, 1.0)], form),
                2 => drawing.canvas.poly(&[on(0.0, 0.5), on(0.5, 0.08), on(1.0, 0.5), on(0.5, 0.92)], form),
                _ => {}
            }
        }
    }
    drawing.texture(area, body, Material::Cloth, 0.75);
}
