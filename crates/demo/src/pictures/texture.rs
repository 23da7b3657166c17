//! Textures of materials: boards, courses, board marks, strata, seams.

use super::canvas::Fill;
use super::colour::Colour;
use super::drawing::Drawing;
use super::geometry::{
    Point, Quad, cells, curve, lines_across, lines_down, placed, point_on, shares, shifted, sub_quad,
};
use super::style::Material;

fn length(a: Point, b: Point) -> f32 {
    (b.0 - a.0).hypot(b.1 - a.1)
}

/// Rounds a number of parts to a whole one in the range.
fn count(parts: f32, least: f32, most: f32) -> usize {
    parts.round().clamp(least, most) as usize
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

    fn boards(&mut self, quad: &Quad, colour: Colour, boards: f32, variation: f32) {
        let boards = count(boards, 2.0, 90.0);
        for board in cells(boards, 1, (1.0, 1.0)) {
            let bias = if board.is_even() { variation * 0.3 } else { -variation * 0.3 };
            let by = self.rng.range(-variation, variation) + bias;
            self.canvas.poly(&board.of(quad), Fill::Alpha(colour.lighter(by * 2.2), 0.55));
        }
        let joints = lines_down(quad, shares(1..boards, boards));
        self.canvas.lines(joints, 0.12, Fill::Alpha(colour.lighter(-0.16), 0.55));
    }

    fn seams(&mut self, quad: &Quad, colour: Colour, sheets: f32) {
        let sheen = Fill::Linear(quad[0], quad[2], (colour.lighter(0.07), 0.7), (colour.lighter(-0.05), 0.5));
        self.canvas.poly(quad, sheen);
        let sheets = count(sheets, 1.0, 60.0);
        let seams = || lines_down(quad, shares(1..sheets, sheets));
        self.canvas.lines(seams(), 0.28, Fill::Alpha(colour.lighter(-0.13), 0.6));
        let beside = seams().map(|(a, b)| shifted([a, b], (0.25, 0.0)).into());
        self.canvas.lines(beside, 0.12, Fill::Alpha(colour.lighter(0.12), 0.5));
    }

    fn streaks(&mut self, quad: &Quad, colour: Colour, wide: f32) {
        for _ in 0..(wide * 0.5) as usize {
            let (at, thick, end) =
                (self.rng.range(0.0, 0.98), self.rng.range(0.004, 0.02), self.rng.range(0.3, 1.0));
            let streak = sub_quad(quad, (at, (at + thick).min(1.0)), (0.0, end));
            let tone = colour.lighter(self.rng.range(-0.09, 0.06));
            self.canvas.poly(&streak, Fill::Linear(streak[0], streak[3], (tone, 0.5), (tone, 0.0)));
        }
    }

    fn courses(&mut self, quad: &Quad, colour: Colour, courses: f32, stones: f32) {
        let (courses, stones) = (count(courses, 2.0, 64.0), count(stones, 2.0, 44.0));
        let (high, wide) = (1.0 / courses as f32, 1.0 / stones as f32);
        let shift = |course: usize| if course.is_multiple_of(2) { 0.0 } else { 0.5 };
        for _ in 0..((courses * stones) as f32 * 0.22) as usize {
            let course = self.rng.count(0, courses - 1);
            let left = (self.rng.count(0, stones - 1) as f32 + shift(course)) * wide;
            let top = course as f32 * high;
            let by = self.rng.range(-0.055, 0.045);
            let stone = sub_quad(quad, (left, (left + wide).min(1.0)), (top, top + high));
            self.canvas.poly(&stone, Fill::Alpha(colour.lighter(by), 0.8));
        }
        let mut joints: Vec<_> = lines_across(quad, shares(1..courses + 1, courses)).collect();
        for course in 0..courses {
            let (top, below) = (course as f32 * high, (course + 1) as f32 * high);
            let ends = |stone: usize| (stone as f32 + shift(course)) * wide;
            joints.extend((0..stones).map(ends).map(|s| (point_on(quad, s, top), point_on(quad, s, below))));
        }
        let joint = if colour.light > 0.6 { colour.lighter(-0.1) } else { colour.lighter(0.1) };
        self.canvas.lines(joints, 0.13, Fill::Alpha(joint, 0.5));
    }

    fn veins(&mut self, quad: &Quad, colour: Colour) {
        let tone = colour.lighter(-0.12).muted(0.7);
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
            self.canvas.stroke(curve(&points).finish(), width, Fill::Alpha(tone, cover));
        }
    }

    fn board_marks(&mut self, quad: &Quad, colour: Colour, boards: f32, panels: f32) {
        let (boards, panels) = (count(boards, 2.0, 50.0), count(panels, 1.0, f32::MAX));
        for board in cells(1, boards, (1.0, 1.0)) {
            let by = self.rng.range(-0.022, 0.022);
            self.canvas.poly(&board.of(quad), Fill::Alpha(colour.lighter(by), 0.8));
        }
        let edges = lines_across(quad, shares(1..boards, boards));
        self.canvas.lines(edges, 0.1, Fill::Alpha(colour.lighter(-0.1), 0.4));
        let joints = lines_down(quad, shares(1..panels, panels));
        self.canvas.lines(joints, 0.2, Fill::Alpha(colour.lighter(-0.14), 0.5));
        let weather =
            Fill::Linear(quad[0], quad[3], (colour.lighter(-0.09), 0.28), (colour.lighter(0.02), 0.0));
        self.canvas.poly(quad, weather);
    }

    fn strata(&mut self, quad: &Quad, colour: Colour, layers: f32) {
        let layers = count(layers, 3.0, 40.0);
        let high = 1.0 / layers as f32;
        for top in shares(0..layers, layers) {
            let mut edge = |s| point_on(quad, s, (top + self.rng.range(-0.12, 0.12) * high).clamp(0.0, 1.0));
            let mut points: Vec<Point> = shares(0..13, 12).map(&mut edge).collect();
            points.extend([point_on(quad, 1.0, top + high), point_on(quad, 0.0, top + high)]);
            let by = self.rng.range(-0.045, 0.04);
            self.canvas.poly(&points, Fill::Alpha(colour.lighter(by), 0.75));
        }
    }

    fn grid(&mut self, quad: &Quad, colour: Colour, panes: f32, layers: f32) {
        let (panes, layers) = (count(panes, 2.0, 24.0), count(layers, 2.0, 24.0));
        for pane in cells(panes, layers, (1.0, 1.0)) {
            let by = self.rng.range(-0.05, 0.06);
            self.canvas.poly(&pane.of(quad), Fill::Alpha(colour.lighter(by), 0.6));
        }
        self.bars(quad, (panes, layers), 0.3, Fill::Alpha(colour.lighter(-0.14), 0.7));
    }

    /// Draws the lines of a grid on a surface, those at its edges too.
    pub(super) fn bars(
        &mut self,
        quad: &Quad,
        (across, down): (usize, usize),
        width: f32,
        fill: impl Into<Fill>,
    ) {
        let bars = lines_down(quad, shares(0..across + 1, across))
            .chain(lines_across(quad, shares(0..down + 1, down)));
        self.canvas.lines(bars, width, fill);
    }

    fn chips(&mut self, quad: &Quad, colour: Colour, chips: f32) {
        let second = self.palette.second;
        for _ in 0..(chips as usize).min(420) {
            let at = point_on(quad, self.rng.range(0.0, 1.0), self.rng.range(0.0, 1.0));
            let size = self.rng.range(0.2, 0.75);
            let by = self.rng.range(-0.18, 0.14);
            let chip = if self.rng.chance(18) { second.mix(colour, 0.45) } else { colour.lighter(by) };
            let turn = self.rng.range(-0.5, 0.5);
            let corners = placed(at, (size, size), [(-1.0, turn), (turn, -0.7), (1.0, 0.5)]);
            self.canvas.poly(&corners, Fill::Alpha(chip, 0.8));
        }
    }

    fn weave(&mut self, quad: &Quad, colour: Colour, warp: f32, weft: f32) {
        let middles = |threads: f32| {
            let threads = count(threads, 3.0, 60.0);
            (0..threads).map(move |thread| (thread as f32 + 0.5) / threads as f32)
        };
        self.canvas.lines(lines_down(quad, middles(warp)), 0.3, Fill::Alpha(colour.lighter(-0.07), 0.4));
        self.canvas.lines(lines_across(quad, middles(weft)), 0.3, Fill::Alpha(colour.lighter(0.07), 0.4));
    }
}
