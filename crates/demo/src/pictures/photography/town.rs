//! What people have put up: streets, walls of windows, poles, sheds.

use super::super::canvas::Ink;
use super::super::sheet::{Sheet, between};
use super::super::texture::{part, upright};

pub(super) fn street(sheet: &mut Sheet) {
    let (palette, width) = (sheet.palette, sheet.width());
    let vanish = (width * sheet.hand.between(0.4, 0.6), sheet.hand.between(58.0, 66.0));
    sheet.sky(vanish.1);
    let far = palette.low.mix(palette.body, 0.35);
    sheet.canvas.rect(vanish.0 - 9.0, vanish.1 - 15.0, 18.0, 22.0, far);
    let floor = palette.ground.lit(-0.06);
    sheet.canvas.poly(
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
        let away = (side < 0.5) == sheet.look.from_left;
        let mut near = 0.0;
        let tones = [
            palette.body,
            palette.second.mix(palette.body, 0.5),
            palette.body.lit(0.08),
            palette.body.lit(-0.08),
        ];
        for house in 0..4 {
            let next: f32 = near + sheet.hand.between(0.16, 0.3) * (1.0 - near);
            let (top, base) = ((edge, -sheet.hand.between(4.0, 46.0)), (edge, 104.0));
            let quad = [
                between(top, vanish, near),
                between(top, vanish, next),
                between(base, vanish, next),
                between(base, vanish, near),
            ];
            let tone = tones[house % 4].mix(palette.low, near * 0.5);
            sheet.canvas.poly(&quad, tone);
            let (columns, rows) = (sheet.hand.count(2, 3), 4);
            for row in 0..rows {
                for column in 0..columns {
                    let pane = sheet.pane();
                    let cell = part(
                        &quad,
                        ((column as f32 + 0.28) / columns as f32, (column as f32 + 0.72) / columns as f32),
                        ((row as f32 + 0.3) / 4.4, (row as f32 + 0.8) / 4.4),
                    );
                    sheet.canvas.poly(&cell, pane.mix(tone, 0.15 + near * 0.4));
                }
            }
            if away {
                sheet.shade(&quad, 0.95)
            } else {
                sheet.shine(&quad, if palette.lit { 0.02 } else { 0.12 })
            }
            near = next;
        }
    }
    let across = if sheet.look.from_left { width * 0.62 } else { width * 0.38 };
    let edge = if sheet.look.from_left { -26.0 } else { width + 26.0 };
    sheet.shade(&[(vanish.0, vanish.1 + 1.0), (across, 102.0), (edge, 102.0)], 0.8);
    for _ in 0..sheet.hand.count(1, 2) {
        let at = (vanish.0 + sheet.hand.between(-14.0, 14.0), vanish.1 + sheet.hand.between(12.0, 22.0));
        let high = (at.1 - vanish.1) * 1.1;
        sheet.somebody(at, high);
    }
}

pub(super) fn windows(sheet: &mut Sheet) {
    let (palette, width) = (sheet.palette, sheet.width());
    let wall = palette.body.at(palette.body.light.min(0.74));
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (width, 100.0), (wall.lit(0.02), 1.0), (wall.lit(-0.05), 1.0)));
    let rows = sheet.hand.count(3, 6);
    let columns = ((rows as f32 * width / 100.0).round() as usize).max(2);
    let fill = (sheet.hand.between(0.44, 0.62), sheet.hand.between(0.52, 0.68));
    for row in 0..rows {
        for column in 0..columns {
            let (wide, high) = (width / columns as f32, 100.0 / rows as f32);
            let (x, y) =
                (wide * (column as f32 + (1.0 - fill.0) / 2.0), high * (row as f32 + (1.0 - fill.1) / 2.0));
            let opening = upright(x, y, wide * fill.0, high * fill.1);
            let pane = sheet.pane();
            let warm = palette.lit || sheet.hand.chance(9);
            let pane = if warm { pane } else { pane.mix(palette.body.at(0.3), 0.3) };
            sheet.canvas.poly(
                &opening,
                Ink::Fade(opening[0], opening[2], (pane.lit(0.05), 1.0), (pane.lit(-0.05), 1.0)),
            );
            if sheet.hand.chance(32) {
                let down = sheet.hand.between(0.2, 0.8);
                sheet.canvas.poly(
                    &part(&opening, (0.0, 1.0), (0.0, down)),
                    palette.paper.mix(palette.second, 0.3).lit(if palette.lit { -0.3 } else { -0.06 }),
                );
            }
            if sheet.hand.chance(8) {
                let at = part(&opening, (0.5, 0.5), (1.0, 1.0))[0];
                sheet.canvas.clip(super::super::canvas::polygon(&opening));
                sheet.somebody((at.0, at.1 + high * 0.12), high * fill.1 * 0.9);
                sheet.canvas.unclip();
            }
            sheet.shade(&part(&opening, (0.0, 1.0), (0.0, 0.08)), 1.1);
            sheet.canvas.rect(x - 0.5, y + high * fill.1, wide * fill.0 + 1.0, 0.9, wall.lit(0.1));
        }
    }
    let reach = sheet.reach().signum();
    let edge = if reach > 0.0 { -1.0 } else { width + 1.0 };
    let into = reach * width * sheet.hand.between(0.2, 0.5);
    sheet.shade(&[(edge, 30.0), (edge + into, 101.0), (edge, 101.0)], 0.6);
}

pub(super) fn poles(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(70.0, 80.0);
    sheet.sky(horizon);
    sheet.distance(horizon, 1);
    sheet.ground(horizon);
    let palette = sheet.palette;
    let count = sheet.hand.count(4, 7);
    let (ink, cloth) = (palette.ink.lit(0.04), sheet.hand.chance(50));
    let top = sheet.hand.between(30.0, 44.0);
    let place = |pole: f32| (width * (pole + 0.5) / count as f32, horizon + 6.0);
    for pole in 0..count {
        let (x, base) = place(pole as f32);
        sheet.canvas.line((x, base), (x, top), 0.7, ink);
        let reach = sheet.reach() * 16.0;
        let veil = Ink::Veil(palette.shadow, palette.depth * 0.6);
        sheet.canvas.line((x, base), (x + reach, base + 6.0), 0.7, veil);
        if cloth && pole + 1 < count {
            let next = place(pole as f32 + 1.0).0;
            let (left, wide) = (x + (next - x) * 0.16, (next - x) * 0.68);
            let tone =
                sheet.hand.one(&[palette.paper, palette.body, palette.second, palette.paper.lit(-0.05)]);
            let (long, sway) = (sheet.hand.between(13.0, 25.0), sheet.hand.between(-3.0, 3.0));
            let sheet_cloth = [
                (left, top + 2.4),
                (left + wide, top + 2.4),
                (left + wide + sway, top + 2.4 + long),
                (left + sway, top + 3.4 + long),
            ];
            sheet.canvas.poly(&sheet_cloth, tone);
            sheet.fading_shade(&sheet_cloth, sheet_cloth[0], sheet_cloth[1], 0.4);
        }
    }
    let mut wire = Vec::new();
    for pole in 0..=count * 6 {
        let share = pole as f32 / 6.0 - 0.5;
        let sag = ((share - share.floor()) * std::f32::consts::PI).sin() * 2.4;
        wire.push((width * (share + 0.5) / count as f32, top + 0.6 + sag));
    }
    sheet.canvas.stroke(super::super::canvas::curve(&wire).finish(), 0.35, ink);
}

pub(super) fn shed(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(62.0, 72.0);
    sheet.sky(horizon);
    sheet.distance(horizon, 2);
    sheet.ground(horizon);
    let palette = sheet.palette;
    let (x, base) = (width * sheet.hand.between(0.22, 0.42), horizon + 9.0);
    let (wide, high) = (sheet.hand.between(26.0, 38.0), sheet.hand.between(14.0, 22.0));
    let reach = sheet.reach() * high * 0.9;
    sheet.shade(&[(x, base), (x + wide, base), (x + wide + reach, base + 7.0), (x + reach, base + 7.0)], 1.0);
    let wall = upright(x, base - high, wide, high);
    let tone = palette.body.at(palette.body.light.clamp(0.25, 0.8));
    sheet.canvas.poly(&wall, tone);
    sheet.texture(&wall, tone, super::super::look::Material::Timber, 1.0);
    let dark = palette.ink.lit(0.06);
    let lean = sheet.hand.between(-4.0, 7.0);
    sheet.canvas.poly(
        &[
            (x - 2.0, base - high),
            (x + wide + 2.0, base - high),
            (x + wide * 0.9 - lean, base - high - 9.0),
            (x + wide * 0.1 + lean, base - high - 9.0),
        ],
        palette.second.at(0.36),
    );
    sheet.canvas.poly(&part(&wall, (0.2, 0.44), (0.25, 1.0)), dark);
    sheet
        .canvas
        .poly(&part(&wall, (0.64, 0.82), (0.3, 0.6)), if palette.lit { palette.glow } else { dark.lit(0.1) });
    if sheet.look.from_left {
        sheet.shade(&part(&wall, (0.6, 1.0), (0.0, 1.0)), 0.3)
    } else {
        sheet.shade(&part(&wall, (0.0, 0.4), (0.0, 1.0)), 0.3)
    }
    let furrows: Vec<_> = (0..12)
        .map(|row| row as f32 / 11.0)
        .map(|s| ((width * (0.3 + 0.4 * s), horizon + 12.0), (width * (s * 2.4 - 0.7), 102.0)))
        .collect();
    sheet.canvas.lines(furrows, 0.5, Ink::Veil(palette.shadow, 0.16));
    if sheet.hand.chance(60) {
        let kind = sheet.hand.count(0, 3);
        let at = (x + wide + sheet.hand.between(8.0, 20.0), base);
        sheet.tree(at, 30.0, kind);
    }
}
