//! Buildings: the choice of kind, and their common parts.

mod blocks;
mod bridge;
mod houses;
mod spaces;

use super::brief::Brief;
use super::canvas::{Fill, Point};
use super::colour::Colour;
use super::drawing::{Drawing, lerp};
use super::style::{Layout, Style};
use super::texture::{Quad, sub_quad};
use crate::rng::DrawingRng;

/// A kind of building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Building {
    Gable,
    Cluster,
    Pair,
    Raised,
    Tower,
    Facade,
    Bar,
    Steps,
    Court,
    Portals,
    Hall,
    Bridge,
    Pavilion,
}

impl Building {
    /// Chooses by the composition; a text that names a footbridge gets a bridge.
    pub(super) fn of(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Self {
        let other = rng.chance(45);
        let choose = |one, two| if other { two } else { one };
        if brief.first_mentioned(&[("footbridge", ())]).is_some() {
            return Self::Bridge;
        }
        match style.layout {
            Layout::Roof => choose(Self::Gable, Self::Pavilion),
            Layout::Long | Layout::Line | Layout::Close => choose(Self::Bar, Self::Pavilion),
            Layout::Stack | Layout::Figure => Self::Tower,
            Layout::Grid | Layout::Field => Self::Facade,
            Layout::Diagonal => Self::Steps,
            Layout::Enclosure => choose(Self::Court, Self::Hall),
            Layout::Ring => Self::Court,
            Layout::Frame => Self::Portals,
            Layout::Pair => Self::Pair,
            Layout::Raised => choose(Self::Raised, Self::Bridge),
            Layout::Cluster => Self::Cluster,
            Layout::Symmetric => choose(Self::Gable, Self::Hall),
            Layout::Depth => choose(Self::Portals, Self::Gable),
            Layout::Asymmetric => choose(Self::Gable, Self::Raised),
        }
    }

    /// Returns its name in a sentence.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Gable => "gabled house",
            Self::Cluster => "cluster of gabled houses",
            Self::Pair => "pair of houses",
            Self::Raised => "raised house",
            Self::Tower => "stacked tower",
            Self::Facade => "street facade",
            Self::Bar => "long low building",
            Self::Steps => "stepped hillside building",
            Self::Court => "arcaded courtyard",
            Self::Portals => "succession of doorways",
            Self::Hall => "top-lit hall",
            Self::Bridge => "bridge over still water",
            Self::Pavilion => "flat-roofed pavilion",
        }
    }

    /// Returns whether it is shown with sky and land.
    pub(super) const fn is_outdoors(self) -> bool {
        !matches!(self, Self::Hall)
    }
}

/// Draws a building.
pub(super) fn draw(drawing: &mut Drawing, building: Building) {
    let near = match building {
        Building::Gable | Building::Cluster | Building::Pair => 1.16,
        Building::Raised | Building::Pavilion => 1.08,
        _ => 1.0,
    };
    let middle = drawing.width() / 2.0;
    drawing.canvas.zoom(near, (middle, 74.0));
    match building {
        Building::Gable => houses::gable(drawing),
        Building::Cluster => houses::cluster(drawing),
        Building::Pair => houses::pair(drawing),
        Building::Raised => houses::raised(drawing),
        Building::Tower => blocks::tower(drawing),
        Building::Facade => blocks::facade(drawing),
        Building::Bar => blocks::bar(drawing),
        Building::Steps => blocks::steps(drawing),
        Building::Pavilion => blocks::pavilion(drawing),
        Building::Court => spaces::court(drawing),
        Building::Portals => spaces::portals(drawing),
        Building::Hall => spaces::hall(drawing),
        Building::Bridge => bridge::bridge(drawing),
    }
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
        [(self.left, self.top), (self.right, self.top), (self.right, self.base), (self.left, self.base)]
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
        let reach = self.shadow_reach();
        let high = body.base - body.top;
        let corner = if reach > 0.0 { body.right } else { body.left };
        let front = (corner, body.base);
        let behind = body.back(front);
        let lift = (body.base - body.vanish.1).max(0.0) * 0.34;
        let tip = (corner + reach * high * 0.8, body.base - lift);
        let far = (behind.0 + reach * high * 0.6, behind.1 - lift * 0.5);
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
        let sheen =
            Fill::Linear(opening[0], opening[2], (pane.lighter(0.05), 1.0), (pane.lighter(-0.04), 1.0));
        self.canvas.poly(&opening, sheen);
        let depth = (down.1 - down.0) * 0.12;
        self.shade(&sub_quad(wall, across, (down.0, down.0 + depth)), 1.2);
        let thin = (across.1 - across.0) * 0.1;
        let near =
            if self.style.from_left { (across.0, across.0 + thin) } else { (across.1 - thin, across.1) };
        self.shade(&sub_quad(wall, near, down), 1.2);
        let frame = self.palette.darkest.lighter(0.06);
        if self.rng.chance(50) {
            let middle = (across.0 + across.1) / 2.0;
            let bar = sub_quad(wall, (middle, middle), down);
            self.canvas.line(bar[0], bar[3], 0.25, frame);
        }
        let sill = sub_quad(wall, across, (down.1, down.1));
        self.canvas.line(sill[0], sill[1], 0.3, Fill::Alpha(self.palette.lightest, 0.55));
    }

    /// Draws rows of equal windows in a surface.
    fn windows(&mut self, wall: &Quad, columns: usize, rows: usize, fill: (f32, f32)) {
        for row in 0..rows {
            for column in 0..columns {
                let (wide, high) = (1.0 / columns as f32, 1.0 / rows as f32);
                let (left, top) = (
                    (column as f32 + (1.0 - fill.0) / 2.0) * wide,
                    (row as f32 + (1.0 - fill.1) / 2.0) * high,
                );
                self.window(wall, (left, left + fill.0 * wide), (top, top + fill.1 * high));
            }
        }
    }

    /// Draws a dark opening with a door leaf in the second colour.
    fn door(&mut self, x: f32, base: f32, wide: f32, high: f32) {
        let colour = self.palette.second;
        let colour =
            if (colour.light - self.palette.body.light).abs() < 0.12 { colour.lighter(-0.2) } else { colour };
        self.canvas.rect(x, base - high, wide, high, colour.with_lightness(colour.light.min(0.6)));
        self.shade(
            &[
                (x, base - high),
                (x + wide, base - high),
                (x + wide, base - high * 0.92),
                (x, base - high * 0.92),
            ],
            1.4,
        );
        self.canvas.line((x, base), (x + wide, base), 0.4, self.palette.lightest.lighter(-0.1));
    }

    /// Draws sky, hills and ground.
    fn land(&mut self, horizon: f32) {
        self.sky(horizon);
        let hills = self.rng.count(1, 3);
        self.distance(horizon, hills);
        self.ground(horizon);
    }

    /// Draws trees left and right of the range `free`.
    fn grove(&mut self, base: f32, free: (f32, f32)) {
        let width = self.width();
        let kind = if self.style.light == super::style::Light::Snow { 3 } else { self.rng.count(0, 3) };
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
}
