//! Colour management: converts the values of a picture by its profile to sRGB, in which thumbnails and palettes are.

use std::sync::Arc;

use image::{DynamicImage, RgbImage};
use moxcms::{
    Chromaticity, CicpColorPrimaries, CicpProfile, CmsError, ColorPrimaries, ColorProfile, DataColorSpace,
    Layout, MatrixCoefficients, ToneReprCurve, TransferCharacteristics, TransformExecutor, TransformOptions,
    XyY,
};

/// The number of pixels that are converted at once; bounds the memory beside the picture.
const STRIPE: usize = 1 << 14;
/// A profile that changes no colour by more than this, of 255, counts as sRGB: the values stay unchanged.
const SRGB_TOLERANCE: u8 = 2;
/// The gamma of sRGB as PNG stores it (1/2.2), and the difference up to which the values stay unchanged.
const SRGB_GAMMA: (f32, f32) = (0.454_55, 0.01);

/// The colour profile of a picture; never sRGB.
pub(super) struct Profile(ColorProfile);

impl Profile {
    /// Parses an ICC profile; `None` if it is sRGB.
    pub(super) fn of_icc(icc: &[u8]) -> Result<Option<Profile>, String> {
        let profile = ColorProfile::new_from_slice(icc).map_err(|error| error.to_string())?;
        Ok(Some(Profile(profile)).filter(|profile| !profile.is_srgb()))
    }

    /// Returns the profile of code points of H.273: primaries, transfer function, matrix and range; `None` if that is sRGB.
    /// The reason if it cannot be converted: it is HDR, not RGB in full range, or the code points are unknown.
    pub(super) fn of_codes([primaries, curve, matrix, range]: [u8; 4]) -> Result<Option<Profile>, String> {
        let unusable = |why: &str| Err(format!("its cICP chunk {why}"));
        if (matrix, range) != (0, 1) {
            return unusable("does not name red, green and blue in full range");
        }
        let curve = match curve {
            // Screens show the transfer functions of video cameras like that of sRGB.
            1 | 6 | 14 | 15 => TransferCharacteristics::Srgb,
            16 | 18 => return unusable("names HDR (PQ or HLG), which is not converted"),
            code => TransferCharacteristics::try_from(code).unwrap_or(TransferCharacteristics::Reserved),
        };
        let primaries = CicpColorPrimaries::try_from(primaries).unwrap_or(CicpColorPrimaries::Reserved);
        if matches!(primaries, CicpColorPrimaries::Reserved | CicpColorPrimaries::Unspecified)
            || matches!(curve, TransferCharacteristics::Reserved | TransferCharacteristics::Unspecified)
        {
            return unusable("names no known primaries or curve");
        }
        let profile = ColorProfile::new_from_cicp(CicpProfile {
            color_primaries: primaries,
            transfer_characteristics: curve,
            matrix_coefficients: MatrixCoefficients::Identity,
            full_range: true,
        });
        Ok(Some(Profile(profile)).filter(|profile| !profile.is_srgb()))
    }

    /// Returns the profile of a gamma, such as 1/2.2, and optionally the chromaticities of white and primaries; `None` if that is sRGB.
    pub(super) fn of_gamma(gamma: f32, primaries: Option<[[f32; 2]; 4]>) -> Option<Profile> {
        let (srgb, tolerance) = SRGB_GAMMA;
        let is_srgb_gamma = (gamma - srgb).abs() <= tolerance;
        if !(0.05..=10.0).contains(&gamma) || is_srgb_gamma && primaries.is_none() {
            return None;
        }
        let mut profile = ColorProfile::new_srgb();
        if let Some([white, red, green, blue]) = primaries {
            let at = |[x, y]: [f32; 2]| Chromaticity::new(x, y);
            let white = XyY::new(f64::from(white[0]), f64::from(white[1]), 1.0);
            profile.update_rgb_colorimetry(
                white,
                ColorPrimaries { red: at(red), green: at(green), blue: at(blue) },
            );
        }
        profile.cicp = None;
        if !is_srgb_gamma {
            let curve = Some(ToneReprCurve::Parametric(vec![1.0 / gamma]));
            (profile.red_trc, profile.green_trc, profile.blue_trc) = (curve.clone(), curve.clone(), curve);
        }
        Some(Profile(profile)).filter(|profile| !profile.is_srgb())
    }

    /// Returns whether the profile is for four inks.
    pub(super) fn is_cmyk(&self) -> bool {
        self.0.color_space == DataColorSpace::Cmyk
    }

    /// Returns the picture in sRGB, with transparent pixels on white.
    pub(super) fn to_srgb(&self, image: &DynamicImage) -> Result<RgbImage, String> {
        let (width, height) = (image.width(), image.height());
        let is_grey = self.0.color_space == DataColorSpace::Gray;
        let rgb = match image {
            DynamicImage::ImageRgb8(image) if !is_grey => {
                self.bytes(image.as_raw(), Layout::Rgb, Layout::Rgb)
            }
            DynamicImage::ImageRgba8(image) if !is_grey => {
                self.bytes(image.as_raw(), Layout::Rgba, Layout::Rgba)
            }
            DynamicImage::ImageRgb16(image) if !is_grey => {
                self.words(image.as_raw(), Layout::Rgb, Layout::Rgb)
            }
            DynamicImage::ImageRgba16(image) if !is_grey => {
                self.words(image.as_raw(), Layout::Rgba, Layout::Rgba)
            }
            DynamicImage::ImageLuma8(image) if is_grey => {
                self.bytes(image.as_raw(), Layout::Gray, Layout::Rgb)
            }
            DynamicImage::ImageLumaA8(image) if is_grey => {
                self.bytes(image.as_raw(), Layout::GrayAlpha, Layout::Rgba)
            }
            DynamicImage::ImageLuma16(image) if is_grey => {
                self.words(image.as_raw(), Layout::Gray, Layout::Rgb)
            }
            DynamicImage::ImageLumaA16(image) if is_grey => {
                self.words(image.as_raw(), Layout::GrayAlpha, Layout::Rgba)
            }
            // A profile for colours is applied to grey pixels as RGB with equal components.
            DynamicImage::ImageLuma8(_) => return self.to_srgb(&DynamicImage::ImageRgb8(image.to_rgb8())),
            DynamicImage::ImageLumaA8(_) => return self.to_srgb(&DynamicImage::ImageRgba8(image.to_rgba8())),
            DynamicImage::ImageLuma16(_) => return self.to_srgb(&DynamicImage::ImageRgb16(image.to_rgb16())),
            DynamicImage::ImageLumaA16(_) => {
                return self.to_srgb(&DynamicImage::ImageRgba16(image.to_rgba16()));
            }
            _ => Err(CmsError::InvalidProfile),
        };
        let rgb = rgb.map_err(|error| error.to_string())?;
        RgbImage::from_raw(width, height, rgb).ok_or_else(|| "its pixels cannot be converted".to_owned())
    }

    /// Returns the pixels of four inks, each from 0 to 255 for the maximum, in sRGB.
    pub(super) fn inks_to_srgb(&self, inks: &[u8]) -> Result<Vec<u8>, String> {
        self.bytes(inks, Layout::Rgba, Layout::Rgb).map_err(|error| error.to_string())
    }

    fn bytes(&self, from: &[u8], layout: Layout, to: Layout) -> Result<Vec<u8>, CmsError> {
        let transform =
            self.0.create_transform_8bit(layout, &ColorProfile::new_srgb(), to, options(&self.0))?;
        converted(from, layout.channels(), to.channels(), &transform, |part| part)
    }

    fn words(&self, from: &[u16], layout: Layout, to: Layout) -> Result<Vec<u8>, CmsError> {
        let transform =
            self.0.create_transform_16bit(layout, &ColorProfile::new_srgb(), to, options(&self.0))?;
        converted(from, layout.channels(), to.channels(), &transform, |part| {
            u8::try_from((u32::from(part) + 128) / 257).unwrap_or(u8::MAX)
        })
    }

    /// Returns whether the profile changes no colour, by samples all over the RGB cube.
    fn is_srgb(&self) -> bool {
        if self.0.color_space != DataColorSpace::Rgb {
            return false;
        }
        let steps: Vec<u8> = (0..=8_u8).map(|step| step.saturating_mul(32)).collect();
        let mut probe = Vec::with_capacity(9 * 9 * 9 * 3);
        for red in &steps {
            for green in &steps {
                steps.iter().for_each(|blue| probe.extend([*red, *green, *blue]));
            }
        }
        let is_same = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= SRGB_TOLERANCE;
        self.bytes(&probe, Layout::Rgb, Layout::Rgb)
            .is_ok_and(|converted| converted.iter().zip(&probe).all(is_same))
    }
}

fn options(profile: &ColorProfile) -> TransformOptions {
    TransformOptions {
        rendering_intent: profile.rendering_intent,
        prefer_fixed_point: false,
        ..TransformOptions::default()
    }
}

/// Converts stripe by stripe; transparent pixels are put on white.
fn converted<V: Copy + Default>(
    from: &[V],
    channels: usize,
    converted_channels: usize,
    transform: &Arc<dyn TransformExecutor<V> + Send + Sync>,
    narrow: fn(V) -> u8,
) -> Result<Vec<u8>, CmsError> {
    let mut rgb = vec![0; from.len() / channels * 3];
    let mut stripe = vec![V::default(); STRIPE * converted_channels];
    for (from, to) in from.chunks(STRIPE * channels).zip(rgb.chunks_mut(STRIPE * 3)) {
        let stripe = &mut stripe[..from.len() / channels * converted_channels];
        transform.transform(from, stripe)?;
        for (pixel, to) in stripe.chunks_exact(converted_channels).zip(to.chunks_exact_mut(3)) {
            let alpha = pixel.get(3).map_or(u8::MAX, |alpha| narrow(*alpha));
            for (part, to) in pixel.iter().zip(to) {
                *to = super::on_white(narrow(*part), alpha);
            }
        }
    }
    Ok(rgb)
}
