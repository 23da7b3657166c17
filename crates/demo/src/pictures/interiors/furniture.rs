//! What stands in rooms.

use super::super::canvas::{At, Ink};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::{on, part, upright};
use super::Box;

/// The colour of joinery: a relative of the second colour that stands out from the floor.
pub(super) fn wood(sheet: &Sheet) -> Colour {
    let palette = sheet.palette;
    let light = if palette.ground.light > 0.55 { 0.44 } else { 0.66 };
    let light = if palette.lit { light * 0.9 } else { light };
    palette.second.mix(palette.body, 0.2).at(light)
}

/// A lamp that hangs from the ceiling down to `at`.
pub(super) fn pendant(sheet: &mut Sheet, at: At, size: f32) {
    let palette = sheet.palette;
    sheet.canvas.line((at.0, -2.0), at, 0.3, palette.ink);
    let shade = palette.second.at(if palette.body.light > 0.5 { 0.36 } else { 0.8 });
    let (x, y) = at;
    if palette.lit {
        sheet.canvas.wash(Ink::Glow(
            (x, y + size * 0.6),
            size * 5.0,
            (palette.glow.lit(0.08), 0.75),
            (palette.glow, 0.0),
        ));
    }
    sheet.canvas.poly(
        &[(x - size * 0.3, y), (x + size * 0.3, y), (x + size, y + size * 0.85), (x - size, y + size * 0.85)],
        shade,
    );
    sheet.canvas.oval(
        (x, y + size * 0.85),
        size,
        size * 0.2,
        if palette.lit { palette.glow.lit(0.08) } else { shade.lit(0.14) },
    );
}

/// A small vessel, a bowl, or some fruit, on a top.
pub(super) fn still(sheet: &mut Sheet, at: At, size: f32) {
    let palette = sheet.palette;
    let colour = palette.second.at(if palette.second.light > 0.6 { 0.5 } else { 0.76 });
    sheet.contact((at.0 + sheet.reach() * size * 0.3, at.1), size * 0.9, size * 0.2);
    if sheet.hand.chance(50) {
        sheet.canvas.oval((at.0, at.1 - size * 0.6), size * 0.5, size * 0.65, colour);
        sheet.canvas.rect(at.0 - size * 0.18, at.1 - size * 1.6, size * 0.36, size * 0.7, colour);
        let twig = palette.green;
        let lean = sheet.hand.between(-0.6, 0.6) * size;
        sheet.canvas.lines(
            [
                ((at.0, at.1 - size * 1.5), (at.0 + lean, at.1 - size * 4.0)),
                ((at.0, at.1 - size * 1.5), (at.0 - lean * 1.6, at.1 - size * 3.2)),
            ],
            size * 0.1,
            twig,
        );
        for leaf in 0..5 {
            let up = size * (2.2 + 0.4 * leaf as f32);
            let side = if leaf % 2 == 0 { 1.0 } else { -1.0 };
            sheet.canvas.oval(
                (at.0 + side * size * 0.5 + lean * 0.4, at.1 - up),
                size * 0.42,
                size * 0.2,
                twig.lit(0.03 * side),
            );
        }
    } else {
        let clip =
            super::super::canvas::polygon(&upright(at.0 - size * 1.2, at.1 - size * 0.7, size * 2.4, size));
        sheet.canvas.clip(clip);
        sheet.canvas.oval((at.0, at.1 - size * 0.7), size * 1.1, size * 0.7, colour);
        sheet.canvas.unclip();
        sheet.canvas.oval((at.0, at.1 - size * 0.7), size * 1.1, size * 0.16, colour.lit(-0.12));
    }
}

/// A box on the floor between two places of it, as high as `high` where it is near.
pub(super) fn block(
    sheet: &mut Sheet,
    space: &Box,
    across: (f32, f32),
    down: (f32, f32),
    high: f32,
    colour: Colour,
) {
    let base = part(&space.floor, across, down);
    let lift = |at: At| (at.0, at.1 - high * (0.5 + 0.5 * (at.1 - space.back[2].1) / 30.0));
    let reach = sheet.reach() * high * 0.45;
    sheet.shade(
        &[base[0], base[1], (base[2].0, base[2].1 + 0.5), (base[3].0, base[3].1 + 0.5)]
            .map(|at| (at.0 + reach, at.1 + 1.0)),
        0.9,
    );
    let top = base.map(lift);
    let middle = sheet.width() / 2.0;
    let right = (base[1].0 + base[2].0) / 2.0 < middle;
    let side = if right { [top[2], top[1], base[1], base[2]] } else { [top[0], top[3], base[3], base[0]] };
    sheet.canvas.poly(&side, colour.lit(-0.12));
    sheet.canvas.poly(&[top[3], top[2], base[2], base[3]], colour.lit(-0.04));
    sheet.canvas.poly(&top, colour.lit(0.08));
}

pub(super) fn table(sheet: &mut Sheet, space: &Box) {
    let colour = wood(sheet);
    let width = sheet.width();
    let base = space.back[2].1;
    let middle = width / 2.0 + sheet.hand.between(-7.0, 7.0);
    let (far, near) = (base + 1.0, base + sheet.hand.between(12.0, 16.0));
    let (short, long) = (sheet.hand.between(17.0, 23.0), sheet.hand.between(33.0, 42.0));
    let reach = sheet.reach() * 5.0;
    let floor = near + 11.0;
    sheet.shade(
        &[
            (middle - short + reach, far + 8.0),
            (middle + short + reach, far + 8.0),
            (middle + long + reach, floor),
            (middle - long + reach, floor),
        ],
        0.85,
    );
    let stools = sheet.hand.count(2, 4);
    let seat = colour.mix(sheet.palette.body, 0.4).lit(-0.06);
    for stool in 0..stools {
        let x = middle - short * 0.8 + short * 1.6 * (stool as f32 + 0.5) / stools as f32;
        sheet.canvas.rect(x - 2.2, far - 9.0, 4.4, 8.0, seat.lit(-0.05));
        sheet.canvas.lines(
            [((x - 1.9, far - 9.0), (x - 1.9, far + 5.0)), ((x + 1.9, far - 9.0), (x + 1.9, far + 5.0))],
            0.5,
            seat.lit(-0.12),
        );
    }
    let leg = colour.lit(-0.14);
    for (x, y, thick) in [
        (middle - long + 2.0, near, 1.3),
        (middle + long - 3.3, near, 1.3),
        (middle - short + 1.0, far, 0.8),
        (middle + short - 1.8, far, 0.8),
    ] {
        sheet.canvas.rect(x, y, thick, 11.5, leg);
    }
    let top = [(middle - short, far), (middle + short, far), (middle + long, near), (middle - long, near)];
    sheet.canvas.poly(&top, Ink::Fade(top[0], top[2], (colour.lit(0.11), 1.0), (colour.lit(0.02), 1.0)));
    sheet.canvas.rect(middle - long, near, long * 2.0, 1.5, colour.lit(-0.08));
    let at = (middle + sheet.hand.between(-14.0, 14.0), (far + near) / 2.0 + 1.0);
    still(sheet, at, 2.6);
    let lamps = sheet.hand.count(1, 3);
    for lamp in 0..lamps {
        let x = middle + (lamp as f32 + 0.5 - lamps as f32 / 2.0) * 18.0;
        pendant(sheet, (x, 27.0), 3.6);
    }
}

pub(super) fn bed(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let colour = wood(sheet);
    let cloth = palette.paper.mix(palette.low, 0.2).lit(if palette.lit { -0.26 } else { 0.0 });
    let (low, high) = if sheet.look.from_left { (0.42, 0.92) } else { (0.08, 0.58) };
    block(sheet, space, (low - 0.02, high + 0.02), (0.1, 0.56), 5.0, colour);
    block(sheet, space, (low, high), (0.1, 0.55), 9.5, cloth);
    let base = part(&space.floor, (low, high), (0.1, 0.55));
    let lift = |at: At| (at.0, at.1 - 9.5 * (0.5 + 0.5 * (at.1 - space.back[2].1) / 30.0));
    let top = base.map(lift);
    let blanket = palette.second.lit(0.03);
    let fold = part(&top, (0.0, 1.0), (0.5, 1.0));
    sheet.canvas.poly(&fold, blanket.lit(0.04));
    sheet
        .canvas
        .poly(&[top[3], top[2], (top[2].0, top[2].1 + 6.0), (top[3].0, top[3].1 + 6.0)], blanket.lit(-0.06));
    let stripes = [0.62, 0.7, 0.9].map(|at| (on(&top, 0.0, at), on(&top, 1.0, at)));
    sheet.canvas.lines(stripes, 0.5, blanket.lit(-0.12));
    for pillow in [(0.08, 0.46), (0.54, 0.92)] {
        let quad = part(&top, pillow, (-0.06, 0.26));
        sheet.canvas.poly(&quad, cloth.lit(0.05));
        sheet.canvas.line(quad[3], quad[2], 0.7, Ink::Veil(palette.shadow, 0.25));
    }
    let s = if sheet.look.from_left { 0.3 } else { 0.7 };
    let at = on(&space.floor, s, 0.2);
    sheet.canvas.rect(at.0 - 4.0, at.1 - 9.0, 8.0, 9.0, colour.lit(0.02));
    sheet.canvas.rect(at.0 - 4.4, at.1 - 9.6, 8.8, 1.0, colour.lit(0.12));
    still(sheet, (at.0, at.1 - 9.6), 2.2);
    pendant(sheet, (at.0, at.1 - 38.0), 3.4);
}

pub(super) fn bench(sheet: &mut Sheet, space: &Box) {
    let colour = wood(sheet);
    let (low, high) = (sheet.hand.between(0.16, 0.3), sheet.hand.between(0.66, 0.84));
    block(sheet, space, (low, high), (0.3, 0.44), 6.5, colour);
    let palette = sheet.palette;
    let (left, wide) = (sheet.hand.between(0.14, 0.6), sheet.hand.between(0.16, 0.26));
    if sheet.hand.chance(50) && palette.lit {
        let x = on(&space.back, left, 0.0).0;
        pendant(sheet, (x, 30.0), 4.0);
    } else if sheet.hand.chance(60) {
        let s = if sheet.look.from_left { 0.94 } else { 0.06 };
        let at = on(&space.floor, s, 0.1);
        sheet.canvas.rect(at.0 - 2.5, at.1 - 4.0, 5.0, 6.0, palette.second);
        sheet.tree((at.0, at.1 - 3.0), 26.0, 0);
    }
    let rug = part(&space.floor, (left * 0.5 + 0.1, left * 0.5 + 0.1 + wide * 2.2), (0.5, 0.62));
    sheet.canvas.poly(&rug, Ink::Veil(palette.second, 0.55));
}
