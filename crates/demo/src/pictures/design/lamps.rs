//! Table lamps, pendants and floor lamps.

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Bend, Close, Curve, To};
use super::super::geometry::{Point, ellipse, outline, taper};
use super::furniture::leg;
use super::{round, shadow};

/// Draws the cone of light below a lampshade with its opening at `at`.
fn cone(drawing: &mut Drawing, at: Point, half: f32, floor: f32) {
    let glow = drawing.palette.glow.lighter(0.06);
    let cover = if drawing.palette.lamps_on { 0.42 } else { 0.2 };
    let foot = (at.0, floor);
    let beam = taper(at, half, foot, half + (floor - at.1) * 0.5);
    drawing.canvas.poly(&beam, Fill::Linear(at, foot, (glow, cover), (glow, cover * 0.12)));
    drawing.canvas.fill_all(Fill::Radial(at, 30.0, glow, cover * 0.8));
}

/// Draws a lampshade of one of four kinds, with its lower edge at `low`.
fn lampshade(drawing: &mut Drawing, (at, low): Point, half: f32, high: f32, colour: Colour) {
    let shade = |start, parts: &[_]| outline((at, low), (half, -high), start, parts);
    let path = match drawing.rng.count(0, 3) {
        0 => shade((-0.55, 1.0), &[To(0.55, 1.0), To(1.0, 0.0), To(-1.0, 0.0), Close]),
        1 => shade((-1.0, 0.0), &[Curve(-1.0, 1.3, 1.0, 1.3, 1.0, 0.0), Close]),
        2 => {
            let (right, left) = (Bend(0.25, 0.3, 1.0, 0.0), Bend(-0.25, 0.3, -0.12, 1.0));
            shade((-0.12, 1.0), &[To(0.12, 1.0), right, To(-1.0, 0.0), left, Close])
        }
        _ => shade((-0.9, 1.0), &[To(0.9, 1.0), To(0.9, 0.0), To(-0.9, 0.0), Close]),
    };
    round(drawing, path, at - half, at + half, colour);
    drawing.canvas.oval((at, low), half * 0.94, half * 0.1, drawing.palette.glow.lighter(0.07));
}

pub(super) fn table_lamp(drawing: &mut Drawing) {
    let at = drawing.width() / 2.0 + drawing.rng.range(-5.0, 5.0);
    let colour = drawing.palette.body;
    let half = drawing.rng.range(15.0, 20.0);
    let low = drawing.rng.range(38.0, 46.0);
    let high = drawing.rng.range(12.0, 19.0);
    shadow(drawing, 82.0, at - 9.0, at + 9.0, 50.0);
    cone(drawing, (at, low), half * 0.8, 80.0);
    let stem = drawing.palette.second.with_lightness(if colour.light > 0.55 { 0.34 } else { 0.7 });
    if drawing.rng.chance(50) {
        drawing.canvas.rect(at - 0.8, low - 3.0, 1.6, 82.0 - low, stem);
        drawing.canvas.oval((at, 80.6), 9.6, 2.3, stem.lighter(-0.05));
        drawing.canvas.oval((at, 79.6), 9.6, 2.3, stem.lighter(0.06));
    } else {
        let foot = ellipse((at, 69.0), 9.0, 12.6);
        round(drawing, foot, at - 9.0, at + 9.0, stem.lighter(0.05));
        drawing.canvas.rect(at - 1.4, low - 2.0, 2.8, 60.0 - low, stem);
    }
    lampshade(drawing, (at, low), half, high, colour);
}

pub(super) fn pendant(drawing: &mut Drawing) {
    let width = drawing.width();
    let count = drawing.rng.choose(&[1usize, 1, 2, 3]);
    let colour = drawing.palette.body;
    for lamp in 0..count {
        let at = width * (lamp as f32 + 1.0) / (count as f32 + 1.0);
        let half = width * 0.27 / (count as f32).powf(0.62);
        let low = drawing.rng.range(38.0, 54.0);
        cone(drawing, (at, low), half * 0.8, 92.0);
        drawing.contact_shadow((at, 88.0), half * 1.1, 1.6);
        drawing.canvas.line((at, -2.0), (at, low - half * 0.6), 0.45, drawing.palette.darkest);
        lampshade(drawing, (at, low), half, half * 0.9, colour);
    }
}

pub(super) fn floor_lamp(drawing: &mut Drawing) {
    let width = drawing.width();
    let at = width * if drawing.style.from_left { 0.42 } else { 0.58 };
    let colour = drawing.palette.body;
    let stem = drawing.palette.second.with_lightness(if colour.light > 0.55 { 0.34 } else { 0.72 });
    let low = drawing.rng.range(25.0, 30.0);
    shadow(drawing, 86.0, at - 7.0, at + 7.0, 66.0);
    cone(drawing, (at, low), 10.0, 85.0);
    if drawing.rng.chance(50) {
        for out in [-10.0, 10.0, 2.5] {
            leg(drawing, (at, 50.0), (at + out, 86.0 - (out - 2.5f32).abs() * 0.05), 1.2, stem);
        }
        drawing.canvas.rect(at - 0.6, low - 4.0, 1.2, 56.0 - low, stem);
    } else {
        drawing.canvas.rect(at - 0.6, low - 4.0, 1.2, 90.0 - low, stem);
        drawing.canvas.oval((at, 86.0), 8.6, 2.0, stem.lighter(0.04));
    }
    let half = drawing.rng.range(12.0, 15.0);
    lampshade(drawing, (at, low), half, drawing.style.colour.light * 6.0 + 9.0, colour);
}
