//! Cloths, posters, books, clocks and mirrors.

use std::f32::consts::FRAC_PI_6;

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::{
    Point, Quad, cells, ellipse, placed, point_on, polygon, rect_quad, shares, shifted, sub_quad,
};
use super::super::style::Material;
use super::{round, shadow};

/// Draws the shadow of an object on a wall.
fn on_wall(drawing: &mut Drawing, quad: &Quad, off: f32) {
    let dx = drawing.shadow_reach().signum() * off;
    for by in shares(1..4, 3) {
        drawing.shade(&shifted(*quad, (dx * by, off * 0.9 * by)), 0.28);
    }
}

pub(super) fn cloth(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (drawing.palette.body, drawing.palette.second);
    let quad = rect_quad(width * 0.17, 14.0, width * 0.66, 72.0);
    drawing.canvas.line((width * 0.1, 13.6), (width * 0.9, 13.6), 1.1, drawing.palette.darkest);
    on_wall(drawing, &quad, 3.0);
    drawing.canvas.poly(&quad, colour);
    let band = |top: f32, low: f32| sub_quad(&quad, (0.0, 1.0), (top, low));
    match drawing.rng.count(0, 3) {
        0 => {
            for _ in 0..drawing.rng.count(3, 6) {
                let (top, thick) = (drawing.rng.range(0.05, 0.9), drawing.rng.range(0.01, 0.09));
                let tone = drawing.rng.choose(&[second, colour.lighter(0.12), colour.lighter(-0.12)]);
                drawing.canvas.poly(&band(top, (top + thick).min(1.0)), tone);
            }
        }
        1 => {
            let count = drawing.rng.count(3, 6);
            for cell in cells(count, count, (1.0, 1.0)).filter(|cell| cell.is_even()) {
                drawing.canvas.poly(&cell.of(&quad), second.mix(colour, 0.25));
            }
        }
        2 => {
            drawing.canvas.poly(&sub_quad(&quad, (0.12, 0.88), (0.1, 0.9)), second.mix(colour, 0.15));
            drawing.canvas.poly(&sub_quad(&quad, (0.2, 0.8), (0.17, 0.83)), colour.lighter(0.05));
            drawing.canvas.disc(point_on(&quad, 0.5, 0.5), 8.0, second);
        }
        _ => {
            let split = drawing.rng.range(0.3, 0.7);
            drawing.canvas.poly(&band(split, 1.0), second);
            drawing.canvas.poly(&band(split - 0.06, split - 0.04), second);
        }
    }
    drawing.texture(&quad, colour, Material::Cloth, 0.9);
    let folds = drawing.rng.count(3, 5) as f32;
    for fold in 0..folds as usize {
        let at = (fold as f32 + 0.3) / folds;
        let strip = sub_quad(&quad, (at, at + 0.6 / folds), (0.0, 1.0));
        drawing.fading_shade(&strip, strip[0], strip[1], 0.3);
    }
    let fringe =
        (0..34).map(|at| point_on(&quad, (at as f32 + 0.5) / 34.0, 1.0)).map(|at| (at, (at.0, at.1 + 2.6)));
    drawing.canvas.lines(fringe, 0.4, colour.lighter(-0.05));
}

/// Draws a composition of plain forms, as on a poster.
fn forms(drawing: &mut Drawing, quad: &Quad, ground: Colour, form: Colour, other: Colour) {
    drawing.canvas.poly(quad, ground);
    drawing.canvas.clip(polygon(quad));
    let (wide, high) = (quad[1].0 - quad[0].0, quad[3].1 - quad[0].1);
    let on = |s: f32, t: f32| point_on(quad, s, t);
    let at = on(drawing.rng.range(0.3, 0.7), drawing.rng.range(0.3, 0.6));
    match drawing.rng.count(0, 4) {
        0 => {
            drawing.canvas.disc(at, wide * 0.34, form);
            drawing.canvas.poly(&sub_quad(quad, (0.0, 1.0), (0.72, 1.0)), other);
        }
        1 => {
            for ring in 0..5 {
                let size = wide * (0.62 - 0.12 * ring as f32);
                drawing.canvas.disc(on(0.5, 1.0), size, if ring % 2 == 0 { form } else { ground });
            }
            drawing.canvas.disc(on(0.75, 0.2), wide * 0.11, other);
        }
        2 => {
            for bar in 0..6 {
                let top = 0.08 + 0.15 * bar as f32;
                let to = drawing.rng.range(0.35, 0.95);
                let tone = if bar % 3 == 1 { other } else { form };
                drawing.canvas.poly(&sub_quad(quad, (0.0, to), (top, top + 0.085)), tone);
            }
        }
        3 => {
            drawing.canvas.poly(&[on(0.0, 1.0), on(1.0, 0.25), on(1.0, 1.0)], form);
            drawing.canvas.poly(&[on(0.0, 0.0), on(0.55, 0.0), on(0.0, 0.62)], other);
        }
        _ => {
            for cell in cells(3, 4, (0.0, 0.0)) {
                let size = (wide / 3.0).min(high / 4.0) * drawing.rng.choose(&[0.2, 0.32, 0.42]);
                let tone = if (cell.row + cell.column) % 4 == 1 { other } else { form };
                drawing.canvas.disc(on(cell.across.0, cell.down.0), size, tone);
            }
        }
    }
    drawing.canvas.unclip();
}

pub(super) fn posters(drawing: &mut Drawing) {
    let palette = drawing.palette;
    let (colour, second, paper) = (palette.body, palette.second, palette.lightest);
    let dark = palette.darkest.lighter(0.1).mix(second, 0.4);
    let (wide, high) = (37.0, 56.0);
    let gap = drawing.rng.range(6.0, 10.0);
    let left = drawing.width() / 2.0 - gap / 2.0 - wide;
    for (x, tones) in [(left, [paper, colour, second]), (left + wide + gap, [colour, paper, dark])] {
        let quad = rect_quad(x, 19.0, wide, high);
        on_wall(drawing, &quad, 1.8);
        forms(drawing, &quad, tones[0], tones[1], tones[2]);
        let curl = sub_quad(&quad, (0.0, 1.0), (0.86, 1.0));
        drawing.fading_shade(&curl, curl[3], curl[0], 0.25);
    }
}

pub(super) fn books(drawing: &mut Drawing) {
    let palette = drawing.palette;
    let (colour, second, paper) = (palette.body, palette.second, palette.lightest);
    let middle = drawing.width() / 2.0 + drawing.rng.range(-3.0, 3.0);
    let mut base = 82.0;
    shadow(drawing, base, middle - 27.0, middle + 27.0, 34.0);
    for book in 0..drawing.rng.count(2, 4) {
        let (half, thick) = (drawing.rng.range(22.0, 29.0), drawing.rng.range(4.0, 7.5));
        let x = middle - half + drawing.rng.range(-3.0, 3.0);
        let tone = [second, colour, colour.lighter(-0.13), paper.lighter(-0.08)][book % 4];
        base -= thick;
        drawing.canvas.rect(x, base, half * 2.0, thick, tone);
        let pages = 1.0 + if drawing.style.from_left { x + half * 0.3 } else { x };
        let (wide, high) = (half * 1.7 - 1.6, thick - 1.8);
        drawing.canvas.rect(pages, base + 0.9, wide, high, paper.lighter(-0.03));
        let leaves = shares(1..4, 4)
            .map(|share| base + 0.9 + high * share)
            .map(|y| ((pages + 0.5, y), (pages + wide - 0.6, y)));
        drawing.canvas.lines(leaves, 0.12, Fill::Alpha(palette.shadow, 0.25));
        drawing.shade(&rect_quad(x + 0.5, base + 0.1, half * 2.0 - 1.0, 0.5), 0.5);
    }
    let (wide, high) = (drawing.rng.range(26.0, 30.0), drawing.rng.range(32.0, 37.0));
    let lean = if drawing.style.from_left { 1.6 } else { -1.6 };
    let mut quad = rect_quad(middle - wide / 2.0, base - high, wide, high);
    quad[0].0 += lean;
    quad[1].0 += lean;
    drawing.canvas.poly(&shifted(quad, (1.6, -0.4)), paper.lighter(-0.06));
    forms(drawing, &quad, colour, paper, second.mix(palette.darkest.lighter(0.08), 0.3));
    drawing.shade(&sub_quad(&quad, (0.0, 0.07), (0.0, 1.0)), 0.6);
}

/// Draws a round body on a wall, with its shadow.
fn round_on_wall(drawing: &mut Drawing, at: Point, across: f32, down: f32) {
    let dx = drawing.shadow_reach().signum() * 4.0;
    let veil = Fill::Alpha(drawing.palette.shadow, drawing.palette.shadow_opacity * 0.25);
    for by in shares(1..4, 3) {
        drawing.canvas.oval((at.0 + dx * by, at.1 + 4.0 * by), across, down, veil);
    }
    round(drawing, ellipse(at, across, down), at.0 - across, at.0 + across, drawing.palette.body);
}

pub(super) fn clock(drawing: &mut Drawing) {
    let at = (drawing.width() / 2.0, drawing.rng.range(45.0, 50.0));
    let (palette, size) = (drawing.palette, drawing.rng.range(24.0, 30.0));
    round_on_wall(drawing, at, size, size);
    let dial = if palette.body.light > 0.6 { palette.body.lighter(0.08) } else { palette.lightest };
    drawing.canvas.disc(at, size * 0.87, dial);
    let mark = |turn: f32, far: f32| (at.0 + turn.sin() * size * far, at.1 - turn.cos() * size * far);
    let turns = (0..12).map(|hour| hour as f32 * FRAC_PI_6);
    drawing.canvas.lines(turns.map(|turn| (mark(turn, 0.7), mark(turn, 0.79))), 0.8, palette.darkest);
    let (hour, minute) = (drawing.rng.range(0.0, 6.2), drawing.rng.range(0.0, 6.2));
    drawing.canvas.line(at, mark(hour, 0.42), 1.5, palette.darkest);
    drawing.canvas.line(at, mark(minute, 0.66), 1.0, palette.darkest);
    drawing.canvas.disc(at, 1.8, palette.second);
}

pub(super) fn mirror(drawing: &mut Drawing) {
    let at = (drawing.width() / 2.0, 46.0);
    let (palette, size) = (drawing.palette, drawing.rng.range(25.0, 31.0));
    let tall = drawing.rng.choose(&[1.0f32, 1.0, 1.22]);
    round_on_wall(drawing, at, size, size * tall);
    let glass = ellipse(at, size * 0.9, size * tall * 0.91);
    let (high, low) = (palette.backdrop_top, palette.backdrop_bottom.lighter(0.04));
    let corners = ((at.0 - size, at.1 - size), (at.0 + size, at.1 + size));
    drawing.canvas.fill(glass.clone(), Fill::gradient(corners.0, corners.1, low, high));
    drawing.canvas.clip(glass);
    let table = palette.second.mix(low, 0.35);
    drawing.canvas.rect(at.0 - size, at.1 + size * 0.45, size * 2.0, size, table);
    let gleam = [(-1.0, -0.2), (-0.2, -1.2), (0.3, -1.2), (-1.0, 0.5)];
    drawing.shine(&placed(at, (size, size), gleam), 0.3);
    drawing.canvas.unclip();
}
