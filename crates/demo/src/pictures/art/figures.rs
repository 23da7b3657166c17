//! Semi-abstract flat works: collage, heads, lines, horizons, frames.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{Quad, curve, ellipse, placed, point_on, shares, shifted, sub_quad, taper};
use super::super::style::Layout;
use super::flat::tones;

pub(super) fn collage(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, paper.mix(pale, 0.5));
    let order = [body, deep, pale, second, between, paper];
    for piece in 0..drawing.rng.count(5, 8) {
        let large = 0.44 - 0.045 * piece as f32;
        let (s, t) = (drawing.rng.range(0.02, 0.98 - large), drawing.rng.range(0.02, 0.98 - large));
        let jitter = |drawing: &mut Drawing| drawing.rng.range(-0.06, 0.06) * large * 2.0;
        let quad = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y): (f32, f32)| {
            point_on(area, s + x * large * 1.15 + jitter(drawing), t + y * large + jitter(drawing))
        });
        let tone = order[piece % 6];
        drawing.shade(&shifted(quad, (0.5, 0.7)), 0.35);
        if piece % 3 == 2 {
            drawing.canvas.disc(point_on(&quad, 0.5, 0.5), (quad[1].0 - quad[0].0) * 0.46, tone);
        } else {
            drawing.canvas.poly(&quad, tone);
        }
    }
    let line = [
        point_on(area, drawing.rng.range(0.0, 0.3), 1.0),
        point_on(area, drawing.rng.range(0.3, 0.7), drawing.rng.range(0.3, 0.6)),
        point_on(area, drawing.rng.range(0.7, 1.0), 0.0),
    ];
    drawing.canvas.stroke(curve(&line).finish(), 0.5, deep);
}

pub(super) fn head(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    drawing.canvas.poly(area, if body.light > 0.6 { deep } else { pale });
    let wide = area[1].0 - area[0].0;
    let at = point_on(area, 0.5 + drawing.rng.range(-0.05, 0.05), 0.42);
    let (across, down) = (wide * drawing.rng.range(0.22, 0.27), wide * drawing.rng.range(0.3, 0.36));
    let neck = across * 0.4;
    let low = area[3].1 + 1.0;
    drawing.canvas.poly(&taper(at, neck, (at.0, low), neck), between.lighter(-0.05));
    drawing.canvas.oval((at.0, low + 1.0), wide * 0.46, (low - at.1) * 0.46, second);
    let outline = ellipse(at, across, down);
    drawing.canvas.fill(outline.clone(), body);
    let half = if drawing.style.from_left { (at.0, at.0 + across) } else { (at.0 - across, at.0) };
    drawing.canvas.clip(outline);
    drawing.canvas.rect(half.0, at.1 - down, half.1 - half.0, down * 2.0, deep.mix(body, 0.35));
    let hair = drawing.rng.range(0.34, 0.6);
    drawing.canvas.rect(at.0 - across, at.1 - down, across * 2.0, down * hair, deep.lighter(-0.08));
    drawing.canvas.unclip();
    let ink = deep.with_lightness(0.2);
    let nose = if drawing.style.from_left { across } else { -across };
    let nose = placed(at, (nose, down), [(0.0, -0.14), (0.16, 0.32), (0.0, 0.32)]);
    drawing.canvas.poly(&nose, paper.mix(body, 0.5));
    let features = [(-0.58, -0.26, -0.04), (0.26, 0.58, -0.04), (-0.2, 0.2, 0.58)]
        .map(|(left, right, y)| placed(at, (across, down), [(left, y), (right, y)]).into());
    drawing.canvas.lines(features, wide * 0.012, ink);
}

pub(super) fn lines(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, _] = tones(drawing);
    let dark = body.light > 0.62;
    drawing.canvas.poly(area, if dark { deep } else { paper.mix(pale, 0.35) });
    let count = drawing.rng.count(26, 58);
    let (swell, at) = (drawing.rng.range(3.0, 11.0), drawing.rng.range(0.25, 0.75));
    let (width, kind) = (drawing.rng.range(0.22, 0.6), drawing.rng.count(0, 2));
    for line in 0..count {
        let t = (line as f32 + 0.5) / count as f32;
        let points: Vec<_> = shares(0..15, 14)
            .map(|s| {
                let bump = (-((s - at) * 3.4).powi(2)).exp() * (-((t - 0.5) * 3.0).powi(2)).exp();
                let off = match kind {
                    0 => -bump * swell * 2.2,
                    1 => (s * 9.0 + t * 7.0).sin() * bump * swell,
                    _ => drawing.rng.range(-1.0, 1.0) * bump * swell * 0.8,
                };
                let place = point_on(area, 0.06 + 0.88 * s, 0.05 + 0.9 * t);
                (place.0, place.1 + off)
            })
            .collect();
        let tone = if line % 9 == 4 { second } else { body };
        drawing.canvas.stroke(curve(&points).finish(), width, tone);
    }
}

pub(super) fn horizon(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(drawing);
    let wide = area[1].0 - area[0].0;
    drawing.canvas.poly(area, Fill::gradient(area[0], area[3], pale, pale.mix(body, 0.3)));
    let sun = point_on(area, drawing.rng.range(0.25, 0.75), drawing.rng.range(0.16, 0.34));
    let size = wide * drawing.rng.range(0.07, 0.15);
    drawing.canvas.disc(sun, size, second);
    let mut top = drawing.rng.range(0.4, 0.58);
    let order = [body, body.mix(deep, 0.4), second.mix(body, 0.5), deep, body.mix(pale, 0.3)];
    let mut band = 0;
    while top < 1.0 {
        let edge = |s| point_on(area, s, top + drawing.rng.range(-0.014, 0.014));
        let mut points: Vec<_> = shares(0..11, 10).map(edge).collect();
        points.extend([area[2], area[3]]);
        drawing.canvas.poly(&points, order[band % 5]);
        top += drawing.rng.range(0.05, 0.2);
        band += 1;
    }
}

pub(super) fn frames(drawing: &mut Drawing, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(drawing);
    let order = [body, pale, second, deep, between, paper];
    let sway = if drawing.style.layout == Layout::Symmetric {
        (0.5, 0.5)
    } else {
        (drawing.rng.range(0.3, 0.7), drawing.rng.range(0.35, 0.7))
    };
    let mut quad = *area;
    let start = drawing.rng.count(0, 2);
    for step in 0..drawing.rng.count(4, 6) {
        drawing.canvas.poly(&quad, order[(start + step) % 6]);
        let shrink = drawing.rng.range(0.2, 0.36);
        let (left, top) = (shrink * sway.0, shrink * sway.1);
        quad = sub_quad(&quad, (left, 1.0 - shrink + left), (top, 1.0 - shrink + top));
    }
}
