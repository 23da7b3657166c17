//! Flat works that remember something: cuttings, heads, lines, land, frames.

use super::super::canvas::{Ink, curve, ellipse};
use super::super::look::Layout;
use super::super::sheet::Sheet;
use super::super::texture::{Quad, on, part};
use super::flat::tones;

pub(super) fn collage(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(sheet);
    sheet.canvas.poly(area, paper.mix(pale, 0.5));
    let order = [body, deep, pale, second, between, paper];
    for piece in 0..sheet.hand.count(5, 8) {
        let large = 0.44 - 0.045 * piece as f32;
        let (s, t) = (sheet.hand.between(0.02, 0.98 - large), sheet.hand.between(0.02, 0.98 - large));
        let jitter = |sheet: &mut Sheet| sheet.hand.between(-0.06, 0.06) * large * 2.0;
        let quad = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y): (f32, f32)| {
            on(area, s + x * large * 1.15 + jitter(sheet), t + y * large + jitter(sheet))
        });
        let tone = order[piece % 6];
        sheet.shade(&quad.map(|at| (at.0 + 0.5, at.1 + 0.7)), 0.35);
        if piece % 3 == 2 {
            let at = on(&quad, 0.5, 0.5);
            let size = (quad[1].0 - quad[0].0) * 0.46;
            sheet.canvas.oval(at, size, size, tone);
        } else {
            sheet.canvas.poly(&quad, tone);
        }
    }
    let line = [
        on(area, sheet.hand.between(0.0, 0.3), 1.0),
        on(area, sheet.hand.between(0.3, 0.7), sheet.hand.between(0.3, 0.6)),
        on(area, sheet.hand.between(0.7, 1.0), 0.0),
    ];
    sheet.canvas.stroke(curve(&line).finish(), 0.5, deep);
}

pub(super) fn head(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(sheet);
    sheet.canvas.poly(area, if body.light > 0.6 { deep } else { pale });
    let wide = area[1].0 - area[0].0;
    let at = on(area, 0.5 + sheet.hand.between(-0.05, 0.05), 0.42);
    let (across, down) = (wide * sheet.hand.between(0.22, 0.27), wide * sheet.hand.between(0.3, 0.36));
    let neck = across * 0.4;
    let low = area[3].1 + 1.0;
    sheet.canvas.poly(
        &[(at.0 - neck, at.1), (at.0 + neck, at.1), (at.0 + neck, low), (at.0 - neck, low)],
        between.lit(-0.05),
    );
    sheet.canvas.oval((at.0, low + 1.0), wide * 0.46, (low - at.1) * 0.46, second);
    sheet.canvas.oval(at, across, down, body);
    let half = if sheet.look.from_left { (at.0, at.0 + across) } else { (at.0 - across, at.0) };
    let outline = ellipse(at, across, down);
    sheet.canvas.clip(outline);
    sheet.canvas.rect(half.0, at.1 - down, half.1 - half.0, down * 2.0, deep.mix(body, 0.35));
    let hair = sheet.hand.between(0.34, 0.6);
    sheet.canvas.rect(at.0 - across, at.1 - down, across * 2.0, down * hair, deep.lit(-0.08));
    sheet.canvas.unclip();
    let ink = deep.at(0.2);
    let (eye, gap) = (at.1 - down * 0.04, across * 0.42);
    for side in [-1.0f32, 1.0] {
        sheet.canvas.line(
            (at.0 + side * gap - across * 0.16, eye),
            (at.0 + side * gap + across * 0.16, eye),
            wide * 0.012,
            ink,
        );
    }
    let nose = if sheet.look.from_left { 1.0 } else { -1.0 };
    sheet.canvas.poly(
        &[
            (at.0, eye - down * 0.1),
            (at.0 + nose * across * 0.16, eye + down * 0.36),
            (at.0, eye + down * 0.36),
        ],
        paper.mix(body, 0.5),
    );
    sheet.canvas.line(
        (at.0 - across * 0.2, at.1 + down * 0.58),
        (at.0 + across * 0.2, at.1 + down * 0.58),
        wide * 0.012,
        ink,
    );
}

pub(super) fn lines(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, _] = tones(sheet);
    let dark = body.light > 0.62;
    sheet.canvas.poly(area, if dark { deep } else { paper.mix(pale, 0.35) });
    let count = sheet.hand.count(26, 58);
    let (swell, at) = (sheet.hand.between(3.0, 11.0), sheet.hand.between(0.25, 0.75));
    let (width, kind) = (sheet.hand.between(0.22, 0.6), sheet.hand.count(0, 2));
    for line in 0..count {
        let t = (line as f32 + 0.5) / count as f32;
        let points: Vec<_> = (0..=14)
            .map(|step| {
                let s = step as f32 / 14.0;
                let bump = (-((s - at) * 3.4).powi(2)).exp() * (-((t - 0.5) * 3.0).powi(2)).exp();
                let off = match kind {
                    0 => -bump * swell * 2.2,
                    1 => (s * 9.0 + t * 7.0).sin() * bump * swell,
                    _ => sheet.hand.between(-1.0, 1.0) * bump * swell * 0.8,
                };
                let place = on(area, 0.06 + 0.88 * s, 0.05 + 0.9 * t);
                (place.0, place.1 + off)
            })
            .collect();
        let tone = if line % 9 == 4 { second } else { body };
        sheet.canvas.stroke(curve(&points).finish(), width, tone);
    }
}

pub(super) fn horizon(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, ..] = tones(sheet);
    let wide = area[1].0 - area[0].0;
    sheet.canvas.poly(area, Ink::Fade(area[0], area[3], (pale, 1.0), (pale.mix(body, 0.3), 1.0)));
    let sun = on(area, sheet.hand.between(0.25, 0.75), sheet.hand.between(0.16, 0.34));
    let size = wide * sheet.hand.between(0.07, 0.15);
    sheet.canvas.oval(sun, size, size, second);
    let mut top = sheet.hand.between(0.4, 0.58);
    let order = [body, body.mix(deep, 0.4), second.mix(body, 0.5), deep, body.mix(pale, 0.3)];
    let mut band = 0;
    while top < 1.0 {
        let mut points: Vec<_> = (0..=10)
            .map(|step| on(area, step as f32 / 10.0, top + sheet.hand.between(-0.014, 0.014)))
            .collect();
        points.push(on(area, 1.0, 1.0));
        points.push(on(area, 0.0, 1.0));
        sheet.canvas.poly(&points, order[band % 5]);
        top += sheet.hand.between(0.05, 0.2);
        band += 1;
    }
}

pub(super) fn frames(sheet: &mut Sheet, area: &Quad) {
    let [body, second, pale, deep, paper, between] = tones(sheet);
    let order = [body, pale, second, deep, between, paper];
    let sway = if sheet.look.layout == Layout::Symmetric {
        (0.5, 0.5)
    } else {
        (sheet.hand.between(0.3, 0.7), sheet.hand.between(0.35, 0.7))
    };
    let mut quad = *area;
    let start = sheet.hand.count(0, 2);
    for step in 0..sheet.hand.count(4, 6) {
        sheet.canvas.poly(&quad, order[(start + step) % 6]);
        let shrink = sheet.hand.between(0.2, 0.36);
        let (left, top) = (shrink * sway.0, shrink * sway.1);
        quad = part(&quad, (left, 1.0 - shrink + left), (top, 1.0 - shrink + top));
    }
}
