//! The state of a drawing: canvas, palette, style and random numbers; with shadows and light.

use super::canvas::{Canvas, Fill};
use super::colour::Colour;
use super::geometry::Point;
use super::palette::Palette;
use super::style::{Light, Style};
use crate::rng::DrawingRng;

/// A drawing in progress.
pub(super) struct Drawing<'a> {
    pub(super) canvas: Canvas,
    pub(super) palette: Palette,
    pub(super) style: &'a Style,
    pub(super) rng: DrawingRng,
}

impl Drawing<'_> {
    /// Returns the width; the height is 100.
    pub(super) fn width(&self) -> f32 {
        self.canvas.width()
    }

    /// Draws a shadow over a polygon, with a share of the opacity of shadows.
    pub(super) fn shade(&mut self, points: &[Point], share: f32) {
        let veil = Fill::Alpha(self.palette.shadow, self.palette.shadow_opacity * share);
        self.canvas.poly(points, veil);
    }

    /// Draws light over a polygon.
    pub(super) fn shine(&mut self, points: &[Point], cover: f32) {
        let veil = Fill::Alpha(self.palette.glow.lighter(0.06), cover);
        self.canvas.poly(points, veil);
    }

    /// Draws a shadow that fades from `from` to `to`.
    pub(super) fn fading_shade(&mut self, points: &[Point], from: Point, to: Point, share: f32) {
        let (shadow, depth) = (self.palette.shadow, self.palette.shadow_opacity * share);
        self.canvas.poly(points, Fill::Linear(from, to, (shadow, depth), (shadow, depth * 0.1)));
    }

    /// Returns how far a shadow reaches to the right per unit of height; to the left if negative.
    pub(super) fn shadow_reach(&self) -> f32 {
        let long = match self.style.light {
            Light::Morning | Light::Evening | Light::Dusk => 1.5,
            Light::Noon | Light::Top => 0.35,
            Light::Overcast | Light::Fog | Light::Soft | Light::Snow => 0.5,
            Light::Side | Light::Lamp | Light::Night | Light::Dapple => 0.95,
        };
        if self.style.from_left { long } else { -long }
    }

    /// Fills the canvas with a wall that is lighter by `from` at its upper left corner, and by `to` at `low` on the right.
    pub(super) fn wall(&mut self, colour: Colour, low: f32, (from, to): (f32, f32)) {
        let end = (self.width(), low);
        self.canvas.fill_all(Fill::gradient((0.0, 0.0), end, colour.lighter(from), colour.lighter(to)));
    }

    /// Fills the width of the canvas from `top` down to `low`.
    pub(super) fn band(&mut self, top: f32, low: f32, fill: impl Into<Fill>) {
        self.canvas.rect(-1.0, top, self.width() + 2.0, low - top, fill);
    }

    /// Draws a soft dark oval where an object touches the ground.
    pub(super) fn contact_shadow(&mut self, at: Point, across: f32, down: f32) {
        let (shadow, depth) = (self.palette.shadow, self.palette.shadow_opacity);
        // A radial gradient is circular, so the oval is drawn as rings.
        for ring in 0..5u8 {
            let grown = 1.0 - f32::from(ring) * 0.16;
            self.canvas.oval(at, across * grown, down * grown, Fill::Alpha(shadow, depth * 0.2));
        }
    }

    /// Returns the colour of a window pane: lit from inside at night, else that of the sky.
    pub(super) fn pane_colour(&mut self) -> Colour {
        let palette = self.palette;
        if palette.lamps_on {
            let warm = palette.glow.lighter(self.rng.range(-0.1, 0.02));
            if self.rng.chance(72) { warm } else { palette.backdrop_top.lighter(-0.04) }
        } else {
            let dark = palette.body.with_lightness(palette.darkest.light + 0.1).muted(0.5);
            dark.mix(palette.backdrop_top, self.rng.range(0.1, 0.34))
        }
    }
}
