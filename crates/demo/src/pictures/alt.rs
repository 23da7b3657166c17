//! The sentence that describes a picture to those who cannot see it, told from the choices it is drawn by.

use super::super::wording::takes_an;
use super::look::{Light, Look, Material};
use super::plan::{Motif, Plan};

/// What the picture shows, how it is lit, and in which colours.
pub(super) fn sentence(plan: &Plan) -> String {
    let look = &plan.look;
    let mut text = match plan.motif {
        Motif::Building(building) => {
            let (air, material) = (
                if building.is_outdoors() { air(look.light) } else { room_light(look.light) },
                made_of(look),
            );
            format!("{}{material}, {air}", building.noun())
        }
        Motif::Room(room) => format!("{}{}, {}", room.noun(), made_of(look), room_light(look.light)),
        Motif::Object(object) => format!("{}{}, {}", object.noun(), made_of(look), room_light(look.light)),
        Motif::Shot(shot) => format!("{} as a photograph, {}", shot.noun(), air(look.light)),
        Motif::Work(work) => format!("{}, {}", work.noun(), medium(look)),
    };
    text.push_str(", drawn in ");
    text.push_str(&colours(look));
    text.push('.');
    format!("{} {text}", if takes_an(&text) { "An" } else { "A" })
}

/// The colours that the record names, or what stands for them.
fn colours(look: &Look) -> String {
    match look.colour_names.as_slice() {
        [] => "quiet tones".to_owned(),
        [one] => format!("tones of {one}"),
        [one, other, ..] => format!("{one} and {other}"),
    }
}

fn made_of(look: &Look) -> String {
    if look.material_name.is_empty() { String::new() } else { format!(" in {}", look.material_name) }
}

fn medium(look: &Look) -> String {
    match look.material {
        _ if look.material_name.is_empty() => "made by hand".to_owned(),
        Material::Paint | Material::Ink => format!("as if in {}", look.material_name),
        _ => format!("with the grain of {}", look.material_name),
    }
}

const fn air(light: Light) -> &'static str {
    match light {
        Light::Overcast => "under an overcast sky",
        Light::Morning => "under a clear morning sky",
        Light::Noon => "in hard noon light",
        Light::Evening => "under a low evening sun",
        Light::Dusk => "under a dusk sky",
        Light::Night => "at night",
        Light::Lamp => "in the dark, with its lamps lit",
        Light::Dapple => "in half-shade",
        Light::Top => "in light from above",
        Light::Side => "in light from the side",
        Light::Soft => "in soft even light",
        Light::Snow => "in pale winter light",
        Light::Fog => "in fog",
    }
}

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
