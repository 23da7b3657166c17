//! Objects on a ground: what stands there, and the shadow it throws.

mod furniture;
mod lamps;
mod sheets;
mod vessels;
mod wall;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{At, Ink};
use super::colour::Colour;
use super::hand::Hand;
use super::sheet::Sheet;

/// What object is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Chair,
    Stool,
    Bench,
    Table,
    Shelf,
    TableLamp,
    Pendant,
    FloorLamp,
    Vessels,
    Bowls,
    Teapot,
    Basket,
    Cloth,
    Poster,
    Book,
    Clock,
    Mirror,
    Boxes,
}

const KINDS: [(&str, Object); 42] = [
    ("armchair", Object::Chair),
    ("chair", Object::Chair),
    ("stool", Object::Stool),
    ("bench", Object::Bench),
    ("bed", Object::Bench),
    ("table lamp", Object::TableLamp),
    ("pendant lamp", Object::Pendant),
    ("pendant", Object::Pendant),
    ("floor lamp", Object::FloorLamp),
    ("coat stand", Object::FloorLamp),
    ("candlestick", Object::Vessels),
    ("desk", Object::Table),
    ("table", Object::Table),
    ("shelf", Object::Shelf),
    ("cabinet", Object::Shelf),
    ("folding screen", Object::Cloth),
    ("vase", Object::Vessels),
    ("carafe", Object::Vessels),
    ("tableware", Object::Bowls),
    ("cutlery", Object::Bowls),
    ("knife", Object::Bowls),
    ("cooking pot", Object::Teapot),
    ("teapot", Object::Teapot),
    ("watering can", Object::Teapot),
    ("tap", Object::Teapot),
    ("blanket", Object::Cloth),
    ("rug", Object::Cloth),
    ("curtain", Object::Cloth),
    ("basket", Object::Basket),
    ("bag", Object::Basket),
    ("typeface", Object::Poster),
    ("poster", Object::Poster),
    ("visual identity", Object::Poster),
    ("wayfinding", Object::Poster),
    ("map", Object::Poster),
    ("book", Object::Book),
    ("packaging", Object::Boxes),
    ("clock", Object::Clock),
    ("radio", Object::Boxes),
    ("mirror", Object::Mirror),
    ("toy", Object::Boxes),
    ("chess", Object::Boxes),
];

impl Object {
    /// What the texts name; what they name and nobody can draw here becomes a still life.
    pub(super) fn of(brief: &Brief, hand: &mut Hand) -> Self {
        let any = hand.one(&[Self::Vessels, Self::Bowls, Self::Boxes]);
        let by_subject = [
            ("seating", Self::Chair),
            ("light", Self::TableLamp),
            ("vessel", Self::Vessels),
            ("textile", Self::Cloth),
            ("lettering", Self::Poster),
            ("reading", Self::Book),
            ("time", Self::Clock),
            ("storage", Self::Shelf),
            ("carrying", Self::Basket),
            ("map", Self::Poster),
        ];
        let subject = brief.taste(Dimension::Subject).split(',').next().unwrap_or_default();
        let asked = by_subject.iter().find(|(word, _)| *word == subject).map(|(_, object)| *object);
        brief.spoken(&KINDS).or(asked).unwrap_or(any)
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Chair => "chair",
            Self::Stool => "stool",
            Self::Bench => "bench",
            Self::Table => "table",
            Self::Shelf => "shelf",
            Self::TableLamp => "table lamp",
            Self::Pendant => "hanging lamp",
            Self::FloorLamp => "lamp on a tall stand",
            Self::Vessels => "group of vessels",
            Self::Bowls => "set of bowls and plates",
            Self::Teapot => "pot with a spout",
            Self::Basket => "woven basket",
            Self::Cloth => "hanging cloth",
            Self::Poster => "pair of posters without words",
            Self::Book => "stack of books",
            Self::Clock => "wall clock",
            Self::Mirror => "round mirror",
            Self::Boxes => "group of small solids",
        }
    }

    pub(super) const fn is_tall(self) -> bool {
        matches!(self, Self::FloorLamp | Self::Pendant | Self::Cloth | Self::Chair)
    }

    pub(super) const fn is_wide(self) -> bool {
        matches!(self, Self::Bench | Self::Table | Self::Bowls | Self::Vessels | Self::Poster)
    }
}

/// Where the wall meets the ground.
const EDGE: f32 = 70.0;

/// Draws an object.
pub(super) fn draw(sheet: &mut Sheet, object: Object) {
    ground(sheet, matches!(object, Object::Clock | Object::Mirror | Object::Poster | Object::Cloth));
    let near = match object {
        Object::Boxes => 1.04,
        Object::Stool | Object::Chair => 1.24,
        Object::Basket | Object::Book => 1.18,
        Object::Bench | Object::Table | Object::Vessels | Object::TableLamp | Object::Shelf => 1.12,
        _ => 1.0,
    };
    let middle = sheet.width() / 2.0;
    sheet.canvas.near(near, (middle, 86.0));
    match object {
        Object::Chair => furniture::chair(sheet),
        Object::Stool => furniture::stool(sheet),
        Object::Bench => furniture::bench(sheet),
        Object::Table => furniture::table(sheet),
        Object::Shelf => furniture::shelf(sheet),
        Object::TableLamp => lamps::table_lamp(sheet),
        Object::Pendant => lamps::pendant(sheet),
        Object::FloorLamp => lamps::floor_lamp(sheet),
        Object::Vessels => vessels::group(sheet),
        Object::Bowls => vessels::bowls(sheet),
        Object::Teapot => vessels::teapot(sheet),
        Object::Basket => vessels::basket(sheet),
        Object::Boxes => vessels::solids(sheet),
        Object::Cloth => sheets::cloth(sheet),
        Object::Poster => sheets::posters(sheet),
        Object::Book => sheets::books(sheet),
        Object::Clock => sheets::clock(sheet),
        Object::Mirror => sheets::mirror(sheet),
    }
    sheet.canvas.near(1.0, (0.0, 0.0));
}

/// The colour of the thing itself, which stands out from its ground.
fn thing(sheet: &Sheet) -> Colour {
    sheet.palette.body
}

/// Wall and floor in relatives of the body's colour, and light on the wall.
fn ground(sheet: &mut Sheet, wall_only: bool) {
    let palette = sheet.palette;
    let width = sheet.width();
    let wall = backdrop(sheet);
    let edge = if wall_only { 108.0 } else { EDGE };
    sheet.canvas.wash(Ink::Fade((0.0, 0.0), (width, edge), (wall.lit(0.025), 1.0), (wall.lit(-0.03), 1.0)));
    if !wall_only {
        let floor = wall.mix(palette.second.at(wall.light), 0.45).lit(-0.075);
        sheet.canvas.rect(
            -1.0,
            EDGE,
            width + 2.0,
            32.0,
            Ink::Fade((0.0, EDGE), (0.0, 100.0), (floor, 1.0), (floor.lit(0.04), 1.0)),
        );
        sheet.fading_shade(
            &[(-1.0, EDGE), (width + 1.0, EDGE), (width + 1.0, EDGE + 5.0), (-1.0, EDGE + 5.0)],
            (0.0, EDGE),
            (0.0, EDGE + 5.0),
            0.35,
        );
    }
    wall::wall_light(sheet);
}

/// Light or dark enough to carry the body.
fn backdrop(sheet: &Sheet) -> Colour {
    let palette = sheet.palette;
    let body = palette.body;
    let light = match (palette.lit, body.light) {
        (true, light) if light > 0.5 => 0.36,
        (true, light) if light > 0.36 => 0.27,
        (true, _) => 0.5,
        (false, light) if light > 0.8 => light - 0.23,
        (false, light) => (light + 0.24).clamp(0.76, 0.93),
    };
    if body.chroma < 0.06 && sheet.look.second.is_none() {
        // A pale grey thing gets a ground with a hue, or the whole would be dull.
        return super::colour::lch(light, if light > 0.72 { 0.02 } else { 0.034 }, sheet.look.accent);
    }
    let relative = palette.low.mix(palette.second, 0.35);
    body.mix(relative, 0.5).at(light).muted(0.7)
}

/// The long soft shadow on the ground of a thing that stands on `base` from `left` to `right` and is `high`.
fn shadow(sheet: &mut Sheet, base: f32, left: f32, right: f32, high: f32) {
    let reach = sheet.reach() * 0.75;
    let (dx, dy) = (reach * high, -(high * 0.16).min(7.0));
    let from = ((left + right) / 2.0, base);
    let to = (from.0 + dx, base + dy);
    let narrow = (right - left) * 0.1;
    let points: [At; 4] =
        [(left, base), (right, base), (right + dx - narrow, base + dy), (left + dx + narrow, base + dy)];
    sheet.fading_shade(&points, from, to, 0.95);
    sheet.contact(((left + right) / 2.0, base), (right - left) / 2.0 + 1.6, 1.4);
}

/// A side that is turned from the light gets darker towards its edge.
fn round(sheet: &mut Sheet, path: Option<tiny_skia::Path>, left: f32, right: f32, colour: Colour) {
    let (bright, dark) = if sheet.look.from_left { (left, right) } else { (right, left) };
    sheet.canvas.fill(
        path.clone(),
        Ink::Fade((bright, 0.0), (dark, 0.0), (colour.lit(0.07), 1.0), (colour.lit(-0.13), 1.0)),
    );
    let glow = sheet.palette.paper;
    let at = bright + (dark - bright) * 0.3;
    sheet.canvas.fill(path, Ink::Glow((at, 40.0), (right - left) * 0.35, (glow, 0.14), (glow, 0.0)));
}
