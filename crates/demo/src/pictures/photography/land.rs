//! Land and sea.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::Part::{Bend, Close, To};
use super::super::geometry::{outline, placed, shares, taper};
use super::super::style::Light;

pub(super) fn hills(drawing: &mut Drawing) {
    let horizon = drawing.rng.range(44.0, 56.0);
    drawing.sky(horizon + 4.0);
    let palette = drawing.palette;
    let count = drawing.rng.count(4, 6);
    for hill in 0..count {
        let near = (hill + 1) as f32 / count as f32;
        let dark = palette.body.with_lightness((palette.body.light * 0.62).clamp(0.14, 0.42));
        let tone = palette.backdrop_bottom.lighter(-0.05).mix(dark, near * near * 0.75 + 0.12);
        let rise = drawing.rng.range(10.0, 20.0) * (1.25 - near * 0.6);
        drawing.ridge(horizon + 46.0 * near * near, rise, tone, true);
    }
    if drawing.rng.chance(35) {
        let at = (drawing.width() * drawing.rng.range(0.2, 0.8), 88.0);
        drawing.tree(at, 17.0, 3);
    }
}

pub(super) fn sea(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let horizon = drawing.rng.range(40.0, 62.0);
    drawing.sky(horizon);
    let near = palette.body.with_lightness((palette.body.light * 0.72).clamp(0.16, 0.56));
    let far = palette.backdrop_bottom.mix(near, 0.35);
    drawing.band(horizon, horizon + 101.0, Fill::down(horizon, 100.0, far, near));
    for _ in 0..70 {
        let depth = drawing.rng.range(0.0, 1.0);
        let y = horizon + 1.0 + depth * depth * (98.0 - horizon);
        let (x, long) = (drawing.rng.range(-0.1, 1.0) * width, 3.0 + depth * drawing.rng.range(5.0, 26.0));
        let light = drawing.rng.chance(50);
        let tone = if light { palette.backdrop_bottom.lighter(0.06) } else { near.lighter(-0.06) };
        drawing.canvas.line((x, y), (x + long, y), 0.16 + depth * 0.4, Fill::Alpha(tone, 0.3));
    }
    let glow = palette.glow.mix(palette.backdrop_bottom, 0.4);
    let x = width * if drawing.style.from_left { 0.24 } else { 0.76 };
    let path = taper((x, horizon), 3.0, (x, 101.0), 15.0);
    let fade = Fill::Linear((0.0, horizon), (0.0, 100.0), (glow.lighter(0.05), 0.4), (glow, 0.0));
    drawing.canvas.poly(&path, fade);
    shore(drawing, horizon);
}

/// Draws a boat, a pier, a beach with a person, or nothing.
fn shore(drawing: &mut Drawing, horizon: f32) {
    let (palette, width) = (drawing.palette, drawing.width());
    let dark = palette.darkest.lighter(0.05);
    match drawing.rng.count(0, 3) {
        0 => {
            let at = (width * drawing.rng.range(0.2, 0.7), horizon + 1.0);
            let boat = placed(at, (1.0, 1.0), [(-6.0, -1.6), (7.0, -1.6), (5.0, 0.8), (-5.0, 0.8)]);
            drawing.canvas.poly(&boat, dark);
            drawing.canvas.line((at.0, at.1 - 1.6), (at.0, at.1 - 9.0), 0.4, dark);
        }
        1 => {
            let left = drawing.rng.chance(50);
            let (edge, wide) = if left { (0.0, width) } else { (width, -width) };
            let at = |x: f32, y: f32| (edge + wide * x, horizon + 9.0 + y);
            let bank = at(-1.0 / width, 0.0).0;
            let pier = [(bank, horizon + 13.0), at(0.56, -5.0), at(0.58, -3.4), (bank, horizon + 18.0)];
            drawing.canvas.poly(&pier, dark);
            let posts = shares(0..7, 7).map(|s| (at(0.55 * s, 6.0 - 9.5 * s), at(0.55 * s, 24.0 - 25.0 * s)));
            drawing.canvas.lines(posts, 0.9, dark);
        }
        2 => {
            let (left, right) = (-1.0, width + 1.0);
            let beach = [(left, 90.0), (width * 0.4, 86.0), (right, 93.0), (right, 101.0), (left, 101.0)];
            drawing.canvas.poly(&beach, palette.ground.lighter(-0.04));
            let at = (width * drawing.rng.range(0.3, 0.7), 93.0);
            drawing.person(at, 17.0);
        }
        _ => {}
    }
}

pub(super) fn trees(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(66.0, 74.0);
    drawing.sky(horizon);
    let palette = drawing.palette;
    let far = palette.backdrop_bottom.mix(palette.green, 0.3).mix(palette.body, 0.2);
    drawing.ridge(horizon + 2.0, 7.0, far, false);
    drawing.ground(horizon);
    let kind =
        if matches!(drawing.style.light, Light::Snow | Light::Fog) { 3 } else { drawing.rng.count(0, 3) };
    let count = drawing.rng.count(4, 8);
    for tree in 0..count {
        let x = width * (tree as f32 + 0.5) / count as f32 + drawing.rng.range(-2.0, 2.0);
        let (down, high) = (drawing.rng.range(1.0, 8.0), drawing.rng.range(34.0, 54.0));
        drawing.tree((x, horizon + down), high, kind);
    }
    if matches!(drawing.style.light, Light::Fog | Light::Overcast | Light::Snow) {
        let mist = palette.backdrop_bottom;
        let (from, to) = ((0.0, horizon - 34.0), (0.0, horizon + 10.0));
        drawing.canvas.fill_all(Fill::Linear(from, to, (mist, 0.12), (mist, 0.62)));
        let at = (width * drawing.rng.range(0.2, 0.8), 92.0);
        drawing.tree(at, 62.0, kind);
    }
}

pub(super) fn road(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(50.0, 60.0);
    drawing.land(horizon, 3);
    let palette = drawing.palette;
    let vanish = (width * drawing.rng.range(0.36, 0.64), horizon);
    let tar = palette.body.with_lightness((palette.ground.light - 0.2).max(0.16)).muted(0.6);
    let bend = drawing.rng.range(-16.0, 16.0);
    let (near, far) = (102.0 - horizon, 72.0 - horizon);
    let (left, right) = (width * 0.24 - vanish.0, width * 0.78 - vanish.0);
    let (one, other) = (Bend(bend, far, left, near), Bend(bend + 5.0, far, 0.6, 0.0));
    let lane = outline(vanish, (1.0, 1.0), (0.0, 0.0), &[one, To(right, near), other, Close]);
    drawing.canvas.fill(lane, tar);
    let line = Bend(bend + 2.5, far, width * 0.51 - vanish.0, near);
    let line = outline(vanish, (1.0, 1.0), (0.3, 2.0), &[line]);
    drawing.canvas.stroke(line, 0.7, Fill::Alpha(palette.lightest, 0.6));
    let ink = palette.darkest.lighter(0.08);
    for near in shares(1..8, 7).map(|share| share * share) {
        let (x, base) = (vanish.0 + (width * 0.98 - vanish.0) * near, horizon + 40.0 * near);
        let [foot, top, left, right] =
            placed((x, base), (near, near), [(0.0, 0.0), (0.0, -52.0), (-6.0, -47.0), (6.0, -47.0)]);
        drawing.canvas.line(foot, top, 0.2 + 0.9 * near, ink);
        drawing.canvas.line(left, right, 0.2 + 0.6 * near, ink);
    }
}
