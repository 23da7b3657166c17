//! Land and sea.

use super::super::canvas::Ink;
use super::super::look::Light;
use super::super::sheet::Sheet;

pub(super) fn hills(sheet: &mut Sheet) {
    let horizon = sheet.hand.between(44.0, 56.0);
    sheet.sky(horizon + 4.0);
    let palette = sheet.palette;
    let count = sheet.hand.count(4, 6);
    for hill in 0..count {
        let near = (hill + 1) as f32 / count as f32;
        let dark = palette.body.at((palette.body.light * 0.62).clamp(0.14, 0.42));
        let tone = palette.low.lit(-0.05).mix(dark, near * near * 0.75 + 0.12);
        let rise = sheet.hand.between(10.0, 20.0) * (1.25 - near * 0.6);
        sheet.ridge(horizon + 46.0 * near * near, rise, tone, true);
    }
    if sheet.hand.chance(35) {
        let at = (sheet.width() * sheet.hand.between(0.2, 0.8), 88.0);
        sheet.tree(at, 17.0, 3);
    }
}

pub(super) fn sea(sheet: &mut Sheet) {
    let (palette, width) = (sheet.palette, sheet.width());
    let horizon = sheet.hand.between(40.0, 62.0);
    sheet.sky(horizon);
    let near = palette.body.at((palette.body.light * 0.72).clamp(0.16, 0.56));
    sheet.canvas.rect(
        -1.0,
        horizon,
        width + 2.0,
        101.0,
        Ink::Fade((0.0, horizon), (0.0, 100.0), (palette.low.mix(near, 0.35), 1.0), (near, 1.0)),
    );
    for _ in 0..70 {
        let depth = sheet.hand.between(0.0, 1.0);
        let y = horizon + 1.0 + depth * depth * (98.0 - horizon);
        let (x, long) = (sheet.hand.between(-0.1, 1.0) * width, 3.0 + depth * sheet.hand.between(5.0, 26.0));
        let light = sheet.hand.chance(50);
        let tone = if light { palette.low.lit(0.06) } else { near.lit(-0.06) };
        sheet.canvas.line((x, y), (x + long, y), 0.16 + depth * 0.4, Ink::Veil(tone, 0.3));
    }
    let glow = palette.glow.mix(palette.low, 0.4);
    let x = width * if sheet.look.from_left { 0.24 } else { 0.76 };
    sheet.canvas.poly(
        &[(x - 3.0, horizon), (x + 3.0, horizon), (x + 15.0, 101.0), (x - 15.0, 101.0)],
        Ink::Fade((0.0, horizon), (0.0, 100.0), (glow.lit(0.05), 0.4), (glow, 0.0)),
    );
    shore(sheet, horizon);
}

/// A boat, a pier, a beach with somebody on it, or nothing.
fn shore(sheet: &mut Sheet, horizon: f32) {
    let (palette, width) = (sheet.palette, sheet.width());
    let dark = palette.ink.lit(0.05);
    match sheet.hand.count(0, 3) {
        0 => {
            let at = (width * sheet.hand.between(0.2, 0.7), horizon + 1.0);
            sheet.canvas.poly(
                &[
                    (at.0 - 6.0, at.1 - 1.6),
                    (at.0 + 7.0, at.1 - 1.6),
                    (at.0 + 5.0, at.1 + 0.8),
                    (at.0 - 5.0, at.1 + 0.8),
                ],
                dark,
            );
            sheet.canvas.line((at.0, at.1 - 1.6), (at.0, at.1 - 9.0), 0.4, dark);
        }
        1 => {
            let left = sheet.hand.chance(50);
            let mirror = |x: f32| if left { x } else { width - x };
            let top = horizon + 9.0;
            sheet.canvas.poly(
                &[
                    (mirror(-1.0), top + 4.0),
                    (mirror(width * 0.56), top - 5.0),
                    (mirror(width * 0.58), top - 3.4),
                    (mirror(-1.0), top + 9.0),
                ],
                dark,
            );
            let posts: Vec<_> = (0..7)
                .map(|post| post as f32 / 7.0)
                .map(|s| {
                    (
                        (mirror(width * 0.55 * s), top + 6.0 - 9.5 * s),
                        (mirror(width * 0.55 * s), top + 24.0 - 25.0 * s),
                    )
                })
                .collect();
            sheet.canvas.lines(posts, 0.9, dark);
        }
        2 => {
            sheet.canvas.poly(
                &[
                    (-1.0, 90.0),
                    (width * 0.4, 86.0),
                    (width + 1.0, 93.0),
                    (width + 1.0, 101.0),
                    (-1.0, 101.0),
                ],
                palette.ground.lit(-0.04),
            );
            let at = (width * sheet.hand.between(0.3, 0.7), 93.0);
            sheet.somebody(at, 17.0);
        }
        _ => {}
    }
}

pub(super) fn trees(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(66.0, 74.0);
    sheet.sky(horizon);
    let palette = sheet.palette;
    let far = palette.low.mix(palette.green, 0.3).mix(palette.body, 0.2);
    sheet.ridge(horizon + 2.0, 7.0, far, false);
    sheet.ground(horizon);
    let kind = if matches!(sheet.look.light, Light::Snow | Light::Fog) { 3 } else { sheet.hand.count(0, 3) };
    let count = sheet.hand.count(4, 8);
    for tree in 0..count {
        let x = width * (tree as f32 + 0.5) / count as f32 + sheet.hand.between(-2.0, 2.0);
        let (down, high) = (sheet.hand.between(1.0, 8.0), sheet.hand.between(34.0, 54.0));
        sheet.tree((x, horizon + down), high, kind);
    }
    if matches!(sheet.look.light, Light::Fog | Light::Overcast | Light::Snow) {
        let mist = palette.low;
        sheet.canvas.wash(Ink::Fade(
            (0.0, horizon - 34.0),
            (0.0, horizon + 10.0),
            (mist, 0.12),
            (mist, 0.62),
        ));
        let at = (width * sheet.hand.between(0.2, 0.8), 92.0);
        sheet.tree(at, 62.0, kind);
    }
}

pub(super) fn road(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(50.0, 60.0);
    sheet.sky(horizon);
    sheet.distance(horizon, 3);
    sheet.ground(horizon);
    let palette = sheet.palette;
    let vanish = (width * sheet.hand.between(0.36, 0.64), horizon);
    let tar = palette.body.at((palette.ground.light - 0.2).max(0.16)).muted(0.6);
    let bend = sheet.hand.between(-16.0, 16.0);
    let mut path = tiny_skia::PathBuilder::new();
    path.move_to(vanish.0, vanish.1);
    path.quad_to(vanish.0 + bend, 72.0, width * 0.24, 102.0);
    path.line_to(width * 0.78, 102.0);
    path.quad_to(vanish.0 + bend + 5.0, 72.0, vanish.0 + 0.6, vanish.1);
    path.close();
    sheet.canvas.fill(path.finish(), tar);
    let mut middle = tiny_skia::PathBuilder::new();
    middle.move_to(vanish.0 + 0.3, vanish.1 + 2.0);
    middle.quad_to(vanish.0 + bend + 2.5, 72.0, width * 0.51, 102.0);
    sheet.canvas.stroke(middle.finish(), 0.7, Ink::Veil(palette.paper, 0.6));
    for post in 0..7 {
        let near = (post + 1) as f32 / 7.0;
        let near = near * near;
        let x = vanish.0 + (width * 0.98 - vanish.0) * near;
        let base = horizon + 40.0 * near;
        sheet.canvas.line((x, base), (x, base - 52.0 * near), 0.2 + 0.9 * near, palette.ink.lit(0.08));
        sheet.canvas.line(
            (x - 6.0 * near, base - 47.0 * near),
            (x + 6.0 * near, base - 47.0 * near),
            0.2 + 0.6 * near,
            palette.ink.lit(0.08),
        );
    }
}
