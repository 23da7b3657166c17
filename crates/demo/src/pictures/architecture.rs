//! Buildings: the choice of kind, and their common parts.

mod blocks;
mod bridge;
mod houses;
mod spaces;

use super::brief::Brief;
use super::canvas::Fill;
use super::colour::Colour;
use super::drawing::Drawing;
use super::geometry::{Point, Quad, cells, lerp, lines_across, lines_down, rect_quad, sub_quad};
use super::motif::{Format, Motif, Setting};
use super::style::{Layout, Light, Style};
use crate::rng::DrawingRng;

const fn building(noun: &'static str, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Outdoors, format: Format::Wide, draw }
}

const GABLE: Motif = building("gabled house", |drawing| enlarged(drawing, 1.16, houses::gable));
const CLUSTER: Motif =
    building("cluster of gabled houses", |drawing| enlarged(drawing, 1.16, houses::cluster));
const PAIR: Motif = building("pair of houses", |drawing| enlarged(drawing, 1.16, houses::pair));
const RAISED: Motif = building("raised house", |drawing| enlarged(drawing, 1.08, houses::raised));
const PAVILION: Motif = building("flat-roofed pavilion", |drawing| enlarged(drawing, 1.08, blocks::pavilion));
const TOWER: Motif = Motif { format: Format::Tall, ..building("stacked tower", blocks::tower) };
const FACADE: Motif = building("street facade", blocks::facade);
const BAR: Motif = building("long low building", blocks::bar);
const STEPS: Motif = building("stepped hillside building", blocks::steps);
const COURT: Motif = building("arcaded courtyard", spaces::court);
const PORTALS: Motif = building("succession of doorways", spaces::portals);
const HALL: Motif = Motif { setting: Setting::Indoors, ..building("top-lit hall", spaces::hall) };
const BRIDGE: Motif = building("bridge over still water", bridge::bridge);

/// Chooses by the composition; a text that names a footbridge gets a bridge.
pub(super) fn motif(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Motif {
    let other = rng.chance(45);
    let choose = |one, two| if other { two } else { one };
    let by_layout = match style.layout {
        Layout::Roof => choose(GABLE, PAVILION),
        Layout::Long | Layout::Line | Layout::Close => choose(BAR, PAVILION),
        Layout::Stack | Layout::Figure => TOWER,
        Layout::Grid | Layout::Field => FACADE,
        Layout::Diagonal => STEPS,
        Layout::Enclosure => choose(COURT, HALL),
        Layout::Ring => COURT,
        Layout::Frame => PORTALS,
        Layout::Pair => PAIR,
        Layout::Raised => choose(RAISED, BRIDGE),
        Layout::Cluster => CLUSTER,
        Layout::Symmetric => choose(GABLE, HALL),
        Layout::Depth => choose(PORTALS, GABLE),
        Layout::Asymmetric => choose(GABLE, RAISED),
    };
    brief.first_mentioned(&[(&["footbridge"], BRIDGE)]).unwrap_or(by_layout)
}

/// Draws a building enlarged by `near`.
fn enlarged(drawing: &mut Drawing, near: f32, building: fn(&mut Drawing)) {
    let middle = drawing.width() / 2.0;
    drawing.canvas.zoom(near, (middle, 74.0));
    building(drawing);
    drawing.canvas.zoom(1.0, (0.0, 0.0));
}

/// A box in one-point perspective.
#[derive(Clone, Copy)]
struct Body {
    left: f32,
    right: f32,
    top: f32,
    base: f32,
    /// The vanishing point.
    vanish: Point,
    /// Its depth, as a share of the way to the vanishing point.
    deep: f32,
}

impl Body {
    fn front(&self) -> Quad {
        rect_quad(self.left, self.top, self.right - self.left, self.base - self.top)
    }

    /// Returns whether its right side is visible, or its left.
    fn shows_right(&self) -> bool {
        self.vanish.0 > (self.left + self.right) / 2.0
    }

    fn side(&self) -> Quad {
        let edge = if self.shows_right() { self.right } else { self.left };
        let (top, base) = ((edge, self.top), (edge, self.base));
        let (far_top, far_base) = (self.back(top), self.back(base));
        if self.shows_right() { [top, far_top, far_base, base] } else { [far_top, top, base, far_base] }
    }

    fn back(&self, at: Point) -> Point {
        lerp(at, self.vanish, self.deep)
    }
}

impl Drawing<'_> {
    /// Draws the shadow of a body on the ground; to be called before the body is drawn.
    fn cast_shadow(&mut self, body: &Body) {
        let reach = self.shadow_reach() * (body.base - body.top);
        let corner = if reach > 0.0 { body.right } else { body.left };
        let front = (corner, body.base);
        let behind = body.back(front);
        let lift = (body.base - body.vanish.1).max(0.0) * 0.34;
        let tip = (corner + reach * 0.8, body.base - lift);
        let far = (behind.0 + reach * 0.6, behind.1 - lift * 0.5);
        self.fading_shade(&[front, tip, far, behind], front, tip, 1.0);
    }

    /// Draws front and side of a body with texture and light.
    fn body(&mut self, body: &Body, colour: Colour) {
        let (front, side) = (body.front(), body.side());
        self.textured_quad(&side, colour);
        self.shade_side(&side, body.shows_right() == self.style.from_left);
        self.textured_quad(&front, colour);
        self.shade_side(&front, false);
    }

    /// Darkens a surface that faces away from the light, and lightens another.
    fn shade_side(&mut self, quad: &Quad, away: bool) {
        if away {
            self.shade(quad, 1.05);
        } else {
            let glow = self.palette.glow;
            let (from, to) = if self.style.from_left { (quad[0], quad[2]) } else { (quad[1], quad[3]) };
            let cover = if self.palette.lamps_on { 0.05 } else { 0.14 };
            self.canvas.poly(quad, Fill::Linear(from, to, (glow.lighter(0.05), cover), (glow, 0.0)));
        }
    }

    /// Draws a window in a surface, with the shadow of its reveal.
    fn window(&mut self, wall: &Quad, across: (f32, f32), down: (f32, f32)) {
        let opening = sub_quad(wall, across, down);
        let pane = self.pane_colour();
        let sheen = Fill::gradient(opening[0], opening[2], pane.lighter(0.05), pane.lighter(-0.04));
        self.canvas.poly(&opening, sheen);
        self.shade(&sub_quad(&opening, (0.0, 1.0), (0.0, 0.12)), 1.2);
        let near = if self.style.from_left { (0.0, 0.1) } else { (0.9, 1.0) };
        self.shade(&sub_quad(&opening, near, (0.0, 1.0)), 1.2);
        if self.rng.chance(50) {
            self.canvas.lines(lines_down(&opening, [0.5]), 0.25, self.palette.darkest.lighter(0.06));
        }
        self.canvas.lines(lines_across(&opening, [1.0]), 0.3, Fill::Alpha(self.palette.lightest, 0.55));
    }

    /// Draws rows of equal windows in a surface.
    fn windows(&mut self, wall: &Quad, columns: usize, rows: usize, fill: (f32, f32)) {
        for cell in cells(columns, rows, fill) {
            self.window(wall, cell.across, cell.down);
        }
    }

    /// Draws a dark opening with a door leaf in the second colour.
    fn door(&mut self, x: f32, base: f32, wide: f32, high: f32) {
        let colour = self.palette.second;
        let colour =
            if (colour.light - self.palette.body.light).abs() < 0.12 { colour.lighter(-0.2) } else { colour };
        self.canvas.rect(x, base - high, wide, high, colour.with_lightness(colour.light.min(0.6)));
        self.shade(&rect_quad(x, base - high, wide, high * 0.08), 1.4);
        self.canvas.line((x, base), (x + wide, base), 0.4, self.palette.lightest.lighter(-0.1));
    }

    /// Draws sky, one to three rows of hills, and ground.
    fn landscape(&mut self, horizon: f32) {
        self.sky(horizon);
        let hills = self.rng.count(1, 3);
        self.hills(horizon, hills);
        self.ground(horizon);
    }

    /// Draws trees left and right of the range `free`.
    fn grove(&mut self, base: f32, free: (f32, f32)) {
        let width = self.width();
        let kind = if self.style.light == Light::Snow { 3 } else { self.rng.count(0, 3) };
        for _ in 0..self.rng.count(1, 3) {
            let left = self.rng.chance(50);
            let (low, high) = if left { (2.0, free.0 - 5.0) } else { (free.1 + 5.0, width - 2.0) };
            if high > low {
                let x = self.rng.range(low, high);
                let (down, high) = (self.rng.range(-1.0, 5.0), self.rng.range(17.0, 34.0));
                self.tree((x, base + down), high, kind);
            }
        }
    }

    /// Draws a person on `base`, at a random share of the width.
    fn passer_by(&mut self, (low, high): (f32, f32), base: f32, size: f32) {
        let at = (self.width() * self.rng.range(low, high), base);
        self.person(at, size);
    }
}
