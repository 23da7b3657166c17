//! A bridge and its mirror image.

use super::super::canvas::Ink;
use super::super::sheet::Sheet;
use super::super::texture::upright;

/// A deck across water, with its mirror image.
pub(super) fn bridge(sheet: &mut Sheet) {
    let width = sheet.width();
    let water = sheet.hand.between(64.0, 70.0);
    sheet.sky(water);
    sheet.distance(water, 2);
    let (low, high) = (sheet.palette.low, sheet.palette.high);
    sheet.canvas.rect(
        -1.0,
        water,
        width + 2.0,
        40.0,
        Ink::Fade((0.0, water), (0.0, 100.0), (low.lit(-0.04), 1.0), (high.lit(-0.1), 1.0)),
    );
    let deck = water - sheet.hand.between(17.0, 23.0);
    let colour = sheet.palette.body;
    let dark = colour.at((colour.light - 0.2).max(0.18));
    let piers = sheet.hand.count(2, 4);
    let covered = sheet.hand.chance(55);
    let roof = if covered { sheet.hand.between(11.0, 15.0) } else { 0.0 };
    structure(sheet, water, deck, (roof, piers));
    sheet.texture(&upright(-1.0, deck - 2.0, width + 2.0, 4.2), colour, sheet.look.material, 0.8);
    sheet.shade(&upright(-1.0, deck + 1.2, width + 2.0, 1.2), 1.0);
    if !covered {
        sheet.canvas.line((-1.0, deck - 6.0), (width + 1.0, deck - 6.0), 0.5, dark);
    }
    let bank = sheet.palette.green.lit(-0.04);
    let left = sheet.hand.chance(50);
    let corner = |x: f32| if left { x } else { width - x };
    sheet.canvas.poly(
        &[
            (corner(-1.0), water - 6.0),
            (corner(16.0), water + 4.0),
            (corner(34.0), 101.0),
            (corner(-1.0), 101.0),
        ],
        bank,
    );
    sheet.tree((corner(8.0), water + 5.0), 34.0, 0);
    for _ in 0..sheet.hand.count(1, 3) {
        let at = (width * sheet.hand.between(0.3, 0.8), deck - 2.0);
        sheet.somebody(at, 7.4);
    }
}

/// Piers, deck, posts and roof; first as the water shows them, then as they are. Without a roof there is a railing.
fn structure(sheet: &mut Sheet, water: f32, deck: f32, (roof, piers): (f32, usize)) {
    let width = sheet.width();
    let colour = sheet.palette.body;
    let dark = colour.at((colour.light - 0.2).max(0.18));
    for (mirrored, cover) in [(true, 0.38), (false, 1.0)] {
        let flip = |y: f32| if mirrored { 2.0 * water - y } else { y };
        let band = |top: f32, low: f32| {
            [(-1.0, flip(top)), (width + 1.0, flip(top)), (width + 1.0, flip(low)), (-1.0, flip(low))]
        };
        for pier in 0..piers {
            let x = width * (pier as f32 + 0.5) / piers as f32;
            let (top, low) = (flip(deck), flip(water));
            sheet.canvas.poly(
                &[(x - 2.2, top), (x + 2.2, top), (x + 1.5, low), (x - 1.5, low)],
                Ink::Veil(dark, cover),
            );
        }
        sheet.canvas.poly(&band(deck - 2.0, deck + 2.2), Ink::Veil(colour, cover));
        if roof > 0.0 {
            let tone = dark.mix(sheet.palette.second, 0.4);
            sheet.canvas.poly(&band(deck - roof, deck - roof + 3.6), Ink::Veil(tone, cover));
        }
        let posts: Vec<_> = (0..(width / 4.4) as usize)
            .map(|post| post as f32 * 4.4 + 1.0)
            .map(|x| ((x, flip(deck - roof.max(6.0))), (x, flip(deck))))
            .collect();
        sheet.canvas.lines(posts, 0.55, Ink::Veil(dark, cover));
    }
}
