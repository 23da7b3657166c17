//! The style of a drawing, classified from the taste of the record: material, light, mood, layout and colours.

use schemas::record::Category;
use schemas::taste::Dimension;

use super::brief::Brief;
use super::colour::Colour;
use crate::rng::DrawingRng;

/// The visible material of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Material {
    Timber,
    Brick,
    Concrete,
    Stone,
    Marble,
    Terrazzo,
    Earth,
    Plaster,
    Tile,
    Metal,
    Corrugated,
    Rust,
    Glass,
    Cloth,
    Wicker,
    Clay,
    Paper,
    Paint,
    Ink,
    Film,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Light {
    Overcast,
    Morning,
    Noon,
    Evening,
    Dusk,
    Night,
    Lamp,
    Dapple,
    Top,
    Side,
    Soft,
    Snow,
    Fog,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Calm,
    Lively,
    Melancholy,
    Stern,
    Warm,
    Dreamy,
}

/// The composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Symmetric,
    Asymmetric,
    Grid,
    Stack,
    Long,
    Enclosure,
    Ring,
    Frame,
    Depth,
    Close,
    Diagonal,
    Pair,
    Figure,
    Line,
    Field,
    Roof,
    Cluster,
    Raised,
}

/// The style of a drawing.
pub(super) struct Style {
    pub(super) material: Material,
    /// The name of the material in the record; empty if it has none.
    pub(super) material_name: String,
    pub(super) light: Light,
    pub(super) mood: Mood,
    pub(super) layout: Layout,
    pub(super) colour: Colour,
    pub(super) second: Option<Colour>,
    /// Up to two colour names of the record.
    pub(super) colour_names: Vec<String>,
    /// The hue of the second colour if the record has none and the first is grey.
    pub(super) accent: f32,
    /// Whether light comes from the left.
    pub(super) from_left: bool,
}

/// Returns the first choice one of whose words is in `text`.
fn classify<T: Copy>(text: &str, choices: &[(&[&str], T)]) -> Option<T> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    choices.iter().find(|(words, _)| has(words)).map(|(_, choice)| *choice)
}

impl Style {
    /// Classifies the texts of a record; random defaults stand in for missing ones.
    pub(super) fn of(brief: &Brief, rng: &mut DrawingRng) -> Self {
        let material_name = brief.first_phrase(Dimension::Material).to_owned();
        let (materials, lights, layouts) = defaults(brief.category);
        // All defaults are drawn, needed or not, so that one more fact in the record does not change the other draws.
        let (material, light, layout) = (rng.choose(materials), rng.choose(lights), rng.choose(layouts));
        let quiet = rng.choose(&["pale grey", "sandy", "warm grey", "grey green", "ochre", "blue grey"]);
        let from_left = rng.chance(50);
        let accent = rng.choose(&[48.0, 48.0, 34.0, 82.0, 152.0, 205.0, 255.0, 15.0]);
        let colour_names: Vec<String> = brief
            .taste(Dimension::Color)
            .split(',')
            .map(str::trim)
            .filter(|name| Colour::named(name).is_some())
            .map(str::to_owned)
            .take(2)
            .collect();
        let mut colours = colour_names.iter().filter_map(|name| Colour::named(name));
        let colour = colours.next().or_else(|| Colour::named(quiet)).unwrap_or(Colour::from_hex(0xb0_aca4));
        Self {
            material: classify(&material_name, MATERIALS).unwrap_or(material),
            material_name,
            light: classify(brief.first_phrase(Dimension::Light), LIGHTS).unwrap_or(light),
            mood: classify(brief.first_phrase(Dimension::Mood), MOODS).unwrap_or(Mood::Calm),
            layout: classify(brief.first_phrase(Dimension::Composition), LAYOUTS).unwrap_or(layout),
            colour,
            second: colours.next(),
            colour_names,
            accent,
            from_left,
        }
    }
}

type Defaults = (&'static [Material], &'static [Light], &'static [Layout]);

/// Returns what a record of a category may have where its taste says nothing.
const fn defaults(category: Category) -> Defaults {
    match category {
        Category::Architecture => (
            &[Material::Brick, Material::Timber, Material::Concrete, Material::Plaster],
            &[Light::Overcast, Light::Morning, Light::Evening],
            &[Layout::Long, Layout::Roof, Layout::Cluster, Layout::Asymmetric],
        ),
        Category::Interiors => (
            &[Material::Timber, Material::Plaster, Material::Terrazzo, Material::Stone],
            &[Light::Side, Light::Soft, Light::Morning],
            &[Layout::Symmetric, Layout::Asymmetric, Layout::Depth],
        ),
        Category::Design => (
            &[Material::Timber, Material::Metal, Material::Clay, Material::Cloth],
            &[Light::Soft, Light::Side, Light::Lamp],
            &[Layout::Figure, Layout::Asymmetric, Layout::Grid],
        ),
        Category::Photography => (
            &[Material::Film, Material::Paper],
            &[Light::Overcast, Light::Morning, Light::Fog],
            &[Layout::Depth, Layout::Long, Layout::Close],
        ),
        Category::Art => (
            &[Material::Paint, Material::Ink, Material::Paper],
            &[Light::Soft, Light::Side],
            &[Layout::Field, Layout::Ring, Layout::Diagonal, Layout::Line],
        ),
    }
}

const MATERIALS: &[(&[&str], Material)] = &[
    (&["brick"], Material::Brick),
    (&["terrazzo"], Material::Terrazzo),
    (&["marble"], Material::Marble),
    (&["stoneware", "porcelain", "terracotta"], Material::Clay),
    (&["concrete", "plaster cast"], Material::Concrete),
    (&["weathering", "iron red"], Material::Rust),
    (&["corrugated"], Material::Corrugated),
    (&["glass"], Material::Glass),
    (&["rammed", "adobe", "laterite", "clay"], Material::Earth),
    (&["plaster", "lime", "lacquer", "linoleum", "rubber", "plastic"], Material::Plaster),
    (&["tile"], Material::Tile),
    (&["oak", "larch", "spruce", "pine", "cedar", "beech", "walnut"], Material::Timber),
    (&["plywood", "linden", "cork", "timber"], Material::Timber),
    (&["granite", "limestone", "slate", "travertine", "stone", "salt"], Material::Stone),
    (&["wicker", "willow", "rattan", "bamboo", "thatch", "tatami", "hemp"], Material::Wicker),
    (&["linen", "wool", "cotton", "felt", "velvet", "thread", "leather"], Material::Cloth),
    (&["print", "film", "collodion", "gravure", "cyanotype", "video", "slide"], Material::Film),
    (&["oil", "tempera", "acrylic", "wax"], Material::Paint),
    (&["ink", "graphite", "woodcut", "etching", "charcoal", "chalk"], Material::Ink),
    (&["paper"], Material::Paper),
    (&["steel", "aluminium", "zinc", "copper", "brass", "iron", "bronze", "metal"], Material::Metal),
    (&["ash"], Material::Timber),
];

const LIGHTS: &[(&[&str], Light)] = &[
    (&["overcast", "diffuse", "north light"], Light::Overcast),
    (&["snow", "winter"], Light::Snow),
    (&["fog"], Light::Fog),
    (&["morning"], Light::Morning),
    (&["noon", "glare off", "flash", "open sky"], Light::Noon),
    (&["evening", "late afternoon"], Light::Evening),
    (&["dusk", "twilight"], Light::Dusk),
    (&["night", "street", "near darkness", "artificial", "long exposure"], Light::Night),
    (&["lamp", "candle", "dimmed", "coloured"], Light::Lamp),
    (&["dappled", "filtered", "deep shade", "half-shadow"], Light::Dapple),
    (&["above"], Light::Top),
    (&["side", "raking", "behind"], Light::Side),
    (&["even", "soft", "reflected", "window", "glare-free", "available"], Light::Soft),
];

const MOODS: &[(&[&str], Mood)] = &[
    (&["cheerful", "playful", "lively", "sociable", "convivial"], Mood::Lively),
    (&["light-hearted", "good-humoured", "buoyant", "alert"], Mood::Lively),
    (&["melancholy", "elegiac", "wistful", "mournful", "deserted", "solemn", "uneasy"], Mood::Melancholy),
    (&["austere", "stern", "tense", "dry", "exact", "precise", "unsentimental"], Mood::Stern),
    (&["detached", "serious", "cool", "obsessive"], Mood::Stern),
    (&["warm", "domestic", "welcoming", "intimate", "friendly", "sheltering"], Mood::Warm),
    (&["dreamlike", "gentle", "tender", "hushed", "serene", "meditative"], Mood::Dreamy),
];

const LAYOUTS: &[(&[&str], Layout)] = &[
    (&["asymmetry"], Layout::Asymmetric),
    (&["symmetry", "axis", "central perspective", "frontal view"], Layout::Symmetric),
    (&["grid", "repetition", "rhythm", "module", "typology"], Layout::Grid),
    (&["rows", "infill", "pattern", "sequence"], Layout::Grid),
    (&["stack"], Layout::Stack),
    (&["raised", "span", "platform"], Layout::Raised),
    (&["long horizontal", "horizontal division", "wide view"], Layout::Long),
    (&["ring", "rounded"], Layout::Ring),
    (&["enclosure", "courtyard", "empty centre", "light from above", "gallery"], Layout::Enclosure),
    (&["frame within", "threshold", "room within", "niche", "enfilade", "thick wall"], Layout::Frame),
    (&["layered", "high viewpoint", "plan view"], Layout::Depth),
    (&["single roof", "vault"], Layout::Roof),
    (&["close crop", "single form", "mass", "reduction"], Layout::Close),
    (&["stepped", "diagonal", "fold", "tension", "taper"], Layout::Diagonal),
    (&["diptych", "mirroring", "old and new", "balance"], Layout::Pair),
    (&["portrait", "figure", "silhouette", "outline", "proportion"], Layout::Figure),
    (&["line", "joint", "margin"], Layout::Line),
    (&["field"], Layout::Field),
    (&["cluster"], Layout::Cluster),
];
