//! Furniture of rooms.

use super::super::canvas::Fill;
use super::super::colour::Colour;
use super::super::drawing::Drawing;
use super::super::geometry::{
    Point, Quad, lines_across, placed, point_on, polygon, rect_quad, shifted, sub_quad, taper,
};
use super::Space;

/// Returns the colour of furniture: close to the second colour, in contrast to the floor.
pub(super) fn wood(drawing: &Drawing) -> Colour {
    let palette = drawing.palette;
    let light = if palette.ground.light > 0.55 { 0.44 } else { 0.66 };
    let light = if palette.lamps_on { light * 0.9 } else { light };
    palette.second.mix(palette.body, 0.2).with_lightness(light)
}

/// Draws a lamp that hangs from the ceiling down to `at`.
pub(super) fn pendant(drawing: &mut Drawing, at: Point, size: f32) {
    let palette = drawing.palette;
    drawing.canvas.line((at.0, -2.0), at, 0.3, palette.darkest);
    let shade = palette.second.with_lightness(if palette.body.light > 0.5 { 0.36 } else { 0.8 });
    if palette.lamps_on {
        let middle = (at.0, at.1 + size * 0.6);
        drawing.canvas.fill_all(Fill::Radial(middle, size * 5.0, palette.glow.lighter(0.08), 0.75));
    }
    let low = (at.0, at.1 + size * 0.85);
    drawing.canvas.poly(&taper(at, size * 0.3, low, size), shade);
    let inside = if palette.lamps_on { palette.glow.lighter(0.08) } else { shade.lighter(0.14) };
    drawing.canvas.oval(low, size, size * 0.2, inside);
}

/// Draws a small vessel, a bowl, or some fruit on a table.
pub(super) fn small_object(drawing: &mut Drawing, at: Point, size: f32) {
    let palette = drawing.palette;
    let colour = palette.second.with_lightness(if palette.second.light > 0.6 { 0.5 } else { 0.76 });
    drawing.contact_shadow((at.0 + drawing.shadow_reach() * size * 0.3, at.1), size * 0.9, size * 0.2);
    if drawing.rng.chance(50) {
        drawing.canvas.oval((at.0, at.1 - size * 0.6), size * 0.5, size * 0.65, colour);
        drawing.canvas.rect(at.0 - size * 0.18, at.1 - size * 1.6, size * 0.36, size * 0.7, colour);
        let twig = palette.green;
        let lean = drawing.rng.range(-0.6, 0.6);
        let [root, left, right] = placed(at, (size, -size), [(0.0, 1.5), (lean, 4.0), (lean * -1.6, 3.2)]);
        drawing.canvas.lines([(root, left), (root, right)], size * 0.1, twig);
        for leaf in 0..5 {
            let side = if leaf % 2 == 0 { 1.0 } else { -1.0 };
            let place = (side * 0.5 + lean * 0.4, 2.2 + 0.4 * leaf as f32);
            let [leaf] = placed(at, (size, -size), [place]);
            drawing.canvas.oval(leaf, size * 0.42, size * 0.2, twig.lighter(0.03 * side));
        }
    } else {
        let rim = (at.0, at.1 - size * 0.7);
        drawing.canvas.clip(polygon(&rect_quad(at.0 - size * 1.2, rim.1, size * 2.4, size)));
        drawing.canvas.oval(rim, size * 1.1, size * 0.7, colour);
        drawing.canvas.unclip();
        drawing.canvas.oval(rim, size * 1.1, size * 0.16, colour.lighter(-0.12));
    }
}

/// Draws a box on the floor between two points; `high` is its height at the near one. Returns its upper side.
pub(super) fn block(
    drawing: &mut Drawing,
    space: &Space,
    (across, down): ((f32, f32), (f32, f32)),
    high: f32,
    colour: Colour,
) -> Quad {
    let base = sub_quad(&space.floor, across, down);
    let reach = drawing.shadow_reach() * high * 0.45;
    let mut shadow = shifted(base, (reach, 1.0));
    shadow[2].1 += 0.5;
    shadow[3].1 += 0.5;
    drawing.shade(&shadow, 0.9);
    let top = base.map(|at| (at.0, at.1 - high * (0.5 + 0.5 * (at.1 - space.back[2].1) / 30.0)));
    let middle = drawing.width() / 2.0;
    let right = (base[1].0 + base[2].0) / 2.0 < middle;
    let side = if right { [top[2], top[1], base[1], base[2]] } else { [top[0], top[3], base[3], base[0]] };
    drawing.canvas.poly(&side, colour.lighter(-0.12));
    drawing.canvas.poly(&[top[3], top[2], base[2], base[3]], colour.lighter(-0.04));
    drawing.canvas.poly(&top, colour.lighter(0.08));
    top
}

pub(super) fn table(drawing: &mut Drawing, space: &Space) {
    let colour = wood(drawing);
    let width = drawing.width();
    let base = space.back[2].1;
    let middle = width / 2.0 + drawing.rng.range(-7.0, 7.0);
    let (far, near) = (base + 1.0, base + drawing.rng.range(12.0, 16.0));
    let (short, long) = (drawing.rng.range(17.0, 23.0), drawing.rng.range(33.0, 42.0));
    let reach = (drawing.shadow_reach() * 5.0, 0.0);
    let shadow = taper((middle, far + 8.0), short, (middle, near + 11.0), long);
    drawing.shade(&shifted(shadow, reach), 0.85);
    let stools = drawing.rng.count(2, 4);
    let seat = colour.mix(drawing.palette.body, 0.4).lighter(-0.06);
    for stool in 0..stools {
        let x = middle - short * 0.8 + short * 1.6 * (stool as f32 + 0.5) / stools as f32;
        drawing.canvas.rect(x - 2.2, far - 9.0, 4.4, 8.0, seat.lighter(-0.05));
        let legs = [x - 1.9, x + 1.9].map(|x| ((x, far - 9.0), (x, far + 5.0)));
        drawing.canvas.lines(legs, 0.5, seat.lighter(-0.12));
    }
    let leg = colour.lighter(-0.14);
    for (x, y, thick) in [
        (middle - long + 2.0, near, 1.3),
        (middle + long - 3.3, near, 1.3),
        (middle - short + 1.0, far, 0.8),
        (middle + short - 1.8, far, 0.8),
    ] {
        drawing.canvas.rect(x, y, thick, 11.5, leg);
    }
    let top = taper((middle, far), short, (middle, near), long);
    let sheen = Fill::gradient(top[0], top[2], colour.lighter(0.11), colour.lighter(0.02));
    drawing.canvas.poly(&top, sheen);
    drawing.canvas.rect(middle - long, near, long * 2.0, 1.5, colour.lighter(-0.08));
    let at = (middle + drawing.rng.range(-14.0, 14.0), (far + near) / 2.0 + 1.0);
    small_object(drawing, at, 2.6);
    let lamps = drawing.rng.count(1, 3);
    for lamp in 0..lamps {
        let x = middle + (lamp as f32 + 0.5 - lamps as f32 / 2.0) * 18.0;
        pendant(drawing, (x, 27.0), 3.6);
    }
}

pub(super) fn bed(drawing: &mut Drawing, space: &Space) {
    let palette = drawing.palette;
    let colour = wood(drawing);
    let by = if palette.lamps_on { -0.26 } else { 0.0 };
    let cloth = palette.lightest.mix(palette.backdrop_bottom, 0.2).lighter(by);
    let (low, high) = if drawing.style.from_left { (0.42, 0.92) } else { (0.08, 0.58) };
    block(drawing, space, ((low - 0.02, high + 0.02), (0.1, 0.56)), 5.0, colour);
    let top = block(drawing, space, ((low, high), (0.1, 0.55)), 9.5, cloth);
    let blanket = palette.second.lighter(0.03);
    let fold = sub_quad(&top, (0.0, 1.0), (0.5, 1.0));
    drawing.canvas.poly(&fold, blanket.lighter(0.04));
    let [near_left, near_right] = shifted([top[3], top[2]], (0.0, 6.0));
    drawing.canvas.poly(&[top[3], top[2], near_right, near_left], blanket.lighter(-0.06));
    drawing.canvas.lines(lines_across(&top, [0.62, 0.7, 0.9]), 0.5, blanket.lighter(-0.12));
    for pillow in [(0.08, 0.46), (0.54, 0.92)] {
        let quad = sub_quad(&top, pillow, (-0.06, 0.26));
        drawing.canvas.poly(&quad, cloth.lighter(0.05));
        drawing.canvas.line(quad[3], quad[2], 0.7, Fill::Alpha(palette.shadow, 0.25));
    }
    let s = if drawing.style.from_left { 0.3 } else { 0.7 };
    let at = point_on(&space.floor, s, 0.2);
    drawing.canvas.rect(at.0 - 4.0, at.1 - 9.0, 8.0, 9.0, colour.lighter(0.02));
    drawing.canvas.rect(at.0 - 4.4, at.1 - 9.6, 8.8, 1.0, colour.lighter(0.12));
    small_object(drawing, (at.0, at.1 - 9.6), 2.2);
    pendant(drawing, (at.0, at.1 - 38.0), 3.4);
}

pub(super) fn bench(drawing: &mut Drawing, space: &Space) {
    let colour = wood(drawing);
    let (low, high) = (drawing.rng.range(0.16, 0.3), drawing.rng.range(0.66, 0.84));
    block(drawing, space, ((low, high), (0.3, 0.44)), 6.5, colour);
    let palette = drawing.palette;
    let (left, wide) = (drawing.rng.range(0.14, 0.6), drawing.rng.range(0.16, 0.26));
    if drawing.rng.chance(50) && palette.lamps_on {
        let x = point_on(&space.back, left, 0.0).0;
        pendant(drawing, (x, 30.0), 4.0);
    } else if drawing.rng.chance(60) {
        let s = if drawing.style.from_left { 0.94 } else { 0.06 };
        let at = point_on(&space.floor, s, 0.1);
        drawing.canvas.rect(at.0 - 2.5, at.1 - 4.0, 5.0, 6.0, palette.second);
        drawing.tree((at.0, at.1 - 3.0), 26.0, 0);
    }
    let rug = sub_quad(&space.floor, (left * 0.5 + 0.1, left * 0.5 + 0.1 + wide * 2.2), (0.5, 0.62));
    drawing.canvas.poly(&rug, Fill::Alpha(palette.second, 0.55));
}
