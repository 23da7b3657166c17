//! Textures of materials: boards, courses, board marks, strata, seams.

use super::canvas::{Fill, Point, curve};
use super::colour::Colour;
use super::drawing::{Drawing, lerp};
use super::style::Material;

/// The corners of a surface: upper left, upper right, lower right, lower left.
pub(super) type Quad = [Point; 4];

/// Returns a rectangle as a surface.
pub(super) fn rect_quad(x: f32, y: f32, width: f32, height: f32) -> Quad {
    [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
}

/// Returns the point of a surface at `s` of the way across and `t` of the way down.
pub(super) fn point_on(quad: &Quad, s: f32, t: f32) -> Point {
    lerp(lerp(quad[0], quad[1], s), lerp(quad[3], quad[2], s), t)
}

/// Returns the part of a surface between two shares across and two down.
pub(super) fn sub_quad(quad: &Quad, s: (f32, f32), t: (f32, f32)) -> Quad {
    [point_on(quad, s.0, t.0), point_on(quad, s.1, t.0), point_on(quad, s.1, t.1), point_on(quad, s.0, t.1)]
}

fn length(a: Point, b: Point) -> f32 {
    (b.0 - a.0).hypot(b.1 - a.1)
}

impl Drawing<'_> {
    /// Fills a surface with a colour and the texture of the style's material.
    pub(super) fn textured_quad(&mut self, quad: &Quad, colour: Colour) {
        self.canvas.poly(quad, colour);
        self.texture(quad, colour, self.style.material, 1.0);
    }

    /// Draws the texture of a material on a surface of this colour; a larger `grain` is coarser.
    pub(super) fn texture(&mut self, quad: &Quad, colour: Colour, material: Material, grain: f32) {
        let (wide, high) = (length(quad[3], quad[2]).max(1.0), length(quad[0], quad[3]).max(1.0));
        match material {
            Material::Timber => self.boards(quad, colour, wide / (2.6 * grain), 0.022),
            Material::Corrugated => self.boards(quad, colour, wide / (0.9 * grain), 0.034),
            Material::Metal => self.seams(quad, colour, wide / (6.0 * grain)),
            Material::Rust => {
                self.seams(quad, colour, wide / (9.0 * grain));
                self.streaks(quad, colour, wide);
            }
            Material::Brick => self.courses(quad, colour, high / (1.25 * grain), wide / (3.4 * grain)),
            Material::Tile => self.courses(quad, colour, high / (2.4 * grain), wide / (2.4 * grain)),
            Material::Stone => self.courses(quad, colour, high / (5.0 * grain), wide / (9.0 * grain)),
            Material::Marble => self.veins(quad, colour),
            Material::Concrete => self.board_marks(quad, colour, high / (2.3 * grain), wide / (16.0 * grain)),
            Material::Earth => self.strata(quad, colour, high / (2.8 * grain)),
            Material::Glass => self.grid(quad, colour, wide / (4.0 * grain), high / (4.0 * grain)),
            Material::Terrazzo => self.chips(quad, colour, wide * high / 9.0),
            Material::Cloth | Material::Wicker => {
                self.weave(quad, colour, wide / (1.1 * grain), high / (1.1 * grain))
            }
            _ => {}
        }
    }

    fn boards(&mut self, quad: &Quad, colour: Colour, count: f32, variation: f32) {
        let count = count.round().clamp(2.0, 90.0);
        for board in 0..count as usize {
            let at = board as f32 / count;
            let by = self.rng.range(-variation, variation)
                + if board % 2 == 0 { variation * 0.3 } else { -variation * 0.3 };
            let strip = sub_quad(quad, (at, at + 1.0 / count), (0.0, 1.0));
            self.canvas.poly(&strip, Fill::Alpha(colour.lighter(by * 2.2), 0.55));
        }
        let joints: Vec<_> = (1..count as usize)
            .map(|joint| {
                (point_on(quad, joint as f32 / count, 0.0), point_on(quad, joint as f32 / count, 1.0))
            })
            .collect();
        self.canvas.lines(joints, 0.12, Fill::Alpha(colour.lighter(-0.16), 0.55));
    }

    fn seams(&mut self, quad: &Quad, colour: Colour, count: f32) {
        let sheen = Fill::Linear(quad[0], quad[2], (colour.lighter(0.07), 0.7), (colour.lighter(-0.05), 0.5));
        self.canvas.poly(quad, sheen);
        let count = count.round().clamp(1.0, 60.0);
        let seams: Vec<_> = (1..count as usize)
            .map(|at| (point_on(quad, at as f32 / count, 0.0), point_on(quad, at as f32 / count, 1.0)))
            .collect();
        self.canvas.lines(seams.iter().copied(), 0.28, Fill::Alpha(colour.lighter(-0.13), 0.6));
        let beside = seams.iter().map(|(a, b)| ((a.0 + 0.25, a.1), (b.0 + 0.25, b.1)));
        self.canvas.lines(beside, 0.12, Fill::Alpha(colour.lighter(0.12), 0.5));
    }

    fn streaks(&mut self, quad: &Quad, colour: Colour, wide: f32) {
        for _ in 0..(wide * 0.5) as usize {
            let (at, thick, end) =
                (self.rng.range(0.0, 0.98), self.rng.range(0.004, 0.02), self.rng.range(0.3, 1.0));
            let streak = sub_quad(quad, (at, (at + thick).min(1.0)), (0.0, end));
            let by = self.rng.range(-0.09, 0.06);
            let fade =
                Fill::Linear(streak[0], streak[3], (colour.lighter(by), 0.5), (colour.lighter(by), 0.0));
            self.canvas.poly(&streak, fade);
        }
    }

    fn courses(&mut self, quad: &Quad, colour: Colour, rows: f32, columns: f32) {
        let (rows, columns) = (rows.round().clamp(2.0, 64.0), columns.round().clamp(2.0, 44.0));
        for _ in 0..(rows * columns * 0.22) as usize {
            let row = self.rng.count(0, rows as usize - 1) as f32;
            let shift = if row % 2.0 == 0.0 { 0.0 } else { 0.5 };
            let column = self.rng.count(0, columns as usize - 1) as f32 + shift;
            let across = (column / columns, ((column + 1.0) / columns).min(1.0));
            let by = self.rng.range(-0.055, 0.045);
            self.canvas.poly(
                &sub_quad(quad, across, (row / rows, (row + 1.0) / rows)),
                Fill::Alpha(colour.lighter(by), 0.8),
            );
        }
        let mut joints = Vec::new();
        for row in 0..rows as usize {
            let (top, below) = (row as f32 / rows, (row + 1) as f32 / rows);
            joints.push((point_on(quad, 0.0, below), point_on(quad, 1.0, below)));
            let shift = if row % 2 == 0 { 0.0 } else { 0.5 };
            for column in 0..columns as usize {
                let at = (column as f32 + shift) / columns;
                joints.push((point_on(quad, at, top), point_on(quad, at, below)));
            }
        }
        let joint = if colour.light > 0.6 { colour.lighter(-0.1) } else { colour.lighter(0.1) };
        self.canvas.lines(joints, 0.13, Fill::Alpha(joint, 0.5));
    }

    fn veins(&mut self, quad: &Quad, colour: Colour) {
        for _ in 0..7 {
            let (mut s, mut t) = (self.rng.range(-0.1, 0.9), self.rng.range(0.0, 0.3));
            let lean = self.rng.range(0.02, 0.14);
            let mut points = Vec::new();
            while t < 1.0 {
                points.push(point_on(quad, s.clamp(0.0, 1.0), t));
                s += lean + self.rng.range(-0.06, 0.06);
                t += self.rng.range(0.05, 0.14);
            }
            let (width, cover) = (self.rng.range(0.1, 0.6), self.rng.range(0.15, 0.5));
            self.canvas.stroke(
                curve(&points).finish(),
                width,
                Fill::Alpha(colour.lighter(-0.12).muted(0.7), cover),
            );
        }
    }

    fn board_marks(&mut self, quad: &Quad, colour: Colour, rows: f32, panels: f32) {
        let rows = rows.round().clamp(2.0, 50.0);
        for row in 0..rows as usize {
            let by = self.rng.range(-0.022, 0.022);
            let strip = sub_quad(quad, (0.0, 1.0), (row as f32 / rows, (row + 1) as f32 / rows));
            self.canvas.poly(&strip, Fill::Alpha(colour.lighter(by), 0.8));
        }
        let lines: Vec<_> = (1..rows as usize)
            .map(|row| (point_on(quad, 0.0, row as f32 / rows), point_on(quad, 1.0, row as f32 / rows)))
            .collect();
        self.canvas.lines(lines, 0.1, Fill::Alpha(colour.lighter(-0.1), 0.4));
        let panels = panels.round().max(1.0);
        let joints: Vec<_> = (1..panels as usize)
            .map(|panel| {
                (point_on(quad, panel as f32 / panels, 0.0), point_on(quad, panel as f32 / panels, 1.0))
            })
            .collect();
        self.canvas.lines(joints, 0.2, Fill::Alpha(colour.lighter(-0.14), 0.5));
        let weather =
            Fill::Linear(quad[0], quad[3], (colour.lighter(-0.09), 0.28), (colour.lighter(0.02), 0.0));
        self.canvas.poly(quad, weather);
    }

    fn strata(&mut self, quad: &Quad, colour: Colour, rows: f32) {
        let rows = rows.round().clamp(3.0, 40.0);
        for row in 0..rows as usize {
            let (top, below) = (row as f32 / rows, (row + 1) as f32 / rows);
            let mut points: Vec<Point> = (0..=12)
                .map(|at| {
                    point_on(
                        quad,
                        at as f32 / 12.0,
                        (top + self.rng.range(-0.12, 0.12) / rows).clamp(0.0, 1.0),
                    )
                })
                .collect();
            points.push(point_on(quad, 1.0, below));
            points.push(point_on(quad, 0.0, below));
            let by = self.rng.range(-0.045, 0.04);
            self.canvas.poly(&points, Fill::Alpha(colour.lighter(by), 0.75));
        }
    }

    fn grid(&mut self, quad: &Quad, colour: Colour, columns: f32, rows: f32) {
        let (columns, rows) = (columns.round().clamp(2.0, 24.0), rows.round().clamp(2.0, 24.0));
        for row in 0..rows as usize {
            for column in 0..columns as usize {
                let by = self.rng.range(-0.05, 0.06);
                let across = (column as f32 / columns, (column + 1) as f32 / columns);
                let down = (row as f32 / rows, (row + 1) as f32 / rows);
                self.canvas.poly(&sub_quad(quad, across, down), Fill::Alpha(colour.lighter(by), 0.6));
            }
        }
        let across = (0..=columns as usize)
            .map(|at| (point_on(quad, at as f32 / columns, 0.0), point_on(quad, at as f32 / columns, 1.0)));
        let down = (0..=rows as usize)
            .map(|at| (point_on(quad, 0.0, at as f32 / rows), point_on(quad, 1.0, at as f32 / rows)));
        let bars: Vec<_> = across.chain(down).collect();
        self.canvas.lines(bars, 0.3, Fill::Alpha(colour.lighter(-0.14), 0.7));
    }

    fn chips(&mut self, quad: &Quad, colour: Colour, count: f32) {
        let second = self.palette.second;
        for _ in 0..(count as usize).min(420) {
            let at = point_on(quad, self.rng.range(0.0, 1.0), self.rng.range(0.0, 1.0));
            let size = self.rng.range(0.2, 0.75);
            let by = self.rng.range(-0.18, 0.14);
            let chip = if self.rng.chance(18) { second.mix(colour, 0.45) } else { colour.lighter(by) };
            let turn = self.rng.range(-0.5, 0.5);
            self.canvas.poly(
                &[
                    (at.0 - size, at.1 + turn * size),
                    (at.0 + turn * size, at.1 - size * 0.7),
                    (at.0 + size, at.1 + size * 0.5),
                ],
                Fill::Alpha(chip, 0.8),
            );
        }
    }

    fn weave(&mut self, quad: &Quad, colour: Colour, columns: f32, rows: f32) {
        let (columns, rows) = (columns.round().clamp(3.0, 60.0), rows.round().clamp(3.0, 60.0));
        let down: Vec<_> = (0..columns as usize)
            .map(|at| {
                (
                    point_on(quad, (at as f32 + 0.5) / columns, 0.0),
                    point_on(quad, (at as f32 + 0.5) / columns, 1.0),
                )
            })
            .collect();
        let across: Vec<_> = (0..rows as usize)
            .map(|at| {
                (point_on(quad, 0.0, (at as f32 + 0.5) / rows), point_on(quad, 1.0, (at as f32 + 0.5) / rows))
            })
            .collect();
        self.canvas.lines(down, 0.3, Fill::Alpha(colour.lighter(-0.07), 0.4));
        self.canvas.lines(across, 0.3, Fill::Alpha(colour.lighter(0.07), 0.4));
    }
}
