//! Rooms that are mostly their own shape: doorways behind one another, and vaults.

use super::super::sheet::Sheet;
use super::super::texture::{on, part, upright};
use super::Box;
use super::windows::{frame, is_sunny, pieces, view};

/// Doorways behind one another.
pub(super) fn enfilade(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let mut room = space.back;
    let sunny = is_sunny(sheet.look.light);
    for step in 0..4 {
        let wide = room[1].0 - room[0].0;
        let sway = sheet.hand.between(-0.04, 0.04);
        let opening = part(&room, (0.28 + sway, 0.72 + sway), (0.16, 1.0));
        if step == 3 || wide < 9.0 {
            view(sheet, &opening);
            break;
        }
        let tone = if step % 2 == 0 { palette.second.mix(palette.body, 0.45) } else { palette.body };
        let tone = tone.mix(palette.low, 0.12 * step as f32);
        sheet.canvas.poly(&opening, tone);
        let next = part(&opening, (0.16, 0.84), (0.08, 0.9));
        sheet.canvas.poly(&[opening[3], opening[2], next[2], next[3]], palette.ground.mix(palette.body, 0.2));
        sheet.canvas.poly(&[opening[0], opening[1], next[1], next[0]], tone.lit(-0.07));
        let dark = if sheet.look.from_left {
            [opening[0], next[0], next[3], opening[3]]
        } else {
            [next[1], opening[1], opening[2], next[2]]
        };
        sheet.shade(&dark, 0.8);
        let s = |at: f32| if sheet.look.from_left { at } else { 1.0 - at };
        let floor = [next[3], next[2], opening[2], opening[3]];
        let patch = [
            on(&floor, s(0.05), 0.1),
            on(&floor, s(0.6), 0.1),
            on(&floor, s(0.75), 0.8),
            on(&floor, s(0.1), 0.8),
        ];
        sheet.shine(&patch, sunny);
        let jamb = palette.paper.mix(palette.body, 0.5);
        sheet.canvas.lines(
            [(opening[0], opening[1]), (opening[0], opening[3]), (opening[1], opening[2])],
            0.7,
            jamb,
        );
        room = next;
    }
    let s = |at: f32| if sheet.look.from_left { at } else { 1.0 - at };
    let near = [
        on(&space.floor, s(0.1), 0.2),
        on(&space.floor, s(0.42), 0.2),
        on(&space.floor, s(0.55), 0.62),
        on(&space.floor, s(0.08), 0.62),
    ];
    sheet.shine(&near, sunny);
}

/// A barrel vault over the room, its rings getting smaller.
pub(super) fn vault(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let width = sheet.width();
    let (back, wall) = (space.back, palette.body);
    let middle = (back[0].0 + back[1].0) / 2.0;
    let rings = 6;
    for ring in 0..=rings {
        let near = 1.0 - ring as f32 / rings as f32;
        let near = near * near;
        let half = (back[1].0 - back[0].0) / 2.0;
        let half = half + (width * 0.62 - half) * near;
        let spring = back[0].1 + 16.0 + (2.0 - back[0].1) * near * 0.9;
        let at = (middle + (width / 2.0 - middle) * near, spring);
        let tone = wall.lit(0.05 - 0.11 * near - if ring % 2 == 0 { 0.0 } else { 0.02 });
        let outline = super::super::canvas::polygon(&upright(-2.0, -10.0, width + 4.0, spring + 10.0));
        sheet.canvas.clip(outline);
        sheet.canvas.oval(at, half, half * 0.62, if ring == rings { wall.lit(0.06) } else { tone });
        sheet.canvas.unclip();
    }
    let half = (back[1].0 - back[0].0) / 2.0;
    for (side, floor, away) in
        [(-1.0, space.left[3], sheet.look.from_left), (1.0, space.right[2], !sheet.look.from_left)]
    {
        let far = (middle + side * half, back[0].1 + 16.0);
        let near = (width / 2.0 + side * width * 0.62, back[0].1 * 0.1 + 17.8);
        let low = (far.0, back[2].1);
        let wall = [near, far, low, floor];
        sheet.canvas.poly(&wall, palette.body.lit(if away { -0.06 } else { 0.0 }));
        sheet.fading_shade(&wall, near, far, if away { 0.7 } else { 0.3 });
    }
    let opening = part(&back, (0.36, 0.64), (0.3, 0.72));
    view(sheet, &opening);
    frame(sheet, &opening, 2, 1);
    let lean = sheet.reach().clamp(-1.0, 1.0) * 0.14;
    let patch = [(0.36, 0.14), (0.64, 0.14), (0.68, 0.62), (0.32, 0.62)]
        .map(|(s, t)| on(&space.floor, s + lean * (1.0 + t), t));
    pieces(sheet, &patch, 2, 1);
}
