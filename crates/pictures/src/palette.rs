//! The main colours of a picture, by median cut and merging in Oklab. Deterministic: the same pixels give the same colours.

use image::RgbImage;

/// The maximum number of colours.
const MAX_COLOURS: usize = 6;
/// The number of boxes into which the pixels are cut before similar boxes are merged.
const BOXES: usize = 24;
/// Colours nearer than this in Oklab, where black and white are 1 apart, are merged.
const MERGE_DISTANCE: f32 = 0.08;

/// A colour in Oklab, where Euclidean distance approximates the perceived difference.
type Lab = [f32; 3];

/// Pixels of one main colour.
struct Group {
    mean: Lab,
    pixels: usize,
}

/// Returns the main colours in sRGB, at most six, by descending share of pixels. A thumbnail of the picture suffices.
pub fn palette(image: &RgbImage) -> Vec<[u8; 3]> {
    let pixels: Vec<Lab> = image.pixels().map(|pixel| to_oklab(pixel.0)).collect();
    let mut groups: Vec<Group> = cut(pixels).iter().map(|pixels| Group::of(pixels)).collect();
    while let Some((a, b, distance)) = nearest(&groups)
        && (groups.len() > MAX_COLOURS || distance < MERGE_DISTANCE)
    {
        let other = groups.swap_remove(b);
        groups[a].merge(&other);
    }
    groups.sort_by_key(|group| (std::cmp::Reverse(group.pixels), from_oklab(group.mean)));
    let mut colours: Vec<[u8; 3]> = groups.iter().map(|group| from_oklab(group.mean)).collect();
    colours.dedup();
    colours
}

impl Group {
    fn of(pixels: &[Lab]) -> Group {
        let mut sum = [0.0_f64; 3];
        for pixel in pixels {
            for (sum, part) in sum.iter_mut().zip(pixel) {
                *sum += f64::from(*part);
            }
        }
        Group { mean: sum.map(|sum| narrow(sum / count(pixels.len()))), pixels: pixels.len() }
    }

    fn merge(&mut self, other: &Group) {
        let (own, others) = (count(self.pixels), count(other.pixels));
        for (part, other) in self.mean.iter_mut().zip(other.mean) {
            *part = narrow((f64::from(*part) * own + f64::from(other) * others) / (own + others));
        }
        self.pixels += other.pixels;
    }
}

/// Median cut: repeatedly cuts the box with the widest spread in two, along the axis of that spread.
fn cut(pixels: Vec<Lab>) -> Vec<Vec<Lab>> {
    let mut boxes = vec![pixels];
    while boxes.len() < BOXES {
        let spreads = boxes.iter().enumerate().map(|(at, pixels)| (at, widest(pixels)));
        let most = spreads.max_by(|(a, (_, x)), (b, (_, y))| x.total_cmp(y).then(b.cmp(a)));
        let Some((at, (axis, spread))) = most else { break };
        if spread < MERGE_DISTANCE / 2.0 {
            break;
        }
        let mut low = boxes.swap_remove(at);
        low.sort_by(|a, b| a[axis].total_cmp(&b[axis]).then_with(|| a.map(key).cmp(&b.map(key))));
        // In the middle of the spread, not of the number of pixels: a small bright object keeps its own colour.
        let middle = (low[0][axis] + low[low.len() - 1][axis]) / 2.0;
        let high = low.split_off(low.partition_point(|pixel| pixel[axis] <= middle));
        boxes.extend([low, high]);
    }
    boxes
}

/// Returns the axis along which the pixels differ most, and by how much.
fn widest(pixels: &[Lab]) -> (usize, f32) {
    let spread = |axis: usize| {
        let parts = pixels.iter().map(|pixel| pixel[axis]);
        let (low, high) =
            parts.fold((f32::MAX, f32::MIN), |(low, high), part| (low.min(part), high.max(part)));
        high - low
    };
    let (mut axis, mut most) = (0, spread(0));
    for other in [1, 2] {
        if spread(other) > most {
            (axis, most) = (other, spread(other));
        }
    }
    (axis, most)
}

/// Returns the indexes of the two nearest groups, and their distance.
fn nearest(groups: &[Group]) -> Option<(usize, usize, f32)> {
    let mut best: Option<(usize, usize, f32)> = None;
    for (a, one) in groups.iter().enumerate() {
        for (b, other) in groups.iter().enumerate().skip(a + 1) {
            let distance = one.mean.iter().zip(other.mean).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
            if best.is_none_or(|(_, _, least)| distance < least) {
                best = Some((a, b, distance));
            }
        }
    }
    best
}

fn to_oklab(rgb: [u8; 3]) -> Lab {
    let [r, g, b] = rgb.map(|part| {
        let part = f32::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

fn from_oklab([lightness, a, b]: Lab) -> [u8; 3] {
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    let linear = [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ];
    linear.map(|part| {
        let part = part.clamp(0.0, 1.0);
        let stored = if part <= 0.003_130_8 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
        byte(stored * 255.0)
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "sums need more precision than colours")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand pixels")]
fn count(pixels: usize) -> f64 {
    pixels as f64
}

/// Returns a key with the order of the numbers, which are not NaN.
fn key(part: f32) -> u32 {
    let bits = part.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    fn colours(image: &RgbImage) -> Vec<String> {
        palette(image).iter().map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}")).collect()
    }

    #[test]
    fn converting_to_oklab_and_back_keeps_colours() {
        for part in (0..=255).step_by(5) {
            for rgb in [[part, 0, 0], [0, part, 255], [part, part, part], [255, 40, part]] {
                assert_eq!(from_oklab(to_oklab(rgb)), rgb);
            }
        }
    }

    #[test]
    fn colours_are_sorted_by_share() {
        let image = RgbImage::from_fn(60, 60, |x, y| {
            Rgb(match (x, y) {
                (0..6, 0..6) => [255, 0, 0],
                (_, 0..20) => [0, 64, 160],
                _ => [240, 230, 210],
            })
        });
        assert_eq!(colours(&image), ["#f0e6d2", "#0040a0", "#ff0000"]);
        assert_eq!(colours(&RgbImage::from_pixel(1, 1, Rgb([1, 2, 3]))), ["#010203"]);
    }

    #[test]
    fn shades_are_merged_and_there_are_at_most_six_colours() {
        let nearly = RgbImage::from_fn(64, 64, |x, _| Rgb([120 + u8::try_from(x % 8).unwrap(), 90, 60]));
        assert_eq!(colours(&nearly).len(), 1);
        let many = RgbImage::from_fn(64, 64, |x, y| {
            let part = |value: u32| u8::try_from(value * 4).unwrap();
            Rgb([part(x), part(y), part((x * y) % 64)])
        });
        let found = colours(&many);
        assert_eq!(found.len(), 6);
        assert_eq!(colours(&many), found);
    }
}
