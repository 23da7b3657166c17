//! Enfilades and vaults.

use super::super::drawing::Drawing;
use super::super::geometry::{Quad, point_on, polygon, rect_quad, sub_quad};
use super::Space;
use super::windows::{frame, pieces, sunlight_opacity, view};

/// Draws a row of aligned doorways.
pub(super) fn enfilade(drawing: &mut Drawing, space: &Space) {
    let palette = drawing.palette;
    let mut room = space.back;
    let sunny = sunlight_opacity(drawing.style.light);
    let from_left = drawing.style.from_left;
    let lit = |floor: &Quad, shares: [(f32, f32); 4]| {
        shares.map(|(s, t)| point_on(floor, if from_left { s } else { 1.0 - s }, t))
    };
    for step in 0..4 {
        let wide = room[1].0 - room[0].0;
        let sway = drawing.rng.range(-0.04, 0.04);
        let opening = sub_quad(&room, (0.28 + sway, 0.72 + sway), (0.16, 1.0));
        if step == 3 || wide < 9.0 {
            view(drawing, &opening);
            break;
        }
        let tone = if step % 2 == 0 { palette.second.mix(palette.body, 0.45) } else { palette.body };
        let tone = tone.mix(palette.backdrop_bottom, 0.12 * step as f32);
        drawing.canvas.poly(&opening, tone);
        let next = sub_quad(&opening, (0.16, 0.84), (0.08, 0.9));
        drawing
            .canvas
            .poly(&[opening[3], opening[2], next[2], next[3]], palette.ground.mix(palette.body, 0.2));
        drawing.canvas.poly(&[opening[0], opening[1], next[1], next[0]], tone.lighter(-0.07));
        let dark = if drawing.style.from_left {
            [opening[0], next[0], next[3], opening[3]]
        } else {
            [next[1], opening[1], opening[2], next[2]]
        };
        drawing.shade(&dark, 0.8);
        let floor = [next[3], next[2], opening[2], opening[3]];
        let patch = lit(&floor, [(0.05, 0.1), (0.6, 0.1), (0.75, 0.8), (0.1, 0.8)]);
        drawing.shine(&patch, sunny);
        let jamb = palette.lightest.mix(palette.body, 0.5);
        let edges = [(opening[0], opening[1]), (opening[0], opening[3]), (opening[1], opening[2])];
        drawing.canvas.lines(edges, 0.7, jamb);
        room = next;
    }
    let near = lit(&space.floor, [(0.1, 0.2), (0.42, 0.2), (0.55, 0.62), (0.08, 0.62)]);
    drawing.shine(&near, sunny);
}

/// Draws a barrel vault over the room.
pub(super) fn vault(drawing: &mut Drawing, space: &Space) {
    let palette = drawing.palette;
    let width = drawing.width();
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
        let tone = wall.lighter(0.05 - 0.11 * near - if ring % 2 == 0 { 0.0 } else { 0.02 });
        drawing.canvas.clip(polygon(&rect_quad(-2.0, -10.0, width + 4.0, spring + 10.0)));
        drawing.canvas.oval(at, half, half * 0.62, if ring == rings { wall.lighter(0.06) } else { tone });
        drawing.canvas.unclip();
    }
    let half = (back[1].0 - back[0].0) / 2.0;
    for (side, floor, away) in
        [(-1.0, space.left[3], drawing.style.from_left), (1.0, space.right[2], !drawing.style.from_left)]
    {
        let far = (middle + side * half, back[0].1 + 16.0);
        let near = (width / 2.0 + side * width * 0.62, back[0].1 * 0.1 + 17.8);
        let low = (far.0, back[2].1);
        let wall = [near, far, low, floor];
        drawing.canvas.poly(&wall, palette.body.lighter(if away { -0.06 } else { 0.0 }));
        drawing.fading_shade(&wall, near, far, if away { 0.7 } else { 0.3 });
    }
    let opening = sub_quad(&back, (0.36, 0.64), (0.3, 0.72));
    view(drawing, &opening);
    frame(drawing, &opening, 2, 1);
    let lean = drawing.shadow_reach().clamp(-1.0, 1.0) * 0.14;
    let patch = [(0.36, 0.14), (0.64, 0.14), (0.68, 0.62), (0.32, 0.62)]
        .map(|(s, t)| point_on(&space.floor, s + lean * (1.0 + t), t));
    pieces(drawing, &patch, 2, 1);
}
