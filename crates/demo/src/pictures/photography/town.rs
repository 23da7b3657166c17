//! Streets, walls of windows, poles, sheds.

use super::super::canvas::Fill;
use super::super::drawing::Drawing;
use super::super::geometry::{
    cells, curve, lines_down, point_on, polygon, rect_quad, shares, slant, sub_quad, taper,
};
use super::super::style::Material;

pub(super) fn street(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let vanish = (width * drawing.rng.range(0.4, 0.6), drawing.rng.range(58.0, 66.0));
    drawing.sky(vanish.1);
    let far = palette.backdrop_bottom.mix(palette.body, 0.35);
    drawing.canvas.rect(vanish.0 - 9.0, vanish.1 - 15.0, 18.0, 22.0, far);
    let floor = palette.ground.lighter(-0.06);
    let lane = taper((vanish.0, vanish.1 + 1.0), 5.0, (width / 2.0, 102.0), width / 2.0 + 26.0);
    drawing.canvas.poly(&lane, floor);
    let mixed = palette.second.mix(palette.body, 0.5);
    let tones = [palette.body, mixed, palette.body.lighter(0.08), palette.body.lighter(-0.08)];
    for side in [0.0f32, 1.0] {
        let edge = if side < 0.5 { -1.0 } else { width + 1.0 };
        let away = (side < 0.5) == drawing.style.from_left;
        let mut near = 0.0;
        for tone in tones {
            let next: f32 = near + drawing.rng.range(0.16, 0.3) * (1.0 - near);
            let (top, base) = ((edge, -drawing.rng.range(4.0, 46.0)), (edge, 104.0));
            let wall = [top, vanish, vanish, base];
            let quad = sub_quad(&wall, (near, next), (0.0, 1.0));
            let tone = tone.mix(palette.backdrop_bottom, near * 0.5);
            drawing.canvas.poly(&quad, tone);
            let columns = drawing.rng.count(2, 3);
            let upper = sub_quad(&quad, (0.0, 1.0), (0.0114, 0.9205));
            for cell in cells(columns, 4, (0.44, 0.5)) {
                let pane = drawing.pane_colour();
                drawing.canvas.poly(&cell.of(&upper), pane.mix(tone, 0.15 + near * 0.4));
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
    drawing.wall(wall, 100.0, (0.02, -0.05));
    let rows = drawing.rng.count(3, 6);
    let columns = ((rows as f32 * width / 100.0).round() as usize).max(2);
    let fill = (drawing.rng.range(0.44, 0.62), drawing.rng.range(0.52, 0.68));
    let all = rect_quad(0.0, 0.0, width, 100.0);
    let blind = palette.lightest.mix(palette.second, 0.3);
    let blind = blind.lighter(if palette.lamps_on { -0.3 } else { -0.06 });
    for cell in cells(columns, rows, fill) {
        let opening = cell.of(&all);
        let high = opening[3].1 - opening[0].1;
        let pane = drawing.pane_colour();
        let warm = palette.lamps_on || drawing.rng.chance(9);
        let pane = if warm { pane } else { pane.mix(palette.body.with_lightness(0.3), 0.3) };
        let sheen = Fill::gradient(opening[0], opening[2], pane.lighter(0.05), pane.lighter(-0.05));
        drawing.canvas.poly(&opening, sheen);
        if drawing.rng.chance(32) {
            let down = drawing.rng.range(0.2, 0.8);
            drawing.canvas.poly(&sub_quad(&opening, (0.0, 1.0), (0.0, down)), blind);
        }
        if drawing.rng.chance(8) {
            let at = point_on(&opening, 0.5, 1.0);
            drawing.canvas.clip(polygon(&opening));
            drawing.person((at.0, at.1 + 100.0 / rows as f32 * 0.12), high * 0.9);
            drawing.canvas.unclip();
        }
        drawing.shade(&sub_quad(&opening, (0.0, 1.0), (0.0, 0.08)), 1.1);
        let (x, wide) = (opening[3].0 - 0.5, opening[2].0 - opening[3].0 + 1.0);
        drawing.canvas.rect(x, opening[3].1, wide, 0.9, wall.lighter(0.1));
    }
    let reach = drawing.shadow_reach().signum();
    let edge = if reach > 0.0 { -1.0 } else { width + 1.0 };
    let into = reach * width * drawing.rng.range(0.2, 0.5);
    drawing.shade(&[(edge, 30.0), (edge + into, 101.0), (edge, 101.0)], 0.6);
}

pub(super) fn poles(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(70.0, 80.0);
    drawing.land(horizon, 1);
    let palette = drawing.palette;
    let count = drawing.rng.count(4, 7);
    let (ink, cloth) = (palette.darkest.lighter(0.04), drawing.rng.chance(50));
    let top = drawing.rng.range(30.0, 44.0);
    let tones = [palette.lightest, palette.body, palette.second, palette.lightest.lighter(-0.05)];
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
            let tone = drawing.rng.choose(&tones);
            let (long, sway) = (drawing.rng.range(13.0, 25.0), drawing.rng.range(-3.0, 3.0));
            let mut sheet = slant((left, left + wide), top + 2.4, (sway, long));
            sheet[3].1 += 1.0;
            drawing.canvas.poly(&sheet, tone);
            drawing.fading_shade(&sheet, sheet[0], sheet[1], 0.4);
        }
    }
    let wire: Vec<_> = shares(0..count * 6 + 1, 6)
        .map(|share| {
            let sag = ((share - 0.5).rem_euclid(1.0) * std::f32::consts::PI).sin() * 2.4;
            (width * share / count as f32, top + 0.6 + sag)
        })
        .collect();
    drawing.canvas.stroke(curve(&wire).finish(), 0.35, ink);
}

pub(super) fn shed(drawing: &mut Drawing) {
    let width = drawing.width();
    let horizon = drawing.rng.range(62.0, 72.0);
    drawing.land(horizon, 2);
    let palette = drawing.palette;
    let (x, base) = (width * drawing.rng.range(0.22, 0.42), horizon + 9.0);
    let (wide, high) = (drawing.rng.range(26.0, 38.0), drawing.rng.range(14.0, 22.0));
    let reach = (drawing.shadow_reach() * high * 0.9, 7.0);
    drawing.shade(&slant((x, x + wide), base, reach), 1.0);
    let wall = rect_quad(x, base - high, wide, high);
    let tone = palette.body.with_lightness(palette.body.light.clamp(0.25, 0.8));
    drawing.canvas.poly(&wall, tone);
    drawing.texture(&wall, tone, Material::Timber, 1.0);
    let dark = palette.darkest.lighter(0.06);
    let lean = drawing.rng.range(-4.0, 7.0);
    let middle = x + wide / 2.0;
    let ridge = wide * 0.4 - lean;
    let roof = taper((middle, base - high - 9.0), ridge, (middle, base - high), wide / 2.0 + 2.0);
    drawing.canvas.poly(&roof, palette.second.with_lightness(0.36));
    drawing.canvas.poly(&sub_quad(&wall, (0.2, 0.44), (0.25, 1.0)), dark);
    let pane = if palette.lamps_on { palette.glow } else { dark.lighter(0.1) };
    drawing.canvas.poly(&sub_quad(&wall, (0.64, 0.82), (0.3, 0.6)), pane);
    let away = if drawing.style.from_left { (0.6, 1.0) } else { (0.0, 0.4) };
    drawing.shade(&sub_quad(&wall, away, (0.0, 1.0)), 0.3);
    let field = taper((width * 0.5, horizon + 12.0), width * 0.2, (width * 0.5, 102.0), width * 1.2);
    let furrows = lines_down(&field, shares(0..12, 11));
    drawing.canvas.lines(furrows, 0.5, Fill::Alpha(palette.shadow, 0.16));
    if drawing.rng.chance(60) {
        let kind = drawing.rng.count(0, 3);
        let at = (x + wide + drawing.rng.range(8.0, 20.0), base);
        drawing.tree(at, 30.0, kind);
    }
}
