//! Points, surfaces and outlines. Lengths are in hundredths of the height of the canvas.

use tiny_skia::{Path, PathBuilder, Rect};

/// A point: x to the right, y down.
pub(super) type Point = (f32, f32);

/// The corners of a surface: upper left, upper right, lower right, lower left.
pub(super) type Quad = [Point; 4];

/// Returns the point at `share` of the way from `a` to `b`.
pub(super) fn lerp(a: Point, b: Point, share: f32) -> Point {
    (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
}

/// Returns points moved by `by`.
pub(super) fn shifted<const N: usize>(points: [Point; N], by: Point) -> [Point; N] {
    points.map(|at| (at.0 + by.0, at.1 + by.1))
}

/// Returns points of a figure of unit size, at `at` and of this size; a negative size mirrors it.
pub(super) fn placed<const N: usize>(at: Point, size: Point, points: [Point; N]) -> [Point; N] {
    points.map(|(x, y)| (at.0 + size.0 * x, at.1 + size.1 * y))
}

/// Returns a rectangle as a surface.
pub(super) fn rect_quad(x: f32, y: f32, width: f32, height: f32) -> Quad {
    [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
}

/// Returns a surface with horizontal edges: its upper edge reaches `half_from` to both sides of `from`, its lower edge `half_to` of `to`.
pub(super) fn taper(from: Point, half_from: f32, to: Point, half_to: f32) -> Quad {
    [
        (from.0 - half_from, from.1),
        (from.0 + half_from, from.1),
        (to.0 + half_to, to.1),
        (to.0 - half_to, to.1),
    ]
}

/// Returns the surface between a horizontal edge and the same edge moved by `by`.
pub(super) fn slant((left, right): (f32, f32), y: f32, by: Point) -> Quad {
    [(left, y), (right, y), (right + by.0, y + by.1), (left + by.0, y + by.1)]
}

/// Returns the point of a surface at `s` of the way across and `t` of the way down.
pub(super) fn point_on(quad: &Quad, s: f32, t: f32) -> Point {
    lerp(lerp(quad[0], quad[1], s), lerp(quad[3], quad[2], s), t)
}

/// Returns the part of a surface between two shares across and two down.
pub(super) fn sub_quad(quad: &Quad, s: (f32, f32), t: (f32, f32)) -> Quad {
    [point_on(quad, s.0, t.0), point_on(quad, s.1, t.0), point_on(quad, s.1, t.1), point_on(quad, s.0, t.1)]
}

/// Returns the lines across a surface at these shares of the way down.
pub(super) fn lines_across(
    quad: &Quad,
    shares: impl IntoIterator<Item = f32>,
) -> impl Iterator<Item = (Point, Point)> {
    shares.into_iter().map(|t| (point_on(quad, 0.0, t), point_on(quad, 1.0, t)))
}

/// Returns the lines down a surface at these shares of the way across.
pub(super) fn lines_down(
    quad: &Quad,
    shares: impl IntoIterator<Item = f32>,
) -> impl Iterator<Item = (Point, Point)> {
    shares.into_iter().map(|s| (point_on(quad, s, 0.0), point_on(quad, s, 1.0)))
}

/// Returns each of `steps` as a share of `count`.
pub(super) fn shares(steps: impl Iterator<Item = usize>, count: usize) -> impl Iterator<Item = f32> {
    steps.map(move |step| step as f32 / count as f32)
}

/// A cell of a grid on a surface.
pub(super) struct Cell {
    pub(super) column: usize,
    pub(super) row: usize,
    /// The shares across and down where its filled part begins and ends.
    pub(super) across: (f32, f32),
    pub(super) down: (f32, f32),
}

impl Cell {
    /// Returns its filled part of a surface.
    pub(super) fn of(&self, quad: &Quad) -> Quad {
        sub_quad(quad, self.across, self.down)
    }

    /// Returns whether it is dark on a chessboard.
    pub(super) const fn is_even(&self) -> bool {
        (self.row + self.column).is_multiple_of(2)
    }
}

/// Returns the cells of a grid, row by row, each filled in the middle to these shares of its width and height.
pub(super) fn cells(columns: usize, rows: usize, fill: (f32, f32)) -> impl Iterator<Item = Cell> {
    let part = |at: usize, count: usize, fill: f32| {
        let start = (at as f32 + (1.0 - fill) / 2.0) / count as f32;
        (start, start + fill / count as f32)
    };
    (0..rows * columns).map(move |at| {
        let (column, row) = (at % columns, at / columns);
        Cell { column, row, across: part(column, columns, fill.0), down: part(row, rows, fill.1) }
    })
}

/// A part of an outline, from the end of the one before.
#[derive(Clone, Copy)]
pub(super) enum Part {
    To(f32, f32),
    /// A quadratic curve, by its control point and its end.
    Bend(f32, f32, f32, f32),
    /// A cubic curve, by two control points and its end.
    Curve(f32, f32, f32, f32, f32, f32),
    Close,
}

/// Returns an outline of unit size that begins at `start`, at `at` and of this size; a negative size mirrors it.
pub(super) fn outline(at: Point, size: Point, start: Point, parts: &[Part]) -> Option<Path> {
    let (x, y) = (|x: f32| at.0 + size.0 * x, |y: f32| at.1 + size.1 * y);
    let mut path = PathBuilder::new();
    path.move_to(x(start.0), y(start.1));
    for part in parts {
        match *part {
            Part::To(a, b) => path.line_to(x(a), y(b)),
            Part::Bend(a, b, c, d) => path.quad_to(x(a), y(b), x(c), y(d)),
            Part::Curve(a, b, c, d, e, f) => path.cubic_to(x(a), y(b), x(c), y(d), x(e), y(f)),
            Part::Close => path.close(),
        }
    }
    path.finish()
}

/// Returns the outline of a polygon.
pub(super) fn polygon(points: &[Point]) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    path.move_to(first.0, first.1);
    rest.iter().for_each(|at| path.line_to(at.0, at.1));
    path.close();
    path.finish()
}

/// Returns the outline of an ellipse around `at`.
pub(super) fn ellipse(at: Point, across: f32, down: f32) -> Option<Path> {
    let bounds = Rect::from_xywh(at.0 - across, at.1 - down, across * 2.0, down * 2.0)?;
    PathBuilder::from_oval(bounds)
}

/// Returns a smooth curve along `points`.
pub(super) fn curve(points: &[Point]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (at, pair) in points.windows(2).enumerate() {
        let (a, middle) = (pair[0], lerp(pair[0], pair[1], 0.5));
        if at == 0 {
            path.move_to(a.0, a.1);
            path.line_to(middle.0, middle.1);
        } else {
            path.quad_to(a.0, a.1, middle.0, middle.1);
        }
    }
    if let Some(end) = points.last() {
        path.line_to(end.0, end.1);
    }
    path
}
