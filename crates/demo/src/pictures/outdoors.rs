//! Sky, hills, trees and people, around buildings and in landscapes.

use super::canvas::Fill;
use super::colour::Colour;
use super::drawing::Drawing;
use super::geometry::Part::{Bend, Close, Curve};
use super::geometry::{Point, curve, outline, placed, shares, taper};
use super::style::Light;

impl Drawing<'_> {
    /// Draws the sky down to `horizon`, with the sun or moon and clouds of the light.
    pub(super) fn sky(&mut self, horizon: f32) {
        let (palette, width) = (self.palette, self.width());
        self.band(-1.0, horizon, Fill::down(0.0, horizon, palette.backdrop_top, palette.backdrop_bottom));
        // Fills the part below the horizon that the land may leave free.
        self.band(horizon, 102.0, palette.backdrop_bottom);
        let side = if self.style.from_left { 0.2 } else { 0.8 };
        let at = width * (side + self.rng.range(-0.08, 0.08));
        match self.style.light {
            Light::Morning | Light::Evening | Light::Dusk => {
                let low = (at, horizon - self.rng.range(2.0, 16.0));
                let cover = if self.style.light == Light::Dusk { 0.65 } else { 0.5 };
                self.canvas.fill_all(Fill::Radial(low, 62.0, palette.glow, cover));
                if self.style.light != Light::Dusk && self.rng.chance(55) {
                    self.canvas.disc(low, 4.2, Fill::Alpha(palette.glow.lighter(0.07).muted(0.6), 0.85));
                }
            }
            Light::Night | Light::Lamp => {
                let moon = (at, self.rng.range(12.0, 26.0));
                self.canvas.fill_all(Fill::Radial(moon, 46.0, palette.glow, 0.16));
                self.canvas.disc(moon, 3.2, palette.glow.muted(0.4).lighter(0.03));
            }
            Light::Noon => {
                let sun = (at, self.rng.range(10.0, 20.0));
                self.canvas.fill_all(Fill::Radial(sun, 40.0, palette.lightest, 0.5));
            }
            Light::Overcast | Light::Dapple | Light::Side => self.clouds(horizon),
            Light::Snow | Light::Fog | Light::Top | Light::Soft => {}
        }
    }

    /// Draws long flat clouds, lighter than the sky.
    fn clouds(&mut self, horizon: f32) {
        let (palette, width) = (self.palette, self.width());
        for _ in 0..self.rng.count(2, 4) {
            let (x, y) = (self.rng.range(-0.1, 0.8) * width, self.rng.range(0.08, 0.72) * horizon);
            let (long, thick) = (self.rng.range(24.0, 60.0), self.rng.range(1.2, 3.6));
            let parts = [Curve(0.2, -1.6, 0.6, -1.9, 1.0, 0.0), Curve(0.7, 0.5, 0.3, 0.5, 0.0, 0.0)];
            let cloud = outline((x, y), (long, thick), (0.0, 0.0), &parts);
            self.canvas.fill(cloud, Fill::Alpha(palette.backdrop_bottom.lighter(0.05), 0.5));
        }
    }

    /// Draws a ridge up to `rise` above `base`, filled downwards, paler with the depth if it fades.
    pub(super) fn ridge(&mut self, base: f32, rise: f32, colour: Colour, fade: bool) {
        let width = self.width();
        let (first, second) = (self.rng.range(0.0, 6.3), self.rng.range(0.0, 6.3));
        let slow = self.rng.range(1.6, 3.2);
        let point = |x: f32| {
            let wave = (x * slow + first).sin() * 0.6 + (x * slow * 2.7 + second).sin() * 0.3;
            let y = base - rise * (0.5 + wave * 0.55) + self.rng.range(-0.03, 0.03) * rise;
            (x * (width + 4.0) - 2.0, y)
        };
        let mut path = curve(&shares(0..29, 28).map(point).collect::<Vec<Point>>());
        path.line_to(width + 2.0, 102.0);
        path.line_to(-2.0, 102.0);
        path.close();
        let faded = if fade { colour.mix(self.palette.backdrop_bottom, 0.6) } else { colour };
        self.canvas.fill(path.finish(), Fill::down(base - rise, base + 14.0, colour, faded));
    }

    /// Draws sky, rows of hills, paler with the distance, and ground.
    pub(super) fn land(&mut self, horizon: f32, hills: usize) {
        self.sky(horizon);
        self.hills(horizon, hills);
        self.ground(horizon);
    }

    /// Draws rows of hills, paler with the distance.
    pub(super) fn hills(&mut self, horizon: f32, count: usize) {
        let palette = self.palette;
        let far = palette.body.with_lightness(palette.backdrop_bottom.light * 0.72).muted(0.55);
        let far = far.mix(palette.green, 0.45);
        for near in shares(1..count + 1, count + 1) {
            let colour = palette.backdrop_bottom.mix(far, 0.2 + near * 0.55);
            let rise = self.rng.range(6.0, 15.0) * (1.3 - near * 0.7);
            self.ridge(horizon + near * 1.5, rise, colour, true);
        }
    }

    /// Draws the ground from `horizon` down.
    pub(super) fn ground(&mut self, horizon: f32) {
        let ground = self.palette.ground;
        self.band(horizon, 102.0, Fill::down(horizon, 100.0, ground.lighter(0.03), ground.lighter(-0.07)));
    }

    /// Draws a tree of height `high` at `at`, with its shadow. Kinds: 0 round, 1 poplar, 2 fir, 3 bare.
    pub(super) fn tree(&mut self, at: Point, high: f32, kind: usize) {
        let green = self.palette.green.lighter(self.rng.range(-0.03, 0.03));
        let (trunk, reach) = (self.palette.darkest.lighter(0.08), self.shadow_reach());
        let wide = high * [0.34, 0.12, 0.2, 0.3][kind % 4];
        let foot = (at.0 + reach * high * 0.28, at.1 + 0.35);
        let (shadow, depth) = (self.palette.shadow, self.palette.shadow_opacity * 0.55);
        self.canvas.oval(foot, high * 0.32 + wide * 0.4, 0.9, Fill::Alpha(shadow, depth));
        self.canvas.line(at, (at.0, at.1 - high * 0.6), (high * 0.028).max(0.25), trunk);
        let lit = if self.style.from_left { -1.0 } else { 1.0 };
        match kind % 4 {
            0 => {
                for blob in 0..6 {
                    let turn = blob as f32 * 1.05 + self.rng.range(0.0, 0.6);
                    let off = (turn.cos() * wide * 0.5, turn.sin() * wide * 0.42);
                    let size = wide * self.rng.range(0.5, 0.66);
                    let by = if off.0 * lit - off.1 > 0.0 { 0.035 } else { -0.025 };
                    let blob = (at.0 + off.0, at.1 - high * 0.66 + off.1);
                    self.canvas.oval(blob, size, size * 0.94, green.lighter(by));
                }
            }
            1 => {
                self.canvas.oval((at.0, at.1 - high * 0.53), wide, high * 0.47, green.lighter(-0.02));
                let bright = (at.0 + wide * 0.25 * lit, at.1 - high * 0.55);
                self.canvas.oval(bright, wide * 0.6, high * 0.42, green.lighter(0.02));
            }
            2 => {
                let [tip, left, right, middle] =
                    placed(at, (wide * lit, -high), [(0.0, 1.0), (-1.0, 0.08), (1.0, 0.08), (0.0, 0.08)]);
                self.canvas.poly(&[tip, left, right], green.lighter(-0.03));
                self.canvas.poly(&[tip, right, middle], green.lighter(0.02));
            }
            _ => self.branches((at.0, at.1 - high * 0.3), high * 0.3, 0.0, 4),
        }
    }

    /// Draws a bare crown: a binary tree of branches.
    fn branches(&mut self, from: Point, long: f32, lean: f32, left: usize) {
        let to = (from.0 + lean.sin() * long, from.1 - lean.cos() * long);
        let ink = self.palette.darkest.lighter(0.08);
        self.canvas.line(from, to, (long * 0.06).max(0.12), ink);
        if left > 0 {
            let (one, other) = (self.rng.range(0.2, 0.55), self.rng.range(0.2, 0.55));
            self.branches(to, long * 0.72, lean - one, left - 1);
            self.branches(to, long * 0.68, lean + other, left - 1);
        }
    }

    /// Draws a person at `at`, for scale.
    pub(super) fn person(&mut self, at: Point, high: f32) {
        let ink = self.palette.darkest.lighter(0.04);
        let coat = if self.rng.chance(40) { self.palette.second.with_lightness(0.42) } else { ink };
        let reach = self.shadow_reach() * 0.8;
        let shadow = [(-0.06, 0.0), (0.06, 0.0), (0.05 + reach, 0.12), (-0.05 + reach, 0.14)];
        self.shade(&placed(at, (high, high), shadow), 0.9);
        self.canvas.poly(&taper((at.0, at.1 - high * 0.5), high * 0.07, at, high * 0.045), ink);
        let parts = [Bend(-0.13, -0.82, 0.0, -0.84), Bend(0.13, -0.82, 0.1, -0.34), Close];
        self.canvas.fill(outline(at, (high, high), (-0.09, -0.34), &parts), coat);
        self.canvas.oval((at.0, at.1 - high * 0.91), high * 0.062, high * 0.08, ink);
    }
}
