//! A canvas on `tiny-skia`. Lengths are in hundredths of its height, independent of the size in pixels.

use tiny_skia::{
    Color, FillRule, FilterQuality, GradientStop, LineCap, LineJoin, LinearGradient, Mask, Paint, Path,
    PathBuilder, Pattern, Pixmap, RadialGradient, Rect, Shader, SpreadMode, Stroke, Transform,
};

use super::colour::Colour;
use super::geometry::{Point, ellipse, polygon, rect_quad};

/// The fill of a shape. The numbers beside colours are opacities, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill {
    /// One opaque colour.
    Solid(Colour),
    /// One colour with an opacity.
    Alpha(Colour, f32),
    /// A linear gradient from one point to another.
    Linear(Point, Point, (Colour, f32), (Colour, f32)),
    /// One colour with an opacity at a centre that falls to nothing at a radius.
    Radial(Point, f32, Colour, f32),
}

impl Fill {
    /// Returns an opaque gradient from one point to another.
    pub(super) const fn gradient(from: Point, to: Point, start: Colour, end: Colour) -> Self {
        Self::Linear(from, to, (start, 1.0), (end, 1.0))
    }

    /// Returns an opaque gradient from the height `top` down to `low`.
    pub(super) const fn down(top: f32, low: f32, start: Colour, end: Colour) -> Self {
        Self::gradient((0.0, top), (0.0, low), start, end)
    }

    /// Returns an opaque gradient across, from one x to another.
    pub(super) const fn across(from: f32, to: f32, start: Colour, end: Colour) -> Self {
        Self::gradient((from, 0.0), (to, 0.0), start, end)
    }
}

impl From<Colour> for Fill {
    fn from(colour: Colour) -> Self {
        Self::Solid(colour)
    }
}

/// The canvas.
pub(super) struct Canvas {
    map: Pixmap,
    scale: f32,
    mask: Option<Mask>,
    /// The zoom factor and its centre.
    zoom: (f32, Point),
}

fn color(colour: Colour, cover: f32) -> Color {
    let [r, g, b] = colour.rgb();
    Color::from_rgba(r, g, b, cover.clamp(0.0, 1.0)).unwrap_or(Color::BLACK)
}

fn shader(fill: Fill) -> Shader<'static> {
    // Exactly two stops: tiny-skia draws those several times as fast as more.
    let stops = |from: (Colour, f32), to: (Colour, f32)| {
        vec![GradientStop::new(0.0, color(from.0, from.1)), GradientStop::new(1.0, color(to.0, to.1))]
    };
    let point = |at: Point| tiny_skia::Point::from_xy(at.0, at.1);
    let (pad, identity) = (SpreadMode::Pad, Transform::identity());
    match fill {
        Fill::Solid(colour) => Shader::SolidColor(color(colour, 1.0)),
        Fill::Alpha(colour, cover) => Shader::SolidColor(color(colour, cover)),
        Fill::Linear(from, to, start, end) => {
            LinearGradient::new(point(from), point(to), stops(start, end), pad, identity)
                .unwrap_or(Shader::SolidColor(color(start.0, start.1)))
        }
        Fill::Radial(at, radius, colour, cover) => {
            let stops = stops((colour, cover), (colour, 0.0));
            RadialGradient::new(point(at), 0.0, point(at), radius, stops, pad, identity)
                .unwrap_or(Shader::SolidColor(color(colour, cover)))
        }
    }
}

impl Canvas {
    /// Creates a canvas of this size in pixels.
    pub(super) fn new(width: u32, height: u32) -> Option<Self> {
        Some(Self {
            map: Pixmap::new(width, height)?,
            scale: height as f32 / 100.0,
            mask: None,
            zoom: (1.0, (0.0, 0.0)),
        })
    }

    /// Returns the width, in hundredths of the height.
    pub(super) fn width(&self) -> f32 {
        self.map.width() as f32 / self.scale
    }

    /// Returns width, height and the pixels, four bytes each.
    pub(super) fn into_pixels(self) -> (u32, u32, Vec<u8>) {
        (self.map.width(), self.map.height(), self.map.take())
    }

    fn paint(fill: Fill) -> Paint<'static> {
        Paint { shader: shader(fill), anti_alias: true, ..Paint::default() }
    }

    /// Returns the transform to pixels.
    fn transform(&self) -> Transform {
        let (by, at) = self.zoom;
        let scale = self.scale * by;
        let keep = self.scale * (1.0 - by);
        Transform::from_row(scale, 0.0, 0.0, scale, at.0 * keep, at.1 * keep)
    }

    /// Sets the zoom of all later drawing, around `at`.
    pub(super) fn zoom(&mut self, by: f32, at: Point) {
        self.zoom = (by, at);
    }

    /// Fills a path.
    pub(super) fn fill(&mut self, path: Option<Path>, fill: impl Into<Fill>) {
        let (transform, Some(path)) = (self.transform(), path) else { return };
        self.map.fill_path(
            &path,
            &Self::paint(fill.into()),
            FillRule::Winding,
            transform,
            self.mask.as_ref(),
        );
    }

    /// Strokes a path.
    pub(super) fn stroke(&mut self, path: Option<Path>, width: f32, fill: impl Into<Fill>) {
        let (transform, Some(path)) = (self.transform(), path) else { return };
        let stroke =
            Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        self.map.stroke_path(&path, &Self::paint(fill.into()), &stroke, transform, self.mask.as_ref());
    }

    /// Fills a polygon.
    pub(super) fn poly(&mut self, points: &[Point], fill: impl Into<Fill>) {
        self.fill(polygon(points), fill);
    }

    /// Fills a rectangle, given by its upper left corner and its size.
    pub(super) fn rect(&mut self, x: f32, y: f32, width: f32, height: f32, fill: impl Into<Fill>) {
        let fill = fill.into();
        if let (Fill::Linear(from, to, (start, 1.0), (end, 1.0)), None) = (fill, &self.mask)
            && from.0.total_cmp(&to.0).is_eq()
            && width * height > 1_000.0
        {
            return self.strips((x, y), (width, height), (from.1, to.1), (start, end));
        }
        self.poly(&rect_quad(x, y, width, height), fill);
    }

    /// Draws a large vertical gradient as strips of one colour each: no visible steps, in a tenth of the time.
    fn strips(
        &mut self,
        at: Point,
        size: (f32, f32),
        (from, to): (f32, f32),
        (start, end): (Colour, Colour),
    ) {
        const STRIP: f32 = 3.0;
        let transform = self.transform();
        let pixel = |y: f32| (y * transform.sy + transform.ty).round();
        let (left, wide) = (at.0 * transform.sx + transform.tx, size.0 * transform.sx);
        let low = pixel(at.1 + size.1).min(self.map.height() as f32);
        let mut top = pixel(at.1).max(0.0);
        while top < low {
            let high = STRIP.min(low - top);
            let share = ((top + high / 2.0 - transform.ty) / transform.sy - from) / (to - from);
            let mut paint = Self::paint(start.mix(end, share.clamp(0.0, 1.0)).into());
            paint.anti_alias = false;
            if let Some(strip) = Rect::from_xywh(left, top, wide, high) {
                self.map.fill_rect(strip, &paint, Transform::identity(), None);
            }
            top += high;
        }
    }

    /// Fills the whole canvas, or the part that a radial gradient reaches.
    pub(super) fn fill_all(&mut self, fill: impl Into<Fill>) {
        let (width, fill) = (self.width(), fill.into());
        let (mut left, mut top, mut right, mut low) = (-1.0, -1.0, width + 1.0, 101.0);
        if let Fill::Radial(at, radius, ..) = fill {
            (left, top) = (at.0 - radius, at.1 - radius);
            (right, low) = (at.0 + radius, at.1 + radius);
        }
        self.rect(left, top, right - left, low - top, fill);
    }

    /// Fills an ellipse around `at`.
    pub(super) fn oval(&mut self, at: Point, across: f32, down: f32, fill: impl Into<Fill>) {
        self.fill(ellipse(at, across, down), fill);
    }

    /// Fills a circle around `at`.
    pub(super) fn disc(&mut self, at: Point, radius: f32, fill: impl Into<Fill>) {
        self.oval(at, radius, radius, fill);
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, from: Point, to: Point, width: f32, fill: impl Into<Fill>) {
        self.lines([(from, to)], width, fill);
    }

    /// Draws many straight lines with one stroke.
    pub(super) fn lines(
        &mut self,
        lines: impl IntoIterator<Item = (Point, Point)>,
        width: f32,
        fill: impl Into<Fill>,
    ) {
        let mut path = PathBuilder::new();
        for (from, to) in lines {
            path.move_to(from.0, from.1);
            path.line_to(to.0, to.1);
        }
        self.stroke(path.finish(), width, fill);
    }

    /// Clips all drawing to a path until [`Canvas::unclip`].
    pub(super) fn clip(&mut self, path: Option<Path>) {
        self.mask = path.and_then(|path| {
            let mut mask = Mask::new(self.map.width(), self.map.height())?;
            mask.fill_path(&path, FillRule::Winding, true, self.transform());
            Some(mask)
        });
    }

    /// Removes the clip.
    pub(super) fn unclip(&mut self) {
        self.mask = None;
    }

    /// Draws another canvas into a rectangle of this one.
    pub(super) fn paste(&mut self, other: &Self, x: f32, y: f32, width: f32) {
        let scale = width * self.scale / other.map.width() as f32;
        let transform = Transform::from_scale(scale, scale).post_translate(x * self.scale, y * self.scale);
        let shader =
            Pattern::new(other.map.as_ref(), SpreadMode::Pad, FilterQuality::Bilinear, 1.0, transform);
        let paint = Paint { shader, anti_alias: true, ..Paint::default() };
        let height = other.map.height() as f32 * scale;
        if let Some(area) = Rect::from_xywh(x * self.scale, y * self.scale, width * self.scale, height) {
            self.map.fill_rect(area, &paint, Transform::identity(), self.mask.as_ref());
        }
    }
}
