//! Design objects on a ground, with their shadow.

mod flat_objects;
mod furniture;
mod lamps;
mod vessels;
mod wall;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{Fill, Point};
use super::colour::Colour;
use super::drawing::Drawing;
use crate::rng::DrawingRng;

/// A kind of object.
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
    /// Chooses by the object that the texts name; unknown ones become a still life.
    pub(super) fn of(brief: &Brief, rng: &mut DrawingRng) -> Self {
        let any = rng.choose(&[Self::Vessels, Self::Bowls, Self::Boxes]);
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
        brief.first_mentioned(&KINDS).or(asked).unwrap_or(any)
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

/// The height at which wall and ground meet.
const EDGE: f32 = 70.0;

/// Draws an object.
pub(super) fn draw(drawing: &mut Drawing, object: Object) {
    ground(drawing, matches!(object, Object::Clock | Object::Mirror | Object::Poster | Object::Cloth));
    let near = match object {
        Object::Boxes => 1.04,
        Object::Stool | Object::Chair => 1.24,
        Object::Basket | Object::Book => 1.18,
        Object::Bench | Object::Table | Object::Vessels | Object::TableLamp | Object::Shelf => 1.12,
        _ => 1.0,
    };
    let middle = drawing.width() / 2.0;
    drawing.canvas.zoom(near, (middle, 86.0));
    match object {
        Object::Chair => furniture::chair(drawing),
        Object::Stool => furniture::stool(drawing),
        Object::Bench => furniture::bench(drawing),
        Object::Table => furniture::table(drawing),
        Object::Shelf => furniture::shelf(drawing),
        Object::TableLamp => lamps::table_lamp(drawing),
        Object::Pendant => lamps::pendant(drawing),
        Object::FloorLamp => lamps::floor_lamp(drawing),
        Object::Vessels => vessels::group(drawing),
        Object::Bowls => vessels::bowls(drawing),
        Object::Teapot => vessels::teapot(drawing),
        Object::Basket => vessels::basket(drawing),
        Object::Boxes => vessels::solids(drawing),
        Object::Cloth => flat_objects::cloth(drawing),
        Object::Poster => flat_objects::posters(drawing),
        Object::Book => flat_objects::books(drawing),
        Object::Clock => flat_objects::clock(drawing),
        Object::Mirror => flat_objects::mirror(drawing),
    }
    drawing.canvas.zoom(1.0, (0.0, 0.0));
}

/// Returns the colour of the object, in contrast to its ground.
fn thing(drawing: &Drawing) -> Colour {
    drawing.palette.body
}

/// Draws wall and floor in colours close to the body's, and light on the wall.
fn ground(drawing: &mut Drawing, wall_only: bool) {
    let palette = drawing.palette;
    let width = drawing.width();
    let wall = backdrop(drawing);
    let edge = if wall_only { 108.0 } else { EDGE };
    drawing.canvas.fill_all(Fill::Linear(
        (0.0, 0.0),
        (width, edge),
        (wall.lighter(0.025), 1.0),
        (wall.lighter(-0.03), 1.0),
    ));
    if !wall_only {
        let floor = wall.mix(palette.second.with_lightness(wall.light), 0.45).lighter(-0.075);
        drawing.canvas.rect(
            -1.0,
            EDGE,
            width + 2.0,
            32.0,
            Fill::Linear((0.0, EDGE), (0.0, 100.0), (floor, 1.0), (floor.lighter(0.04), 1.0)),
        );
        drawing.fading_shade(
            &[(-1.0, EDGE), (width + 1.0, EDGE), (width + 1.0, EDGE + 5.0), (-1.0, EDGE + 5.0)],
            (0.0, EDGE),
            (0.0, EDGE + 5.0),
            0.35,
        );
    }
    wall::wall_light(drawing);
}

/// Returns a colour in contrast to the body.
fn backdrop(drawing: &Drawing) -> Colour {
    let palette = drawing.palette;
    let body = palette.body;
    let light = match (palette.lamps_on, body.light) {
        (true, light) if light > 0.5 => 0.36,
        (true, light) if light > 0.36 => 0.27,
        (true, _) => 0.5,
        (false, light) if light > 0.8 => light - 0.23,
        (false, light) => (light + 0.24).clamp(0.76, 0.93),
    };
    if body.chroma < 0.06 && drawing.style.second.is_none() {
        // A pale grey object gets a coloured ground.
        return super::colour::lch(light, if light > 0.72 { 0.02 } else { 0.034 }, drawing.style.accent);
    }
    let relative = palette.backdrop_bottom.mix(palette.second, 0.35);
    body.mix(relative, 0.5).with_lightness(light).muted(0.7)
}

/// Draws the shadow on the ground of an object on `base`, from `left` to `right`, of height `high`.
fn shadow(drawing: &mut Drawing, base: f32, left: f32, right: f32, high: f32) {
    let reach = drawing.shadow_reach() * 0.75;
    let (dx, dy) = (reach * high, -(high * 0.16).min(7.0));
    let from = ((left + right) / 2.0, base);
    let to = (from.0 + dx, base + dy);
    let narrow = (right - left) * 0.1;
    let points: [Point; 4] =
        [(left, base), (right, base), (right + dx - narrow, base + dy), (left + dx + narrow, base + dy)];
    drawing.fading_shade(&points, from, to, 0.95);
    drawing.contact_shadow(((left + right) / 2.0, base), (right - left) / 2.0 + 1.6, 1.4);
}

/// Shades a round body: the side away from the light is darker towards its edge.
fn round(drawing: &mut Drawing, path: Option<tiny_skia::Path>, left: f32, right: f32, colour: Colour) {
    let (bright, dark) = if drawing.style.from_left { (left, right) } else { (right, left) };
    drawing.canvas.fill(
        path.clone(),
        Fill::Linear((bright, 0.0), (dark, 0.0), (colour.lighter(0.07), 1.0), (colour.lighter(-0.13), 1.0)),
    );
    let glow = drawing.palette.lightest;
    let at = bright + (dark - bright) * 0.3;
    drawing.canvas.fill(path, Fill::Radial((at, 40.0), (right - left) * 0.35, (glow, 0.14), (glow, 0.0)));
}
