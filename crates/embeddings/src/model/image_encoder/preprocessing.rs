//! Scales, crops and normalises pictures as `preprocessor_config.json` says.

use std::path::Path;

use image::RgbImage;
use image::imageops::{self, FilterType};
use ndarray::Array2;
use serde::Deserialize;

use super::super::super::EncoderError;
use super::super::files::{Digest, ModelFolder, malformed};
use super::CHANNELS;

pub(super) const FILE: &str = "preprocessor_config.json";
/// The most pixels per side of a model input.
const MAX_SIDE: u32 = 2048;

#[derive(Deserialize)]
struct Config {
    size: Size,
    #[serde(default)]
    do_center_crop: bool,
    crop_size: Option<Size>,
    image_mean: [f32; CHANNELS],
    image_std: [f32; CHANNELS],
    /// A filter by its number in the Python Imaging Library.
    resample: Option<u8>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Size {
    Side(u32),
    Sides { height: u32, width: u32 },
    Shortest { shortest_edge: u32 },
}

/// The steps applied to every picture.
#[derive(Debug)]
pub(super) struct Preprocessor {
    /// The shorter side in pixels before the centre crop; `None` scales the whole picture without a crop.
    shortest: Option<u32>,
    width: u32,
    height: u32,
    filter: FilterType,
    mean: [f32; CHANNELS],
    deviation: [f32; CHANNELS],
}

impl Preprocessor {
    pub(super) fn read(folder: &ModelFolder, digest: &mut Digest) -> Result<Preprocessor, EncoderError> {
        let config: Config = folder.json(FILE, digest)?;
        Preprocessor::of(&config, &folder.file(FILE))
    }

    fn of(config: &Config, file: &Path) -> Result<Preprocessor, EncoderError> {
        let scaled = match (config.size, config.do_center_crop) {
            (Size::Side(edge), true) | (Size::Shortest { shortest_edge: edge }, _) => Err(edge),
            (Size::Side(side), false) => Ok((side, side)),
            (Size::Sides { height, width }, _) => Ok((width, height)),
        };
        let cropped = config.crop_size.filter(|_| config.do_center_crop);
        let (shortest, (width, height)) = match (scaled, cropped) {
            (Ok(sides), _) => (None, sides),
            (Err(edge), None) => (Some(edge), (edge, edge)),
            (Err(edge), Some(Size::Side(side) | Size::Shortest { shortest_edge: side })) => {
                (Some(edge), (side, side))
            }
            (Err(edge), Some(Size::Sides { height, width })) => (Some(edge), (width, height)),
        };
        let sides = [width, height, shortest.unwrap_or(width)];
        if sides.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(malformed(
                file,
                format!("asks for {width} x {height} pixels; 1 to {MAX_SIDE} can be made"),
            ));
        }
        if shortest.is_some_and(|edge| edge < width.max(height)) {
            return Err(malformed(file, "cuts out more than it leaves; crop_size must not exceed size"));
        }
        if config.image_std.iter().chain(&config.image_mean).any(|n| !n.is_finite())
            || config.image_std.contains(&0.0)
        {
            return Err(malformed(file, "has an image_std of 0, which nothing can be divided by"));
        }
        let filter = match config.resample {
            Some(0) => FilterType::Nearest,
            Some(1) => FilterType::Lanczos3,
            Some(2) => FilterType::Triangle,
            _ => FilterType::CatmullRom,
        };
        let (mean, deviation) = (config.image_mean, config.image_std);
        Ok(Preprocessor { shortest, width, height, filter, mean, deviation })
    }

    /// Returns rows and columns of patches with this number of pixels per side.
    pub(super) fn grid(&self, patch: usize) -> [usize; 2] {
        [self.height as usize / patch, self.width as usize / patch]
    }

    /// Returns the normalised channels red, green and blue of a picture that has pixels.
    pub(super) fn pixels(&self, picture: &RgbImage) -> [Array2<f32>; CHANNELS] {
        let (left, top, width, height) = self.crop(picture.width(), picture.height());
        // Cropped before scaling: scaling a long strip first could take gigabytes.
        let cropped = imageops::crop_imm(picture, left, top, width, height);
        let small = imageops::resize(&*cropped, self.width, self.height, self.filter);
        std::array::from_fn(|channel| {
            Array2::from_shape_fn((self.height as usize, self.width as usize), |(row, column)| {
                let level = f32::from(small.get_pixel(column as u32, row as u32).0[channel]) / 255.0;
                (level - self.mean[channel]) / self.deviation[channel]
            })
        })
    }

    /// Returns the centre crop: left, top, width and height in pixels of the picture.
    fn crop(&self, width: u32, height: u32) -> (u32, u32, u32, u32) {
        let Some(shortest) = self.shortest else { return (0, 0, width, height) };
        let scale = f64::from(width.min(height)) / f64::from(shortest);
        let visible = |side: u32, limit: u32| ((f64::from(side) * scale).round() as u32).clamp(1, limit);
        let (crop_width, crop_height) = (visible(self.width, width), visible(self.height, height));
        ((width - crop_width) / 2, (height - crop_height) / 2, crop_width, crop_height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Preprocessor, EncoderError> {
        let rest = r#", "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.25]}"#;
        Preprocessor::of(&serde_json::from_str(&format!("{json}{rest}")).unwrap(), Path::new(FILE))
    }

    #[test]
    fn all_forms_of_size_are_read() {
        let sides = |json| read(json).map(|read| (read.shortest, read.width, read.height)).unwrap();
        assert_eq!(sides(r#"{"size": 224"#), (None, 224, 224));
        assert_eq!(sides(r#"{"size": {"height": 32, "width": 48}"#), (None, 48, 32));
        assert_eq!(sides(r#"{"size": 224, "crop_size": 200, "do_center_crop": true"#), (Some(224), 200, 200));
        let dinov2 = r#"{"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}, "do_center_crop": true"#;
        assert_eq!(sides(dinov2), (Some(256), 224, 224));
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for json in
            [r#"{"size": 0"#, r#"{"size": 50000"#, r#"{"size": 64, "crop_size": 65, "do_center_crop": true"#]
        {
            assert!(read(json).unwrap_err().to_string().starts_with(FILE), "{json}");
        }
    }

    #[test]
    fn the_centre_is_cropped_and_normalised() {
        let preprocessor =
            read(r#"{"size": {"shortest_edge": 8}, "crop_size": 4, "do_center_crop": true"#).unwrap();
        assert_eq!(preprocessor.crop(80, 8_000), (20, 3_980, 40, 40));
        let picture = RgbImage::from_pixel(1, 900, image::Rgb([255, 0, 255]));
        let channels = preprocessor.pixels(&picture);
        assert_eq!(channels.each_ref().map(|channel| channel[[3, 3]]), [1.0, -1.0, 2.0]);
        assert_eq!(channels[0].dim(), (4, 4));
    }
}
