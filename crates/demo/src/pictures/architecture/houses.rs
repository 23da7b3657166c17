//! Houses with a gable, alone and in company, and houses on legs.

use super::super::canvas::{At, Ink};
use super::super::colour::Colour;
use super::super::sheet::Sheet;
use super::super::texture::upright;
use super::Body;

/// The colour of a roof over walls of `body`.
fn roof_colour(sheet: &Sheet) -> Colour {
    let palette = sheet.palette;
    let dark = palette.second.at(if palette.body.light > 0.5 { 0.36 } else { 0.62 });
    palette.body.at(dark.light).mix(dark, 0.55)
}

/// A house whose gable looks at us; `pitch` is the height of its roof.
fn house(sheet: &mut Sheet, body: &Body, pitch: f32, colour: Colour) {
    let high = Body { top: body.top - pitch * 0.6, ..*body };
    sheet.cast(&high);
    sheet.body(body, colour);
    let apex = ((body.left + body.right) / 2.0, body.top - pitch);
    let (left, right) = ((body.left, body.top), (body.right, body.top));
    let wall = [left, (apex.0, apex.1), right];
    sheet.canvas.poly(&wall, colour);
    let clip = super::super::canvas::polygon(&wall);
    sheet.canvas.clip(clip);
    let gable = upright(body.left, apex.1, body.right - body.left, pitch);
    let material = sheet.look.material;
    sheet.texture(&gable, colour, material, 1.0);
    sheet.turn(&gable, false);
    sheet.canvas.unclip();
    let eave = if body.shows_right() { right } else { left };
    let over: At = ((eave.0 - apex.0) * 0.06, (eave.1 - apex.1) * 0.06);
    let low = (eave.0 + over.0, eave.1 + over.1);
    let plane = [apex, body.back(apex), body.back(low), low];
    let roof = roof_colour(sheet);
    sheet.canvas.poly(&plane, roof);
    sheet.texture(&plane, roof, super::super::look::Material::Metal, 0.8);
    if body.shows_right() == sheet.look.from_left {
        sheet.shade(&plane, 0.7);
    } else {
        sheet.shine(&plane, 0.12);
    }
    let verge = |end: At| (end.0 + (end.0 - apex.0) * 0.05, end.1 + (end.1 - apex.1) * 0.05);
    sheet.canvas.line(apex, verge(left), 0.9, roof.lit(-0.05));
    sheet.canvas.line(apex, verge(right), 0.9, roof.lit(-0.05));
    if sheet.hand.chance(45) {
        chimney(sheet, body, apex, roof);
    }
}

fn chimney(sheet: &mut Sheet, body: &Body, apex: At, roof: Colour) {
    let at = super::between(apex, body.back(apex), 0.4);
    let colour = sheet.palette.body.lit(-0.06);
    sheet.canvas.rect(at.0 - 1.4, at.1 - 4.6, 2.8, 6.0, colour);
    let dark = if sheet.look.from_left { at.0 } else { at.0 - 1.4 };
    sheet.shade(&upright(dark, at.1 - 4.6, 1.4, 6.0), 0.9);
    sheet.canvas.rect(at.0 - 1.7, at.1 - 5.0, 3.4, 0.6, roof.lit(-0.05));
}

/// The openings of a gable: one large and one small, or a few in order.
fn openings(sheet: &mut Sheet, body: &Body, pitch: f32) {
    let wall = body.front();
    let wide = body.right - body.left;
    match sheet.hand.count(0, 3) {
        0 => {
            sheet.window(&wall, (0.14, 0.58), (0.34, 0.9));
            sheet.door(body.left + wide * 0.7, body.base, wide * 0.15, (body.base - body.top) * 0.62);
        }
        1 => {
            sheet.windows(&wall, 3, 1, (0.5, 0.5));
            let middle = (body.left + body.right) / 2.0;
            let small = upright(middle - wide * 0.09, body.top - pitch * 0.5, wide * 0.18, pitch * 0.3);
            sheet.window(&small, (0.0, 1.0), (0.0, 1.0));
        }
        2 => {
            sheet.window(&wall, (0.3, 0.7), (0.12, 1.0));
            let middle = (body.left + body.right) / 2.0;
            let round = (middle, body.top - pitch * 0.34);
            let pane = sheet.pane();
            sheet.canvas.oval(round, wide * 0.075, wide * 0.075, pane);
        }
        _ => {
            sheet.door(body.left + wide * 0.14, body.base, wide * 0.15, (body.base - body.top) * 0.66);
            sheet.window(&wall, (0.44, 0.9), (0.42, 0.72));
        }
    }
    let side = body.side();
    let count = sheet.hand.count(2, 4);
    sheet.windows(&side, count, 1, (0.42, 0.42));
}

/// One house on open ground.
pub(super) fn gable(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(62.0, 72.0);
    sheet.land(horizon);
    let symmetric = sheet.look.layout == super::Layout::Symmetric;
    let base = sheet.hand.between(79.0, 84.0);
    let wide = sheet.hand.between(27.0, 36.0).min(width * 0.4);
    let left = if symmetric { (width - wide) / 2.0 } else { width * sheet.hand.between(0.2, 0.34) };
    let vanish = if symmetric || sheet.hand.chance(70) { width * 1.05 } else { -width * 0.05 };
    let left = if vanish < 0.0 { width - left - wide } else { left };
    let body = Body {
        left,
        right: left + wide,
        top: base - sheet.hand.between(19.0, 27.0),
        base,
        vanish: (vanish, horizon - 2.0),
        deep: sheet.hand.between(0.28, 0.46),
    };
    let pitch = wide * sheet.hand.between(0.36, 0.7);
    let free = (left.min(body.back((left, 0.0)).0), body.right.max(body.back((body.right, 0.0)).0));
    sheet.grove(horizon + 4.0, free);
    let colour = sheet.palette.body;
    house(sheet, &body, pitch, colour);
    openings(sheet, &body, pitch);
    path(sheet, &body);
    let somebody = (left + wide * sheet.hand.between(-0.5, -0.15), base + 4.0);
    sheet.somebody(somebody, 8.6);
}

/// A path from the house to the lower edge.
fn path(sheet: &mut Sheet, body: &Body) {
    let width = sheet.width();
    let from = (body.left + body.right) / 2.0;
    let to = from + (width / 2.0 - from) * 0.8;
    let colour = sheet.palette.ground.lit(0.07);
    sheet.canvas.poly(
        &[(from - 2.5, body.base), (from + 2.5, body.base), (to + 12.0, 101.0), (to - 8.0, 101.0)],
        Ink::Fade((0.0, body.base), (0.0, 100.0), (colour, 0.9), (colour, 0.35)),
    );
}

/// Three to five houses that stand close.
pub(super) fn cluster(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(58.0, 66.0);
    sheet.land(horizon);
    sheet.grove(horizon + 3.0, (width * 0.2, width * 0.8));
    let count = sheet.hand.count(3, 5);
    let mut order: Vec<usize> = (0..count).collect();
    // The farther ones first: those at the ends stand in front.
    order.sort_by_key(|at| at.abs_diff(count / 2));
    let colour = sheet.palette.body;
    for (turn, at) in order.into_iter().enumerate() {
        let middle = width * (0.18 + 0.64 * (at as f32 + 0.5) / count as f32);
        let base = horizon + 6.0 + 3.6 * turn as f32;
        let wide = sheet.hand.between(15.0, 20.0);
        let body = Body {
            left: middle - wide / 2.0,
            right: middle + wide / 2.0,
            top: base - sheet.hand.between(11.0, 22.0),
            base,
            vanish: (width * 1.3, horizon - 2.0),
            deep: sheet.hand.between(0.1, 0.18),
        };
        let pitch = wide * sheet.hand.between(0.45, 0.8);
        let by = sheet.hand.between(-0.06, 0.05);
        house(sheet, &body, pitch, colour.lit(by));
        let wall = body.front();
        if sheet.hand.chance(50) {
            sheet.window(&wall, (0.3, 0.7), (0.25, 0.7));
        } else {
            sheet.windows(&wall, 2, 2, (0.38, 0.45));
        }
    }
    let at = (width * sheet.hand.between(0.3, 0.7), 93.0);
    sheet.somebody(at, 8.4);
}

/// The old house with its gable and the new one beside it.
pub(super) fn pair(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(64.0, 70.0);
    sheet.land(horizon);
    let base = sheet.hand.between(80.0, 84.0);
    let old_left = sheet.hand.chance(50);
    let wide = 27.0;
    let (old, new) =
        if old_left { (width * 0.16, width * 0.16 + wide + 2.0) } else { (width * 0.58, width * 0.14) };
    sheet.grove(horizon + 4.0, (width * 0.14, width * 0.86));
    let vanish = (width * 1.1, horizon - 3.0);
    let new_wide = if old_left { width * 0.42 } else { old - new - 2.0 };
    let body = Body {
        left: new,
        right: new + new_wide,
        top: base - sheet.hand.between(24.0, 42.0),
        base,
        vanish,
        deep: 0.16,
    };
    let second = sheet.palette.second;
    let apart = if (second.light - sheet.palette.body.light).abs() < 0.14 { second.lit(0.2) } else { second };
    sheet.cast(&body);
    let side = body.side();
    sheet.canvas.poly(&side, apart);
    sheet.turn(&side, sheet.look.from_left);
    sheet.canvas.poly(&body.front(), apart);
    sheet.turn(&body.front(), false);
    let rows = if body.base - body.top > 32.0 { 3 } else { 2 };
    sheet.windows(&body.front(), 4, rows, (0.72, 0.62));
    let body = Body { left: old, right: old + wide, top: base - 22.0, base: base + 1.0, vanish, deep: 0.2 };
    let colour = sheet.palette.body;
    let pitch = sheet.hand.between(14.0, 20.0);
    house(sheet, &body, pitch, colour);
    openings(sheet, &body, pitch);
    let at = (width * sheet.hand.between(0.4, 0.6), base + 7.0);
    sheet.somebody(at, 8.6);
}

/// A box on legs over a slope or a meadow.
pub(super) fn raised(sheet: &mut Sheet) {
    let width = sheet.width();
    let horizon = sheet.hand.between(60.0, 68.0);
    sheet.land(horizon);
    let base = sheet.hand.between(80.0, 85.0);
    let wide = width * sheet.hand.between(0.42, 0.56);
    let left = width * sheet.hand.between(0.14, 0.3);
    let lift = sheet.hand.between(11.0, 17.0);
    let body = Body {
        left,
        right: left + wide,
        top: base - lift - sheet.hand.between(19.0, 27.0),
        base: base - lift,
        vanish: (width * 1.02, horizon),
        deep: sheet.hand.between(0.16, 0.3),
    };
    sheet.grove(horizon + 4.0, (left, body.right + 8.0));
    let (reach, under) = (sheet.reach() * 7.0, Body { top: base - 0.1, base, ..body });
    let (a, b) = ((left, base), (body.right, base));
    let (c, d) = (under.back(b), under.back(a));
    sheet.shade(&[a, b, c, d].map(|at| (at.0 + reach, at.1)), 1.1);
    let dark = sheet.palette.ink.lit(0.1);
    for leg in 0..5 {
        let x = left + wide * (0.06 + 0.22 * leg as f32);
        let back = under.back((x, base));
        sheet.canvas.line((back.0, back.1), (back.0, body.base), 0.5, dark.lit(0.1));
        sheet.canvas.line((x, base), (x, body.base), 0.8, dark);
    }
    let colour = sheet.palette.body;
    sheet.body(&body, colour);
    sheet.canvas.rect(left - 0.8, body.top - 1.0, wide + 1.6, 1.4, dark);
    let band = sheet.hand.between(0.5, 0.66);
    let wall = body.front();
    sheet.windows(&super::part(&wall, (0.06, band), (0.2, 0.8)), 4, 1, (0.92, 1.0));
    sheet.window(&wall, (band + 0.1, band + 0.22), (0.3, 0.6));
    stair(sheet, (left + wide * 0.8, body.base), base);
    let at = (left + wide * sheet.hand.between(0.2, 0.7), base + 3.0);
    sheet.somebody(at, 8.8);
}

fn stair(sheet: &mut Sheet, top: At, base: f32) {
    let ink = sheet.palette.ink.lit(0.1);
    let run = (base - top.1) * 1.2;
    sheet.canvas.line(top, (top.0 - run, base), 0.7, ink);
    let steps: Vec<_> = (1..9)
        .map(|step| {
            let share = step as f32 / 9.0;
            let at = (top.0 - run * share, top.1 + (base - top.1) * share);
            (at, (at.0 + 2.6, at.1))
        })
        .collect();
    sheet.canvas.lines(steps, 0.35, ink);
}
