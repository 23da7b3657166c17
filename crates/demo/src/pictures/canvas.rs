//! A sheet to draw on. Lengths are in hundredths of its height, so that a drawing does not know how large it is printed.

use tiny_skia::{
    Color, FillRule, FilterQuality, GradientStop, LineCap, LineJoin, LinearGradient, Mask, Paint, Path,
    PathBuilder, Pattern, Pixmap, Point, RadialGradient, Rect, Shader, SpreadMode, Stroke, Transform,
};

use super::colour::Colour;

/// A place on the sheet: to the right, and down.
pub(super) type At = (f32, f32);

/// What a shape is filled with. The numbers beside colours say how much they cover, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ink {
    /// One colour that covers.
    Flat(Colour),
    /// One colour that lets through what is below.
    Veil(Colour, f32),
    /// From one place to another, from one colour to another.
    Fade(At, At, (Colour, f32), (Colour, f32)),
    /// From a place outwards up to a radius.
    Glow(At, f32, (Colour, f32), (Colour, f32)),
}

impl From<Colour> for Ink {
    fn from(colour: Colour) -> Self {
        Self::Flat(colour)
    }
}

/// The sheet.
pub(super) struct Canvas {
    map: Pixmap,
    scale: f32,
    mask: Option<Mask>,
    /// How much nearer things are drawn, and the place that stays where it is.
    near: (f32, At),
}

/// The outline of a shape made of straight lines.
pub(super) fn polygon(points: &[At]) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    path.move_to(first.0, first.1);
    rest.iter().for_each(|at| path.line_to(at.0, at.1));
    path.close();
    path.finish()
}

/// A smooth line through `points`.
pub(super) fn curve(points: &[At]) -> PathBuilder {
    let mut path = PathBuilder::new();
    let mut last = None;
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        match last {
            None => {
                path.move_to(a.0, a.1);
                path.line_to(middle.0, middle.1);
            }
            Some(()) => path.quad_to(a.0, a.1, middle.0, middle.1),
        }
        last = Some(());
    }
    if let Some(end) = points.last() {
        path.line_to(end.0, end.1);
    }
    path
}

fn color(colour: Colour, cover: f32) -> Color {
    let [r, g, b] = colour.rgb();
    Color::from_rgba(r, g, b, cover.clamp(0.0, 1.0)).unwrap_or(Color::BLACK)
}

fn shader(ink: Ink) -> Shader<'static> {
    // Two stops and no more: tiny-skia draws those several times as fast.
    let stops = |from: (Colour, f32), to: (Colour, f32)| {
        vec![GradientStop::new(0.0, color(from.0, from.1)), GradientStop::new(1.0, color(to.0, to.1))]
    };
    let point = |at: At| Point::from_xy(at.0, at.1);
    match ink {
        Ink::Flat(colour) => Shader::SolidColor(color(colour, 1.0)),
        Ink::Veil(colour, cover) => Shader::SolidColor(color(colour, cover)),
        Ink::Fade(from, to, start, end) => LinearGradient::new(
            point(from),
            point(to),
            stops(start, end),
            SpreadMode::Pad,
            Transform::identity(),
        )
        .unwrap_or(Shader::SolidColor(color(start.0, start.1))),
        Ink::Glow(at, radius, inner, outer) => RadialGradient::new(
            point(at),
            0.0,
            point(at),
            radius,
            stops(inner, outer),
            SpreadMode::Pad,
            Transform::identity(),
        )
        .unwrap_or(Shader::SolidColor(color(inner.0, inner.1))),
    }
}

impl Canvas {
    /// A sheet of so many pixels.
    pub(super) fn new(width: u32, height: u32) -> Option<Self> {
        Some(Self {
            map: Pixmap::new(width, height)?,
            scale: height as f32 / 100.0,
            mask: None,
            near: (1.0, (0.0, 0.0)),
        })
    }

    /// How wide the sheet is.
    pub(super) fn width(&self) -> f32 {
        self.map.width() as f32 / self.scale
    }

    /// The pixels, four bytes each, with the size of the sheet.
    pub(super) fn into_pixels(self) -> (u32, u32, Vec<u8>) {
        (self.map.width(), self.map.height(), self.map.take())
    }

    fn paint(ink: Ink) -> Paint<'static> {
        Paint { shader: shader(ink), anti_alias: true, ..Paint::default() }
    }

    fn place(&self) -> Transform {
        let (by, at) = self.near;
        let scale = self.scale * by;
        let keep = self.scale * (1.0 - by);
        Transform::from_row(scale, 0.0, 0.0, scale, at.0 * keep, at.1 * keep)
    }

    /// From now on everything is drawn so much larger around `at`.
    pub(super) fn near(&mut self, by: f32, at: At) {
        self.near = (by, at);
    }

    /// Fills a shape.
    pub(super) fn fill(&mut self, path: Option<Path>, ink: impl Into<Ink>) {
        let (place, Some(path)) = (self.place(), path) else { return };
        self.map.fill_path(&path, &Self::paint(ink.into()), FillRule::Winding, place, self.mask.as_ref());
    }

    /// Draws along a line.
    pub(super) fn stroke(&mut self, path: Option<Path>, width: f32, ink: impl Into<Ink>) {
        let (place, Some(path)) = (self.place(), path) else { return };
        let stroke =
            Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        self.map.stroke_path(&path, &Self::paint(ink.into()), &stroke, place, self.mask.as_ref());
    }

    /// Fills the shape between `points`.
    pub(super) fn poly(&mut self, points: &[At], ink: impl Into<Ink>) {
        self.fill(polygon(points), ink);
    }

    /// Fills an upright rectangle from its upper left corner.
    pub(super) fn rect(&mut self, x: f32, y: f32, width: f32, height: f32, ink: impl Into<Ink>) {
        let ink = ink.into();
        if let (Ink::Fade(from, to, (start, 1.0), (end, 1.0)), None) = (ink, &self.mask)
            && from.0.total_cmp(&to.0).is_eq()
            && width * height > 1_000.0
        {
            return self.strips((x, y), (width, height), (from.1, to.1), (start, end));
        }
        self.poly(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height)], ink);
    }

    /// A large upright gradient as strips of one colour each: steps finer than the eye, at a tenth of the time.
    fn strips(&mut self, at: At, size: (f32, f32), (from, to): (f32, f32), (start, end): (Colour, Colour)) {
        const STRIP: f32 = 3.0;
        let place = self.place();
        let pixel = |y: f32| (y * place.sy + place.ty).round();
        let (left, wide) = (at.0 * place.sx + place.tx, size.0 * place.sx);
        let low = pixel(at.1 + size.1).min(self.map.height() as f32);
        let mut top = pixel(at.1).max(0.0);
        while top < low {
            let high = STRIP.min(low - top);
            let share = ((top + high / 2.0 - place.ty) / place.sy - from) / (to - from);
            let mut paint = Self::paint(start.mix(end, share.clamp(0.0, 1.0)).into());
            paint.anti_alias = false;
            if let Some(strip) = Rect::from_xywh(left, top, wide, high) {
                self.map.fill_rect(strip, &paint, Transform::identity(), None);
            }
            top += high;
        }
    }

    /// Fills the whole sheet, or as much of it as a glow reaches.
    pub(super) fn wash(&mut self, ink: impl Into<Ink>) {
        let (width, ink) = (self.width(), ink.into());
        let (mut left, mut top, mut right, mut low) = (-1.0, -1.0, width + 1.0, 101.0);
        if let Ink::Glow(at, radius, _, (_, 0.0)) = ink {
            (left, top) = (at.0 - radius, at.1 - radius);
            (right, low) = (at.0 + radius, at.1 + radius);
        }
        self.rect(left, top, right - left, low - top, ink);
    }

    /// Fills an ellipse around `at`.
    pub(super) fn oval(&mut self, at: At, across: f32, down: f32, ink: impl Into<Ink>) {
        self.fill(ellipse(at, across, down), ink);
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, from: At, to: At, width: f32, ink: impl Into<Ink>) {
        let mut path = PathBuilder::new();
        path.move_to(from.0, from.1);
        path.line_to(to.0, to.1);
        self.stroke(path.finish(), width, ink);
    }

    /// Draws many straight lines of one kind at once.
    pub(super) fn lines(
        &mut self,
        lines: impl IntoIterator<Item = (At, At)>,
        width: f32,
        ink: impl Into<Ink>,
    ) {
        let mut path = PathBuilder::new();
        for (from, to) in lines {
            path.move_to(from.0, from.1);
            path.line_to(to.0, to.1);
        }
        self.stroke(path.finish(), width, ink);
    }

    /// Until [`Canvas::unclip`], only what lies within the shape is drawn.
    pub(super) fn clip(&mut self, path: Option<Path>) {
        self.mask = path.and_then(|path| {
            let mut mask = Mask::new(self.map.width(), self.map.height())?;
            mask.fill_path(&path, FillRule::Winding, true, self.place());
            Some(mask)
        });
    }

    /// Draws everywhere again.
    pub(super) fn unclip(&mut self) {
        self.mask = None;
    }

    /// Pastes another sheet into a rectangle of this one.
    pub(super) fn paste(&mut self, other: &Self, x: f32, y: f32, width: f32) {
        let scale = width * self.scale / other.map.width() as f32;
        let place = Transform::from_scale(scale, scale).post_translate(x * self.scale, y * self.scale);
        let shader = Pattern::new(other.map.as_ref(), SpreadMode::Pad, FilterQuality::Bilinear, 1.0, place);
        let paint = Paint { shader, anti_alias: true, ..Paint::default() };
        let height = other.map.height() as f32 * scale;
        if let Some(area) = Rect::from_xywh(x * self.scale, y * self.scale, width * self.scale, height) {
            self.map.fill_rect(area, &paint, Transform::identity(), self.mask.as_ref());
        }
    }
}

/// The outline of an ellipse around `at`.
pub(super) fn ellipse(at: At, across: f32, down: f32) -> Option<Path> {
    let bounds = Rect::from_xywh(at.0 - across, at.1 - down, across * 2.0, down * 2.0)?;
    PathBuilder::from_oval(bounds)
}
