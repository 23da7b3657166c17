//! The colours of one drawing, all derived from those that the record names, so that they belong together.

use super::colour::{Colour, lch};
use super::look::{Light, Look, Material, Mood};

/// The colours of one drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    /// The body of the thing: the named colour, touched by its material.
    pub(super) body: Colour,
    /// What stands beside it: the second named colour, or a quiet relative of the first.
    pub(super) second: Colour,
    /// High and low in the sky, or far and near on a wall.
    pub(super) high: Colour,
    pub(super) low: Colour,
    pub(super) ground: Colour,
    /// Leaves and grass.
    pub(super) green: Colour,
    /// Shadows are laid over everything in this colour.
    pub(super) shadow: Colour,
    /// What light lays over things.
    pub(super) glow: Colour,
    /// The darkest and the lightest.
    pub(super) ink: Colour,
    pub(super) paper: Colour,
    /// How much a shadow covers, from 0 to 1.
    pub(super) depth: f32,
    /// Whether lamps are lit.
    pub(super) lit: bool,
}

/// The lightness of the sky above and at the horizon, of the ground, and the warmth of the light as chroma and hue.
fn air(light: Light) -> (f32, f32, f32, f32, f32) {
    match light {
        Light::Overcast => (0.80, 0.90, 0.72, 0.010, 230.0),
        Light::Morning => (0.82, 0.93, 0.76, 0.045, 75.0),
        Light::Noon => (0.74, 0.90, 0.82, 0.020, 90.0),
        Light::Evening => (0.70, 0.87, 0.66, 0.085, 62.0),
        Light::Dusk => (0.42, 0.70, 0.40, 0.070, 35.0),
        Light::Night => (0.27, 0.43, 0.30, 0.040, 262.0),
        Light::Lamp => (0.27, 0.42, 0.30, 0.035, 262.0),
        Light::Dapple => (0.78, 0.89, 0.66, 0.040, 100.0),
        Light::Top => (0.70, 0.88, 0.70, 0.020, 90.0),
        Light::Side => (0.72, 0.88, 0.70, 0.035, 80.0),
        Light::Soft => (0.84, 0.92, 0.78, 0.018, 85.0),
        Light::Snow => (0.84, 0.93, 0.93, 0.014, 240.0),
        Light::Fog => (0.84, 0.88, 0.80, 0.008, 220.0),
    }
}

/// What a material looks like when nobody colours it, and how much of that shows.
fn own(material: Material) -> (Colour, f32) {
    match material {
        Material::Timber => (lch(0.62, 0.075, 65.0), 0.22),
        Material::Brick => (lch(0.52, 0.085, 38.0), 0.16),
        Material::Rust => (lch(0.47, 0.085, 45.0), 0.25),
        Material::Earth => (lch(0.62, 0.07, 60.0), 0.2),
        Material::Wicker => (lch(0.7, 0.075, 80.0), 0.25),
        Material::Clay => (lch(0.66, 0.05, 55.0), 0.12),
        Material::Concrete | Material::Stone | Material::Marble | Material::Terrazzo => {
            (lch(0.72, 0.012, 85.0), 0.18)
        }
        Material::Metal | Material::Corrugated => (lch(0.66, 0.008, 240.0), 0.15),
        Material::Glass => (lch(0.8, 0.03, 200.0), 0.18),
        Material::Plaster | Material::Tile | Material::Cloth | Material::Paper => {
            (lch(0.85, 0.02, 85.0), 0.08)
        }
        Material::Paint | Material::Ink | Material::Film => (lch(0.7, 0.01, 80.0), 0.0),
    }
}

/// Chroma, depth of shadows and lightness of the whole.
fn temper(mood: Mood) -> (f32, f32, f32) {
    match mood {
        Mood::Calm => (0.95, 0.42, 0.0),
        Mood::Lively => (1.2, 0.45, 0.015),
        Mood::Melancholy => (0.74, 0.48, -0.035),
        Mood::Stern => (0.84, 0.58, -0.01),
        Mood::Warm => (1.06, 0.42, 0.0),
        Mood::Dreamy => (0.86, 0.3, 0.025),
    }
}

impl Palette {
    /// The colours for a look.
    pub(super) fn of(look: &Look) -> Self {
        let (vivid, depth, lift) = temper(look.mood);
        let (own, share) = own(look.material);
        let body = look.colour.mix(own, share).muted(vivid).lit(lift);
        let (high, low, ground, warmth, hue) = air(look.light);
        let night = matches!(look.light, Light::Dusk | Light::Night | Light::Lamp);
        let key = lch(low, warmth * vivid, hue);
        // One air for everything: the named hue, thinned, with the warmth of the hour in it.
        let tint = |light: f32, chroma: f32, warm: f32| {
            let of_body = Colour { light, chroma: body.chroma.min(chroma), hue: body.hue };
            let air = Colour { light, chroma: key.chroma, hue: key.hue };
            let warm = if body.is_chromatic() { warm } else { warm + 0.35 };
            of_body.mix(air, warm.min(1.0))
        };
        let high = high + lift;
        // A body as light as the air behind it would be lost.
        let low = if (low - body.light).abs() < 0.1 { low - 0.17 } else { low } + lift;
        let second = look.second.map_or_else(
            || {
                let turned = lch(if body.light > 0.6 { 0.42 } else { 0.74 }, 0.045, body.hue + 35.0);
                if body.is_chromatic() { turned.muted(vivid) } else { lch(0.5, 0.052 * vivid, look.accent) }
            },
            |second| second.muted(vivid),
        );
        let dark = if night { 0.16 } else { 0.24 };
        Self {
            body: if night { body.at(body.light.mul_add(0.62, 0.08)) } else { body },
            second: if night { second.at(second.light.mul_add(0.7, 0.08)) } else { second },
            high: tint(high.min(low + 0.06), 0.05, if night { 0.6 } else { 0.34 }),
            low: tint(low, 0.045, 0.5),
            ground: tint(ground + lift, 0.05, 0.25),
            green: lch((ground * 0.62).max(0.2), 0.05 * vivid, 125.0)
                .mix(body.at((ground * 0.6).max(0.2)), 0.45),
            shadow: lch(dark, 0.03, if body.is_chromatic() { body.hue + 12.0 } else { 265.0 }),
            glow: lch(0.88, 0.09, 78.0),
            ink: lch(dark - 0.02, body.chroma.min(0.03), body.hue),
            paper: lch(0.955, 0.012, 85.0).mix(body.at(0.95), 0.3),
            depth: match look.light {
                Light::Overcast | Light::Soft | Light::Fog => depth * 0.6,
                Light::Noon | Light::Side | Light::Evening => depth * 1.15,
                _ => depth,
            },
            lit: night,
        }
    }
}
