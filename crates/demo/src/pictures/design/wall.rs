//! What light throws on the wall behind a thing.

use super::super::canvas::{At, Ink, curve};
use super::super::look::Light;
use super::super::sheet::Sheet;

/// What a window, a lamp or leaves throw on the wall.
pub(super) fn wall_light(sheet: &mut Sheet) {
    let width = sheet.width();
    let lean = if sheet.look.from_left { 14.0 } else { -14.0 };
    let middle = width * if sheet.look.from_left { 0.62 } else { 0.38 };
    match sheet.look.light {
        Light::Morning | Light::Evening | Light::Side | Light::Noon => {
            for pane in [-13.0f32, 1.0] {
                let x = middle + pane;
                sheet.shine(&[(x, 6.0), (x + 11.5, 9.0), (x + 11.5 + lean, 62.0), (x + lean, 59.0)], 0.24);
            }
        }
        Light::Dapple => {
            for _ in 0..4 {
                twig(sheet);
            }
        }
        Light::Top => {
            let paper = sheet.palette.paper;
            sheet.canvas.wash(Ink::Fade((0.0, 0.0), (0.0, 80.0), (paper, 0.4), (paper, 0.0)));
        }
        Light::Lamp | Light::Dusk | Light::Night => {
            let glow = sheet.palette.glow;
            let at = (middle, 34.0);
            sheet.canvas.wash(Ink::Glow(at, 60.0, (glow, 0.42), (glow, 0.0)));
        }
        _ => {
            let paper = sheet.palette.paper;
            let at = (if sheet.look.from_left { 0.0 } else { width }, 10.0);
            sheet.canvas.wash(Ink::Glow(at, 95.0, (paper, 0.3), (paper, 0.0)));
        }
    }
}

/// The shadow of a twig with its leaves, fallen on the wall from outside.
fn twig(sheet: &mut Sheet) {
    let width = sheet.width();
    let out = if sheet.look.from_left { 1.0 } else { -1.0 };
    let from = (if out > 0.0 { -3.0 } else { width + 3.0 }, sheet.hand.between(-6.0, 34.0));
    let (long, fall) = (width * sheet.hand.between(0.34, 0.66), sheet.hand.between(4.0, 24.0));
    let along = |share: f32| (from.0 + out * long * share, from.1 + fall * share * share);
    let veil = Ink::Veil(sheet.palette.shadow, 0.1);
    let stem: Vec<At> = (0..=8).map(|step| along(step as f32 / 8.0)).collect();
    sheet.canvas.stroke(curve(&stem).finish(), 0.5, veil);
    for leaf in 1..15 {
        let at = along(leaf as f32 / 15.0);
        let (size, side) = (sheet.hand.between(2.6, 4.6), if leaf % 2 == 0 { 1.0 } else { -1.0 });
        let tip = (at.0 + out * size, at.1 + side * size * 1.1);
        let across = (size * 0.34, out * side * size * -0.3);
        let middle = ((at.0 + tip.0) / 2.0, (at.1 + tip.1) / 2.0);
        let mut path = tiny_skia::PathBuilder::new();
        path.move_to(at.0, at.1);
        path.quad_to(middle.0 + across.0, middle.1 + across.1, tip.0, tip.1);
        path.quad_to(middle.0 - across.0, middle.1 - across.1, at.0, at.1);
        path.close();
        sheet.canvas.fill(path.finish(), veil);
    }
}
