//! Windows of rooms, what is seen through them, and the light they throw.

use super::super::canvas::{Ink, polygon};
use super::super::look::{Layout, Light};
use super::super::sheet::{Sheet, between};
use super::super::texture::{Quad, on, part};
use super::{Box, Room};

pub(super) fn back_window(sheet: &mut Sheet, space: &Box, room: Room) {
    let wide = sheet.hand.between(0.24, 0.42);
    let left = match (sheet.look.layout, room) {
        (_, Room::Shelves | Room::Stair) => {
            if sheet.look.from_left {
                0.06
            } else {
                0.94 - wide
            }
        }
        (Layout::Symmetric, _) => 0.5 - wide / 2.0,
        _ => sheet.hand.between(0.1, 0.9 - wide),
    };
    let (top, sill) = (sheet.hand.between(0.12, 0.22), sheet.hand.between(0.55, 0.68));
    let opening = part(&space.back, (left, left + wide), (top, sill));
    view(sheet, &opening);
    let (columns, rows) = (sheet.hand.count(1, 3), sheet.hand.count(1, 2));
    frame(sheet, &opening, columns, rows);
    let ledge = sheet.palette.paper.mix(sheet.palette.body, 0.4);
    sheet.canvas.rect(opening[3].0 - 0.8, opening[3].1, opening[2].0 - opening[3].0 + 1.6, 1.1, ledge);
    let lean = sheet.reach().clamp(-1.0, 1.0) * 0.16;
    let light = |s: f32, t: f32| on(&space.floor, s + lean * (1.0 + t), t);
    let patch = [
        light(left, 0.16),
        light(left + wide, 0.16),
        light(left + wide * 1.02, 0.6),
        light(left - wide * 0.02, 0.6),
    ];
    pieces(sheet, &patch, columns, rows);
}

pub(super) fn side_window(sheet: &mut Sheet, space: &Box) {
    let from_left = sheet.look.from_left;
    let wall = if from_left { space.left } else { space.right };
    let (near, far) = (sheet.hand.between(0.28, 0.4), sheet.hand.between(0.76, 0.86));
    let across = if from_left { (near, far) } else { (1.0 - far, 1.0 - near) };
    let down = (sheet.hand.between(0.2, 0.26), if sheet.hand.chance(40) { 0.97 } else { 0.64 });
    let opening = part(&wall, across, down);
    view(sheet, &opening);
    let (columns, rows) = (sheet.hand.count(2, 4), sheet.hand.count(1, 3));
    frame(sheet, &opening, columns, rows);
    let inward = |s: f32, t: f32| on(&space.floor, if from_left { s } else { 1.0 - s }, t);
    let long = sheet.reach().abs().clamp(0.45, 1.1);
    let patch = [
        inward(0.1, 0.16),
        inward(0.1 + 0.5 * long, 0.2),
        inward(0.12 + 0.56 * long, 0.5),
        inward(0.08, 0.46),
    ];
    pieces(sheet, &patch, columns, rows);
    if is_sunny(sheet.look.light) > 0.4 {
        let s = |at: f32| if from_left { at } else { 1.0 - at };
        let on_back = [
            on(&space.back, s(0.5), 0.34),
            on(&space.back, s(0.86), 0.44),
            on(&space.back, s(0.86), 0.86),
            on(&space.back, s(0.5), 0.76),
        ];
        sheet.shine(&on_back, 0.3);
        let bar = (between(on_back[0], on_back[1], 0.5), between(on_back[3], on_back[2], 0.5));
        sheet.canvas.line(bar.0, bar.1, 0.7, Ink::Veil(sheet.palette.body.lit(-0.05), 0.6));
    }
}

/// What is seen through a window: sky, and the tops of trees.
pub(super) fn view(sheet: &mut Sheet, opening: &Quad) {
    let palette = sheet.palette;
    let (high, low) = (palette.high.lit(0.05), palette.low.lit(0.06));
    sheet.canvas.poly(opening, Ink::Fade(opening[0], opening[3], (high, 1.0), (low, 1.0)));
    let clip = polygon(opening);
    sheet.canvas.clip(clip);
    let wide = opening[1].0 - opening[0].0;
    let base = opening[2].1.max(opening[3].1);
    for _ in 0..5 {
        let at = (opening[0].0 + wide * sheet.hand.between(0.0, 1.0), base - sheet.hand.between(0.0, 3.0));
        let size = sheet.hand.between(0.14, 0.26) * wide;
        let green = palette.green.mix(low, 0.4).lit(sheet.hand.between(-0.04, 0.04));
        sheet.canvas.oval(at, size, size * 0.9, green);
    }
    sheet.canvas.unclip();
}

pub(super) fn frame(sheet: &mut Sheet, opening: &Quad, columns: usize, rows: usize) {
    let ink = sheet.palette.second.at(if sheet.palette.body.light > 0.5 { 0.34 } else { 0.78 });
    let bars: Vec<_> = (0..=columns)
        .map(|at| at as f32 / columns as f32)
        .map(|at| (on(opening, at, 0.0), on(opening, at, 1.0)))
        .chain(
            (0..=rows)
                .map(|at| at as f32 / rows as f32)
                .map(|at| (on(opening, 0.0, at), on(opening, 1.0, at))),
        )
        .collect();
    sheet.canvas.lines(bars, 0.75, ink);
}

/// The light of a window on the floor, pane by pane.
pub(super) fn pieces(sheet: &mut Sheet, patch: &Quad, columns: usize, rows: usize) {
    let cover = is_sunny(sheet.look.light);
    for column in 0..columns {
        for row in 0..rows {
            let (wide, high) = (1.0 / columns as f32, 1.0 / rows as f32);
            let across = ((column as f32 + 0.03) * wide, (column as f32 + 0.97) * wide);
            let down = ((row as f32 + 0.03) * high, (row as f32 + 0.97) * high);
            sheet.shine(&part(patch, across, down), cover);
        }
    }
}

/// Whether sun comes in and draws the window on the floor.
pub(super) fn is_sunny(light: Light) -> f32 {
    match light {
        Light::Morning | Light::Evening | Light::Noon | Light::Side => 0.5,
        Light::Dapple | Light::Top | Light::Soft => 0.32,
        Light::Overcast | Light::Snow | Light::Fog => 0.18,
        Light::Dusk | Light::Night | Light::Lamp => 0.06,
    }
}
