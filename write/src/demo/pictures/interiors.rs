//! Rooms, seen straight on: walls that meet far away, a window, and what the room is for.

mod furniture;

use super::brief::Brief;
use super::canvas::{At, Ink};
use super::hand::Hand;
use super::look::{Layout, Light, Look, Material};
use super::sheet::{Sheet, between};
use super::texture::{Quad, on, part, upright};

/// What room is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Table,
    Shelves,
    Stair,
    Bed,
    Counter,
    Enfilade,
    Vault,
    Bench,
}

impl Room {
    pub(super) fn of(brief: &Brief, look: &Look, hand: &mut Hand) -> Self {
        let other = hand.chance(50);
        let any = hand.one(&[Self::Table, Self::Bench, Self::Shelves, Self::Stair]);
        let composed = brief.composition.split(',').next().unwrap_or_default();
        match (composed, look.layout) {
            ("vault", _) => return Self::Vault,
            ("enfilade" | "threshold" | "frame within a frame" | "room within a room", _) if other => {
                return Self::Enfilade;
            }
            ("gallery" | "platform", _) => return Self::Stair,
            (_, Layout::Stack) => return Self::Stair,
            _ => {}
        }
        let spoken = [
            ("café", Self::Counter),
            ("wine bar", Self::Counter),
            ("bakery", Self::Counter),
            ("pharmacy", Self::Counter),
            ("foyer", Self::Counter),
            ("flower shop", Self::Counter),
            ("hotel", Self::Bed),
            ("guest room", Self::Bed),
            ("attic", Self::Bed),
            ("bookshop", Self::Shelves),
            ("library", Self::Shelves),
            ("law office", Self::Shelves),
            ("reading room", Self::Shelves),
            ("ceramic studio", Self::Shelves),
            ("restaurant", Self::Table),
            ("kitchen", Self::Table),
            ("canteen", Self::Table),
            ("office", Self::Table),
            ("tea room", Self::Bench),
            ("exhibition", Self::Bench),
            ("practice", Self::Bench),
            ("music room", Self::Bench),
            ("shop", Self::Shelves),
        ];
        brief.spoken(&spoken).unwrap_or(any)
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Table => "room with a long table",
            Self::Shelves => "room with shelves along its wall",
            Self::Stair => "room with an open stair",
            Self::Bed => "room with a low bed",
            Self::Counter => "room with a counter and hanging lamps",
            Self::Enfilade => "row of rooms one behind the other",
            Self::Vault => "vaulted room",
            Self::Bench => "bare room with a bench",
        }
    }
}

/// The surfaces of a room.
pub(super) struct Box {
    pub(super) back: Quad,
    pub(super) floor: Quad,
    pub(super) ceiling: Quad,
    pub(super) left: Quad,
    pub(super) right: Quad,
}

impl Box {
    fn of(sheet: &mut Sheet) -> Self {
        let width = sheet.width();
        let centred = matches!(sheet.look.layout, Layout::Symmetric | Layout::Frame | Layout::Roof);
        let sway = if centred { 0.0 } else { sheet.hand.between(-9.0, 9.0) };
        let half = sheet.hand.between(0.27, 0.33) * width;
        let (left, right) = (width / 2.0 - half + sway, width / 2.0 + half + sway);
        let (top, base) = (sheet.hand.between(14.0, 20.0), sheet.hand.between(66.0, 71.0));
        let (l, r, t, b) = (-2.0, width + 2.0, -8.0, 106.0);
        Self {
            back: [(left, top), (right, top), (right, base), (left, base)],
            floor: [(left, base), (right, base), (r, b), (l, b)],
            ceiling: [(l, t), (r, t), (right, top), (left, top)],
            left: [(l, t), (left, top), (left, base), (l, b)],
            right: [(right, top), (r, t), (r, b), (right, base)],
        }
    }
}

/// Draws a room.
pub(super) fn draw(sheet: &mut Sheet, room: Room) {
    let space = Box::of(sheet);
    shell(sheet, &space);
    match room {
        Room::Enfilade => enfilade(sheet, &space),
        Room::Vault => vault(sheet, &space),
        _ => {
            let side = !matches!(room, Room::Shelves | Room::Stair) && sheet.hand.chance(55);
            if side || sheet.look.light == Light::Side {
                side_window(sheet, &space)
            } else {
                back_window(sheet, &space, room)
            }
        }
    }
    match room {
        Room::Table => furniture::table(sheet, &space),
        Room::Shelves => furniture::shelves(sheet, &space),
        Room::Stair => furniture::stair(sheet, &space),
        Room::Bed => furniture::bed(sheet, &space),
        Room::Counter => furniture::counter(sheet, &space),
        Room::Bench => furniture::bench(sheet, &space),
        Room::Enfilade | Room::Vault => {
            let at = (on(&space.floor, sheet.hand.between(0.3, 0.7), 0.3).0, space.back[2].1 + 9.0);
            sheet.somebody(at, 24.0);
        }
    }
    lamp_glow(sheet, &space);
}

/// Whether the look's material lies on the floor instead of standing on the walls.
fn is_floor(sheet: &Sheet) -> bool {
    matches!(
        sheet.look.material,
        Material::Terrazzo
            | Material::Timber
            | Material::Marble
            | Material::Tile
            | Material::Stone
            | Material::Wicker
    )
}

/// Walls, floor and ceiling, each a tone of its own.
fn shell(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let wall = palette.body;
    let floor =
        if is_floor(sheet) { palette.body.lit(-0.05) } else { palette.ground.mix(palette.second, 0.35) };
    let wall =
        if is_floor(sheet) { palette.body.mix(palette.paper.at(palette.low.light), 0.55) } else { wall };
    sheet
        .canvas
        .poly(&space.ceiling, wall.mix(palette.paper, 0.4).lit(if palette.lit { -0.3 } else { 0.02 }));
    sheet.canvas.poly(&space.floor, floor);
    let on_floor = is_floor(sheet);
    let material = sheet.look.material;
    if on_floor {
        sheet.texture(&space.floor, floor, material, 1.6);
    }
    let bright = if sheet.look.from_left { &space.right } else { &space.left };
    let dark = if sheet.look.from_left { &space.left } else { &space.right };
    for (surface, by) in [(&space.back, 0.0), (bright, 0.03), (dark, -0.06)] {
        sheet.canvas.poly(surface, wall.lit(by));
        if !on_floor {
            sheet.texture(surface, wall.lit(by), material, 1.2);
        }
    }
    sheet.shade(dark, 0.55);
    sheet.fading_shade(&space.ceiling, (0.0, 20.0), (0.0, -4.0), 0.35);
    // Corners gather dust and dark.
    let back = space.back;
    sheet.fading_shade(&part(&back, (0.0, 0.12), (0.0, 1.0)), back[0], on(&back, 0.12, 0.0), 0.28);
    sheet.fading_shade(&part(&back, (0.88, 1.0), (0.0, 1.0)), back[1], on(&back, 0.88, 0.0), 0.28);
    sheet.fading_shade(
        &part(&space.floor, (0.0, 1.0), (0.0, 0.2)),
        back[3],
        (back[3].0, back[3].1 + 8.0),
        0.5,
    );
    let skirting = wall.lit(-0.1);
    sheet.canvas.line(back[3], back[2], 0.7, skirting);
    sheet.canvas.line(back[3], space.left[3], 0.7, skirting);
    sheet.canvas.line(back[2], space.right[2], 0.7, skirting);
}

/// What is seen through a window: sky, and the tops of trees.
fn view(sheet: &mut Sheet, opening: &Quad) {
    let palette = sheet.palette;
    let (high, low) = (palette.high.lit(0.05), palette.low.lit(0.06));
    sheet.canvas.poly(opening, Ink::Fade(opening[0], opening[3], (high, 1.0), (low, 1.0)));
    let clip = super::canvas::polygon(opening);
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

fn frame(sheet: &mut Sheet, opening: &Quad, columns: usize, rows: usize) {
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

/// Whether sun comes in and draws the window on the floor.
fn is_sunny(light: Light) -> f32 {
    match light {
        Light::Morning | Light::Evening | Light::Noon | Light::Side => 0.5,
        Light::Dapple | Light::Top | Light::Soft => 0.32,
        Light::Overcast | Light::Snow | Light::Fog => 0.18,
        Light::Dusk | Light::Night | Light::Lamp => 0.06,
    }
}

fn back_window(sheet: &mut Sheet, space: &Box, room: Room) {
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

fn side_window(sheet: &mut Sheet, space: &Box) {
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

/// The light of a window on the floor, pane by pane.
fn pieces(sheet: &mut Sheet, patch: &Quad, columns: usize, rows: usize) {
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

/// Lamplight lies over the middle of the room when it is dark.
fn lamp_glow(sheet: &mut Sheet, space: &Box) {
    if sheet.palette.lit {
        let at: At = on(&space.back, 0.5, 0.55);
        let glow = sheet.palette.glow;
        sheet.canvas.wash(Ink::Glow(at, 66.0, (glow, 0.34), (glow, 0.0)));
    }
}

/// Doorways behind one another.
fn enfilade(sheet: &mut Sheet, space: &Box) {
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
fn vault(sheet: &mut Sheet, space: &Box) {
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
        let outline = super::canvas::polygon(&upright(-2.0, -10.0, width + 4.0, spring + 10.0));
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
