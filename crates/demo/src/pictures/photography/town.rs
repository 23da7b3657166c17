//! Streets, walls of windows, poles, sheds.

use super::super::canvas::Fill;
use super::super::drawing::{Drawing, lerp};
use super::super::texture::{rect_quad, sub_quad};

pub(super) fn street(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let vanish = (width * drawing.rng.range(0.4, 0.6), drawing.rng.range(58.0, 66.0));
    drawing.sky(vanish.1);
    let far = palette.backdrop_bottom.mix(palette.body, 0.35);
    drawing.canvas.rect(vanish.0 - 9.0, vanish.1 - 15.0, 18.0, 22.0, far);
    let floor = palette.ground.lighter(-0.06);
    drawing.canvas.poly(
        &[
            (vanish.0 - 5.0, vanish.1 + 1.0),
            (vanish.0 + 5.0, vanish.1 + 1.0),
            (width + 26.0, 102.0),
            (-26.0, 102.0),
        ],
        floor,
    );
    for side in [0.0f32, 1.0] {
        let edge = if side < 0.5 { -1.0 } else { width + 1.0 };
        let away = (side < 0.5) == drawing.style.from_left;
        let mut near = 0.0;
        let tones = [
            palette.body,
            palette.second.mix(palette.body, 0.5),
            palette.body.lighter(0.08),
            palette.body.lighter(-0.08),
        ];
        for house in 0..4 {
            let next: f32 = near + drawing.rng.range(0.16, 0.3) * (1.0 - near);
            let (top, base) = ((edge, -drawing.rng.range(4.0, 46.0)), (edge, 104.0));
            let quad = [
                lerp(top, vanish, near),
                lerp(top, vanish, next),
                lerp(base, vanish, next),
                lerp(base, vanish, near),
            ];
            let tone = tones[house % 4].mix(palette.backdrop_bottom, near * 0.5);
            drawing.canvas.poly(&quad, tone);
            let (columns, rows) = (drawing.rng.count(2, 3), 4);
            for row in 0..rows {
                for column in 0..columns {
                    let pane = drawing.pane_colour();
                    let cell = sub_quad(
                        &quad,
                        ((column as f32 + 0.28) / columns as f32, (column as f32 + 0.72) / columns as f32),
                        ((row as f32 + 0.3) / 4.4, (row as f32 + 0.8) / 4.4),
                    );
                    drawing.canvas.poly(&cell, pane.mix(tone, 0.15 + near * 0.4));
                }
            }
            if away {
                drawing.shade(&quad, 0.95)
            } else {
                drawing.shine(&quad, if palette.lamps_on { 0.02 } else { 0.12 })
            }
            near = next;
        }
    }
    let across = if drawing.style.from_left { width * 0.62 } else { width * 0.38 };
    let edge = if drawing.style.from_left { -26.0 } else { width + 26.0 };
    drawing.shade(&[(vanish.0, vanish.1 + 1.0), (across, 102.0), (edge, 102.0)], 0.8);
    for _ in 0..drawing.rng.count(1, 2) {
        let at = (vanish.0 + drawing.rng.range(-14.0, 14.0), vanish.1 + drawing.rng.range(12.0, 22.0));
        let high = (at.1 - vanish.1) * 1.1;
        drawing.person(at, high);
    }
}

pub(super) fn windows(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let wall = palette.body.with_lightness(palette.body.light.min(0.74));
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (width, 100.0),
        (wall.lighter(0.02), 1.0),
        (wall.lighter(-0.05), 1.0),
    ));
    let rows = drawing.rng.count(3, 6);
    let columns = ((rows as f32 * width / 100.0).round() as usize).max(2);
    let fill = (drawing.rng.range(0.44, 0.62), drawing.rng.range(0.52, 0.68));
    for row in 0..rows {
        for column in 0..columns {
            let (wide, high) = (width / columns as f32, 100.0 / rows as f32);
            let (x, y) =
                (wide * (column as f32 + (1.0 - fill.0) / 2.0), high * (row as f32 + (1.0 - fill.1) / 2.0));
            let opening = rect_quad(x, y, wide * fill.0, high * fill.1);
            let pane = drawing.pane_colour();
            let warm = palette.lamps_on || drawing.rng.chance(9);
            let pane = if warm { pane } else { pane.mix(palette.body.with_lightness(0.3), 0.3) };
            drawing.canvas.poly(
                &opening,
                Fill::Linear(opening[0], opening[2], (pane.lighter(0.05), 1.0), (pane.lighter(-0.05), 1.0)),
            );
            if drawing.rng.chance(32) {
                let down = drawing.rng.range(0.2, 0.8);
                drawing.canvas.poly(
                    &sub_quad(&opening, (0.0, 1.0), (0.0, down)),
                    palette.lightest.mix(palette.second, 0.3).lighter(if palette.lamps_on {
                        -0.3
                    } else {
                        -0.06
                    }),
                );
            }
            if drawing.rng.chance(8) {
                let at = sub_quad(&opening, (0.5, 0.5), (1.0, 1.0))[0];
                drawing.canvas.clip(super::super::canvas::polygon(&opening));
                drawing.person((at.0, at.1 + high * 0.12), high * fill.1 * 0.9);
                drawing.canvas.unclip();
            }
            drawing.shade(&sub_quad(&opening, (0.0, 1.0), (0.0, 0.08)), 1.1);
            drawing.canvas.rect(x - 0.5, y + high * fill.1, wide * fill.0 + 1.0, 0.9, wall.lighter(0.1));
        }
    }
    let reach = drawing.shadow_reach().signum();
    let edge = if reach > 0.0 { -1.0 } else { width + 1.0 };
    let into = reach * width * drawing.rng.range(0.2, 0.5);
    drawing.shade(&[(edge, 30.0), (edge + into, 101.0), (edge, 101.0)], 0.6);
}

pub(super) fn poles(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(70.0, 80.0);
    drawing.sky(horizon);
    drawing.distance(horizon, 1);
    drawing.ground(horizon);
    let palette = drawing.palette;
    let count = drawing.rng.count(4, 7);
    let (ink, cloth) = (palette.darkest.lighter(0.04), drawing.rng.chance(50));
    let top = drawing.rng.range(30.0, 44.0);
    let place = |pole: f32| (width * (pole + 0.5) / count as f32, horizon + 6.0);
    for pole in 0..count {
        let (x, base) = place(pole as f32);
        drawing.canvas.line((x, base), (x, top), 0.7, ink);
        let reach = drawing.shadow_reach() * 16.0;
        let veil = Fill::Alpha(palette.shadow, palette.shadow_opacity * 0.6);
        drawing.canvas.line((x, base), (x + reach, base + 6.0), 0.7, veil);
        if cloth && pole + 1 < count {
            let next = place(pole as f32 + 1.0).0;
            let (left, wide) = (x + (next - x) * 0.16, (next - x) * 0.68);
            let tone = drawing.rng.choose(&[
                palette.lightest,
                palette.body,
                palette.second,
                palette.lightest.lighter(-0.05),
            ]);
            let (long, sway) = (drawing.rng.range(13.0, 25.0), drawing.rng.range(-3.0, 3.0));
            let sheet_cloth = [
                (left, top + 2.4),
                (left + wide, top + 2.4),
                (left + wide + sway, top + 2.4 + long),
                (left + sway, top + 3.4 + long),
            ];
            drawing.canvas.poly(&sheet_cloth, tone);
            drawing.fading_shade(&sheet_cloth, sheet_cloth[0], sheet_cloth[1], 0.4);
        }
    }
    let mut wire = Vec::new();
    for pole in 0..=count * 6 {
        let share = pole as f32 / 6.0 - 0.5;
        let sag = ((share - share.floor()) * std::f32::consts::PI).sin() * 2.4;
        wire.push((width * (share + 0.5) / count as f32, top + 0.6 + sag));
    }
    drawing.canvas.stroke(super::super::canvas::curve(&wire).finish(), 0.35, ink);
}

pub(super) fn shed(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(62.0, 72.0);
    drawing.sky(horizon);
    drawing.distance(horizon, 2);
    drawing.ground(horizon);
    let palette = drawing.palette;
    let (x, base) = (width * drawing.rng.range(0.22, 0.42), horizon + 9.0);
    let (wide, high) = (drawing.rng.range(26.0, 38.0), drawing.rng.range(14.0, 22.0));
    let reach = drawing.shadow_reach() * high * 0.9;
    drawing
        .shade(&[(x, base), (x + wide, base), (x + wide + reach, base + 7.0), (x + reach, base + 7.0)], 1.0);
    let wall = rect_quad(x, base - high, wide, high);
    let tone = palette.body.with_lightness(palette.body.light.clamp(0.25, 0.8));
    drawing.canvas.poly(&wall, tone);
    drawing.texture(&wall, tone, super::super::style::Material::Timber, 1.0);
    let dark = palette.darkest.lighter(0.06);
    let lean = drawing.rng.range(-4.0, 7.0);
    drawing.canvas.poly(
        &[
            (x - 2.0, base - high),
            (x + wide + 2.0, base - high),
            (x + wide * 0.9 - lean, base - high - 9.0),
            (x + wide * 0.1 + lean, base - high - 9.0),
        ],
        palette.second.with_lightness(0.36),
    );
    drawing.canvas.poly(&sub_quad(&wall, (0.2, 0.44), (0.25, 1.0)), dark);
    drawing.canvas.poly(
        &sub_quad(&wall, (0.64, 0.82), (0.3, 0.6)),
        if palette.lamps_on { palette.glow } else { dark.lighter(0.1) },
    );
    if drawing.style.from_left {
        drawing.shade(&sub_quad(&wall, (0.6, 1.0), (0.0, 1.0)), 0.3)
    } else {
        drawing.shade(&sub_quad(&wall, (0.0, 0.4), (0.0, 1.0)), 0.3)
    }
    let furrows: Vec<_> = (0..12)
        .map(|row| row as f32 / 11.0)
        .map(|s| ((width * (0.3 + 0.4 * s), horizon + 12.0), (width * (s * 2.4 - 0.7), 102.0)))
        .collect();
    drawing.canvas.lines(furrows, 0.5, Fill::Alpha(palette.shadow, 0.16));
    if drawing.rng.chance(60) {
        let kind = drawing.rng.count(0, 3);
        let at = (x + wide + drawing.rng.range(8.0, 20.0), base);
        drawing.tree(at, 30.0, kind);
    }
}
