//! What every drawing has at hand: the sheet, the colours, the look, and the hand.

use super::canvas::{At, Canvas, Ink};
use super::colour::Colour;
use super::hand::Hand;
use super::look::{Light, Look};
use super::palette::Palette;

/// A drawing under way.
pub(super) struct Sheet<'a> {
    pub(super) canvas: Canvas,
    pub(super) palette: Palette,
    pub(super) look: &'a Look,
    pub(super) hand: Hand,
}

impl Sheet<'_> {
    /// How wide the sheet is; it is 100 high.
    pub(super) fn width(&self) -> f32 {
        self.canvas.width()
    }

    /// Lays a shadow over a shape, so much of the depth that shadows have here.
    pub(super) fn shade(&mut self, points: &[At], share: f32) {
        let veil = Ink::Veil(self.palette.shadow, self.palette.depth * share);
        self.canvas.poly(points, veil);
    }

    /// Lays light over a shape.
    pub(super) fn shine(&mut self, points: &[At], cover: f32) {
        let veil = Ink::Veil(self.palette.glow.lit(0.06), cover);
        self.canvas.poly(points, veil);
    }

    /// A shadow that is darkest where it begins.
    pub(super) fn fading_shade(&mut self, points: &[At], from: At, to: At, share: f32) {
        let (shadow, depth) = (self.palette.shadow, self.palette.depth * share);
        self.canvas.poly(points, Ink::Fade(from, to, (shadow, depth), (shadow, depth * 0.1)));
    }

    /// How far a shadow reaches sideways for a height of one; to the left where it is negative.
    pub(super) fn reach(&self) -> f32 {
        let long = match self.look.light {
            Light::Morning | Light::Evening | Light::Dusk => 1.5,
            Light::Noon | Light::Top => 0.35,
            Light::Overcast | Light::Fog | Light::Soft | Light::Snow => 0.5,
            Light::Side | Light::Lamp | Light::Night | Light::Dapple => 0.95,
        };
        if self.look.from_left { long } else { -long }
    }

    /// A soft dark spot where a thing touches the ground.
    pub(super) fn contact(&mut self, at: At, across: f32, down: f32) {
        let (shadow, depth) = (self.palette.shadow, self.palette.depth);
        // A glow is round: the oval is filled by rings instead, dark in the middle.
        for ring in 0..5u8 {
            let grown = 1.0 - f32::from(ring) * 0.16;
            self.canvas.oval(at, across * grown, down * grown, Ink::Veil(shadow, depth * 0.2));
        }
    }

    /// The colour of a pane of glass: lit from within at night, the sky's else.
    pub(super) fn pane(&mut self) -> Colour {
        let palette = self.palette;
        if palette.lit {
            let warm = palette.glow.lit(self.hand.between(-0.1, 0.02));
            if self.hand.chance(72) { warm } else { palette.high.lit(-0.04) }
        } else {
            palette
                .body
                .at(palette.ink.light + 0.1)
                .muted(0.5)
                .mix(palette.high, self.hand.between(0.1, 0.34))
        }
    }
}

/// The point `share` of the way from `a` to `b`.
pub(super) fn between(a: At, b: At, share: f32) -> At {
    (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
}
