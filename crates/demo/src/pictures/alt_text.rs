//! The alternative text of a picture, from the plan that it is drawn by.

use super::super::wording::takes_an;
use super::motif::Setting;
use super::plan::Plan;
use super::style::{Light, Material, Style};

/// Returns a sentence with motif, light and colours.
pub(super) fn sentence(plan: &Plan) -> String {
    let style = &plan.style;
    let noun = plan.motif.noun;
    let mut text = match plan.motif.setting {
        Setting::Outdoors => format!("{noun}{}, {}", made_of(style), air(style.light)),
        Setting::Indoors => format!("{noun}{}, {}", made_of(style), room_light(style.light)),
        Setting::Photograph => format!("{noun} as a photograph, {}", air(style.light)),
        Setting::Artwork => format!("{noun}, {}", medium(style)),
    };
    text.push_str(", drawn in ");
    text.push_str(&colours(style));
    text.push('.');
    format!("{} {text}", if takes_an(&text) { "An" } else { "A" })
}

/// Returns the colours that the record names, or a general phrase.
fn colours(style: &Style) -> String {
    match style.colour_names.as_slice() {
        [] => "quiet tones".to_owned(),
        [one] => format!("tones of {one}"),
        [one, other, ..] => format!("{one} and {other}"),
    }
}

fn made_of(style: &Style) -> String {
    if style.material_name.is_empty() { String::new() } else { format!(" in {}", style.material_name) }
}

fn medium(style: &Style) -> String {
    match style.material {
        _ if style.material_name.is_empty() => "made by hand".to_owned(),
        Material::Paint | Material::Ink => format!("as if in {}", style.material_name),
        _ => format!("with the grain of {}", style.material_name),
    }
}

/// Returns the words of a light outdoors.
const fn air(light: Light) -> &'static str {
    match light {
        Light::Overcast => "under an overcast sky",
        Light::Morning => "under a clear morning sky",
        Light::Evening => "under a low evening sun",
        Light::Dusk => "under a dusk sky",
        Light::Night => "at night",
        Light::Lamp => "in the dark, with its lamps lit",
        Light::Fog => "in fog",
        light => room_light(light),
    }
}

/// Returns the words of a light in a room.
const fn room_light(light: Light) -> &'static str {
    match light {
        Light::Overcast | Light::Soft | Light::Fog => "in soft even light",
        Light::Morning => "in morning light",
        Light::Noon => "in hard noon light",
        Light::Evening => "in low evening light",
        Light::Dusk => "at dusk",
        Light::Night => "in near darkness",
        Light::Lamp => "in lamplight",
        Light::Dapple => "in half-shade",
        Light::Top => "in light from above",
        Light::Side => "in light from the side",
        Light::Snow => "in pale winter light",
    }
}
