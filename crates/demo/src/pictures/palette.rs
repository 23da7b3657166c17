//! The colours of one drawing, derived from those that the record names, so that they match.

use super::colour::{Colour, lch};
use super::style::{Light, Material, Mood, Style};

/// The colours of one drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    /// The main object: the named colour, mixed with that of its material.
    pub(super) body: Colour,
    /// The second named colour, or a muted one derived from the first.
    pub(super) second: Colour,
    /// The gradient of sky or wall.
    pub(super) backdrop_top: Colour,
    pub(super) backdrop_bottom: Colour,
    pub(super) ground: Colour,
    /// Leaves and grass.
    pub(super) green: Colour,
    /// The colour of all shadows.
    pub(super) shadow: Colour,
    /// The colour of light.
    pub(super) glow: Colour,
    pub(super) darkest: Colour,
    pub(super) lightest: Colour,
    /// The opacity of shadows, from 0 to 1.
    pub(super) shadow_opacity: f32,
    /// Whether lamps and windows are lit.
    pub(super) lamps_on: bool,
}

/// Returns the lightness of the upper sky, of the horizon and of the ground, and chroma and hue of the light.
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

/// Returns the natural colour of a material, and its share in the mix.
fn natural_colour(material: Material) -> (Colour, f32) {
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

/// Returns the factor of chroma, the opacity of shadows and the shift of lightness.
fn mood_factors(mood: Mood) -> (f32, f32, f32) {
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
    /// Derives the colours from the style.
    pub(super) fn of(style: &Style) -> Self {
        let (vivid, depth, lift) = mood_factors(style.mood);
        let (own, share) = natural_colour(style.material);
        let body = style.colour.mix(own, share).muted(vivid).lighter(lift);
        let (high, low, ground, warmth, hue) = air(style.light);
        let night = matches!(style.light, Light::Dusk | Light::Night | Light::Lamp);
        let key = lch(low, warmth * vivid, hue);
        // Sky and ground share one tint: the named hue with less chroma, mixed with the colour of the light.
        let tint = |light: f32, chroma: f32, warm: f32| {
            let of_body = Colour { light, chroma: body.chroma.min(chroma), hue: body.hue };
            let air = Colour { light, chroma: key.chroma, hue: key.hue };
            let warm = if body.is_chromatic() { warm } else { warm + 0.35 };
            of_body.mix(air, warm.min(1.0))
        };
        let high = high + lift;
        // A body as light as the backdrop would be invisible.
        let low = if (low - body.light).abs() < 0.1 { low - 0.17 } else { low } + lift;
        let second = style.second.map_or_else(
            || {
                let turned = lch(if body.light > 0.6 { 0.42 } else { 0.74 }, 0.045, body.hue + 35.0);
                if body.is_chromatic() { turned.muted(vivid) } else { lch(0.5, 0.052 * vivid, style.accent) }
            },
            |second| second.muted(vivid),
        );
        let dark = if night { 0.16 } else { 0.24 };
        Self {
            body: if night { body.with_lightness(body.light.mul_add(0.62, 0.08)) } else { body },
            second: if night { second.with_lightness(second.light.mul_add(0.7, 0.08)) } else { second },
            backdrop_top: tint(high.min(low + 0.06), 0.05, if night { 0.6 } else { 0.34 }),
            backdrop_bottom: tint(low, 0.045, 0.5),
            ground: tint(ground + lift, 0.05, 0.25),
            green: lch((ground * 0.62).max(0.2), 0.05 * vivid, 125.0)
                .mix(body.with_lightness((ground * 0.6).max(0.2)), 0.45),
            shadow: lch(dark, 0.03, if body.is_chromatic() { body.hue + 12.0 } else { 265.0 }),
            glow: lch(0.88, 0.09, 78.0),
            darkest: lch(dark - 0.02, body.chroma.min(0.03), body.hue),
            lightest: lch(0.955, 0.012, 85.0).mix(body.with_lightness(0.95), 0.3),
            shadow_opacity: match style.light {
                Light::Overcast | Light::Soft | Light::Fog => depth * 0.6,
                Light::Noon | Light::Side | Light::Evening => depth * 1.15,
                _ => depth,
            },
            lamps_on: night,
        }
    }
}
