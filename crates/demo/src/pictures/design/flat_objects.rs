//! Cloths, posters, books, clocks and mirrors.

use super::super::canvas::{Fill, ellipse, polygon};
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::style::Material;
use super::super::texture::{Quad, point_on, rect_quad, sub_quad};
use super::{round, shadow, thing};

/// Draws the shadow of an object on a wall.
fn on_wall(drawing: &mut Drawing, quad: &Quad, off: f32) {
    let dx = drawing.shadow_reach().signum() * off;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        drawing.shade(&quad.map(|at| (at.0 + dx * by, at.1 + off * 0.9 * by)), 0.28);
    }
}

pub(super) fn cloth(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (thing(drawing), drawing.palette.second);
    let quad = rect_quad(width * 0.17, 14.0, width * 0.66, 72.0);
    let ink = drawing.palette.darkest;
    drawing.canvas.line((width * 0.1, 13.6), (width * 0.9, 13.6), 1.1, ink);
    on_wall(drawing, &quad, 3.0);
    drawing.canvas.poly(&quad, colour);
    match drawing.rng.count(0, 3) {
        0 => {
            for _ in 0..drawing.rng.count(3, 6) {
                let (top, thick) = (drawing.rng.range(0.05, 0.9), drawing.rng.range(0.01, 0.09));
                let tone = drawing.rng.choose(&[second, colour.lighter(0.12), colour.lighter(-0.12)]);
                drawing.canvas.poly(&sub_quad(&quad, (0.0, 1.0), (top, (top + thick).min(1.0))), tone);
            }
        }
        1 => {
            let count = drawing.rng.count(3, 6);
            for row in 0..count {
                for column in 0..count {
                    if (row + column) % 2 == 0 {
                        let cell = |at: usize| (at as f32 / count as f32, (at + 1) as f32 / count as f32);
                        drawing
                            .canvas
                            .poly(&sub_quad(&quad, cell(column), cell(row)), second.mix(colour, 0.25));
                    }
                }
            }
        }
        2 => {
            let field = sub_quad(&quad, (0.12, 0.88), (0.1, 0.9));
            drawing.canvas.poly(&field, second.mix(colour, 0.15));
            let inner = sub_quad(&quad, (0.2, 0.8), (0.17, 0.83));
            drawing.canvas.poly(&inner, colour.lighter(0.05));
            let at = point_on(&quad, 0.5, 0.5);
            drawing.canvas.oval(at, 8.0, 8.0, second);
        }
        _ => {
            let split = drawing.rng.range(0.3, 0.7);
            drawing.canvas.poly(&sub_quad(&quad, (0.0, 1.0), (split, 1.0)), second);
            let low = sub_quad(&quad, (0.0, 1.0), (split - 0.06, split - 0.04));
            drawing.canvas.poly(&low, second);
        }
    }
    drawing.texture(&quad, colour, Material::Cloth, 0.9);
    let folds = drawing.rng.count(3, 5);
    for fold in 0..folds {
        let at = (fold as f32 + 0.3) / folds as f32;
        let strip = sub_quad(&quad, (at, at + 0.6 / folds as f32), (0.0, 1.0));
        drawing.fading_shade(&strip, strip[0], strip[1], 0.3);
    }
    let fringe: Vec<_> = (0..34)
        .map(|at| point_on(&quad, (at as f32 + 0.5) / 34.0, 1.0))
        .map(|at| (at, (at.0, at.1 + 2.6)))
        .collect();
    drawing.canvas.lines(fringe, 0.4, colour.lighter(-0.05));
}

/// Draws a composition of plain forms, as on a poster.
fn forms(drawing: &mut Drawing, quad: &Quad, ground: Colour, form: Colour, other: Colour) {
    drawing.canvas.poly(quad, ground);
    drawing.canvas.clip(polygon(quad));
    let (wide, high) = (quad[1].0 - quad[0].0, quad[3].1 - quad[0].1);
    let at = point_on(quad, drawing.rng.range(0.3, 0.7), drawing.rng.range(0.3, 0.6));
    match drawing.rng.count(0, 4) {
        0 => {
            drawing.canvas.oval(at, wide * 0.34, wide * 0.34, form);
            drawing.canvas.poly(&sub_quad(quad, (0.0, 1.0), (0.72, 1.0)), other);
        }
        1 => {
            for ring in 0..5 {
                let size = wide * (0.62 - 0.12 * ring as f32);
                drawing.canvas.oval(
                    point_on(quad, 0.5, 1.0),
                    size,
                    size,
                    if ring % 2 == 0 { form } else { ground },
                );
            }
            drawing.canvas.oval(point_on(quad, 0.75, 0.2), wide * 0.11, wide * 0.11, other);
        }
        2 => {
            for bar in 0..6 {
                let top = 0.08 + 0.15 * bar as f32;
                let to = drawing.rng.range(0.35, 0.95);
                drawing.canvas.poly(
                    &sub_quad(quad, (0.0, to), (top, top + 0.085)),
                    if bar % 3 == 1 { other } else { form },
                );
            }
        }
        3 => {
            drawing
                .canvas
                .poly(&[point_on(quad, 0.0, 1.0), point_on(quad, 1.0, 0.25), point_on(quad, 1.0, 1.0)], form);
            drawing.canvas.poly(
                &[point_on(quad, 0.0, 0.0), point_on(quad, 0.55, 0.0), point_on(quad, 0.0, 0.62)],
                other,
            );
        }
        _ => {
            for row in 0..4 {
                for column in 0..3 {
                    let spot = point_on(quad, (column as f32 + 0.5) / 3.0, (row as f32 + 0.5) / 4.0);
                    let size = (wide / 3.0).min(high / 4.0) * drawing.rng.choose(&[0.2, 0.32, 0.42]);
                    drawing.canvas.oval(spot, size, size, if (row + column) % 4 == 1 { other } else { form });
                }
            }
        }
    }
    drawing.canvas.unclip();
}

pub(super) fn posters(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second) = (thing(drawing), drawing.palette.second);
    let paper = drawing.palette.lightest;
    let dark = drawing.palette.darkest.lighter(0.1);
    let (wide, high) = (37.0, 56.0);
    let gap = drawing.rng.range(6.0, 10.0);
    let top = 19.0;
    for side in [0, 1] {
        let x = width / 2.0 - gap / 2.0 - wide + side as f32 * (wide + gap);
        let quad = rect_quad(x, top, wide, high);
        on_wall(drawing, &quad, 1.8);
        if side == 0 {
            forms(drawing, &quad, paper, colour, second)
        } else {
            forms(drawing, &quad, colour, paper, dark.mix(second, 0.4))
        }
        let curl = sub_quad(&quad, (0.0, 1.0), (0.86, 1.0));
        drawing.fading_shade(&curl, curl[3], curl[0], 0.25);
    }
}

pub(super) fn books(drawing: &mut Drawing) {
    let width = drawing.width();
    let (colour, second, paper) = (thing(drawing), drawing.palette.second, drawing.palette.lightest);
    let middle = width / 2.0 + drawing.rng.range(-3.0, 3.0);
    let mut base = 82.0;
    shadow(drawing, base, middle - 27.0, middle + 27.0, 34.0);
    for book in 0..drawing.rng.count(2, 4) {
        let (half, thick) = (drawing.rng.range(22.0, 29.0), drawing.rng.range(4.0, 7.5));
        let off = drawing.rng.range(-3.0, 3.0);
        let tone = [second, colour, colour.lighter(-0.13), paper.lighter(-0.08)][book % 4];
        let x = middle - half + off;
        drawing.canvas.rect(x, base - thick, half * 2.0, thick, tone);
        let pages = if drawing.style.from_left { x + half * 0.3 } else { x };
        drawing.canvas.rect(
            pages + 1.0,
            base - thick + 0.9,
            half * 1.7 - 1.6,
            thick - 1.8,
            paper.lighter(-0.03),
        );
        let leaves: Vec<_> = (1..4)
            .map(|leaf| base - thick + 0.9 + (thick - 1.8) * leaf as f32 / 4.0)
            .map(|y| ((pages + 1.5, y), (pages + half * 1.7 - 1.2, y)))
            .collect();
        drawing.canvas.lines(leaves, 0.12, Fill::Alpha(drawing.palette.shadow, 0.25));
        base -= thick;
        drawing.shade(&rect_quad(x + 0.5, base + 0.1, half * 2.0 - 1.0, 0.5), 0.5);
    }
    let (wide, high) = (drawing.rng.range(26.0, 30.0), drawing.rng.range(32.0, 37.0));
    let lean = if drawing.style.from_left { 1.6 } else { -1.6 };
    let quad = [
        (middle - wide / 2.0 + lean, base - high),
        (middle + wide / 2.0 + lean, base - high),
        (middle + wide / 2.0, base),
        (middle - wide / 2.0, base),
    ];
    drawing.canvas.poly(&quad.map(|at| (at.0 + 1.6, at.1 - 0.4)), paper.lighter(-0.06));
    let dark = drawing.palette.darkest.lighter(0.08);
    forms(drawing, &quad, colour, paper, second.mix(dark, 0.3));
    let spine = sub_quad(&quad, (0.0, 0.07), (0.0, 1.0));
    drawing.shade(&spine, 0.6);
}

pub(super) fn clock(drawing: &mut Drawing) {
    let at = (drawing.width() / 2.0, drawing.rng.range(45.0, 50.0));
    let (colour, size) = (thing(drawing), drawing.rng.range(24.0, 30.0));
    let dx = drawing.shadow_reach().signum() * 4.0;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        let veil = Fill::Alpha(drawing.palette.shadow, drawing.palette.shadow_opacity * 0.25);
        drawing.canvas.oval((at.0 + dx * by, at.1 + 4.0 * by), size, size, veil);
    }
    round(drawing, ellipse(at, size, size), at.0 - size, at.0 + size, colour);
    let dial = if colour.light > 0.6 { colour.lighter(0.08) } else { drawing.palette.lightest };
    drawing.canvas.oval(at, size * 0.87, size * 0.87, dial);
    let ink = drawing.palette.darkest;
    let mark = |turn: f32, far: f32| (at.0 + turn.sin() * size * far, at.1 - turn.cos() * size * far);
    let turns = (0..12).map(|hour| hour as f32 * std::f32::consts::FRAC_PI_6);
    let marks: Vec<_> = turns.map(|turn| (mark(turn, 0.7), mark(turn, 0.79))).collect();
    drawing.canvas.lines(marks, 0.8, ink);
    let (hour, minute) = (drawing.rng.range(0.0, 6.2), drawing.rng.range(0.0, 6.2));
    drawing.canvas.line(at, mark(hour, 0.42), 1.5, ink);
    drawing.canvas.line(at, mark(minute, 0.66), 1.0, ink);
    let second = drawing.palette.second;
    drawing.canvas.oval(at, 1.8, 1.8, second);
}

pub(super) fn mirror(drawing: &mut Drawing) {
    let at = (drawing.width() / 2.0, 46.0);
    let (colour, size) = (thing(drawing), drawing.rng.range(25.0, 31.0));
    let tall = drawing.rng.choose(&[1.0f32, 1.0, 1.22]);
    let dx = drawing.shadow_reach().signum() * 4.0;
    for step in 1..4 {
        let by = step as f32 / 3.0;
        let veil = Fill::Alpha(drawing.palette.shadow, drawing.palette.shadow_opacity * 0.25);
        drawing.canvas.oval((at.0 + dx * by, at.1 + 4.0 * by), size, size * tall, veil);
    }
    round(drawing, ellipse(at, size, size * tall), at.0 - size, at.0 + size, colour);
    let glass = ellipse(at, size * 0.9, size * tall * 0.91);
    let (high, low) = (drawing.palette.backdrop_top, drawing.palette.backdrop_bottom.lighter(0.04));
    drawing.canvas.fill(
        glass.clone(),
        Fill::Linear((at.0 - size, at.1 - size), (at.0 + size, at.1 + size), (low, 1.0), (high, 1.0)),
    );
    drawing.canvas.clip(glass);
    let second = drawing.palette.second;
    drawing.canvas.rect(at.0 - size, at.1 + size * 0.45, size * 2.0, size, second.mix(low, 0.35));
    drawing.shine(
        &[
            (at.0 - size, at.1 - size * 0.2),
            (at.0 - size * 0.2, at.1 - size * 1.2),
            (at.0 + size * 0.3, at.1 - size * 1.2),
            (at.0 - size, at.1 + size * 0.5),
        ],
        0.3,
    );
    drawing.canvas.unclip();
}
