//! Pictures with colour profiles are decoded to the sRGB colours that their profiles define.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat, Rgb, RgbImage};
use moxcms::{
    ColorProfile, DataColorSpace, Layout, LutDataType, LutStore, LutType, LutWarehouse, Matrix3d,
    ProfileClass, RenderingIntent, TransformOptions,
};

use crate::decode;
use kit::samples::{encoded, png_chunk, scene, webp_canvas, webp_chunk, webp_file};

/// Colours within sRGB.
const PATCHES: [[u8; 3]; 4] =
    [[0xdc, 0x28, 0x1e], [0x1e, 0xab, 0x3c], [0x1e, 0x3c, 0xc8], [0xd2, 0xa0, 0x82]];

/// Returns a row of patches of 16 × 16 px.
fn patches(colours: &[[u8; 3]]) -> RgbImage {
    RgbImage::from_fn(16 * u32::try_from(colours.len()).unwrap(), 16, |x, _| {
        Rgb(colours[usize::try_from(x / 16).unwrap()])
    })
}

/// Returns the decoded colours in the middle of each patch, and why the profile was ignored.
fn decoded_patches(bytes: &[u8]) -> (Vec<[u8; 3]>, Option<String>) {
    let decoded = decode(bytes).unwrap();
    let middle = |patch: u32| decoded.pixels.get_pixel(patch * 16 + 8, 8).0;
    ((0..decoded.pixels.width() / 16).map(middle).collect(), decoded.unread_profile)
}

#[track_caller]
fn assert_near(seen: &[[u8; 3]], expected: &[[u8; 3]], what: &str) {
    assert_within(4, seen, expected, what);
}

#[track_caller]
fn assert_within(limit: u8, seen: &[[u8; 3]], expected: &[[u8; 3]], what: &str) {
    let near = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= limit);
    assert!(
        seen.len() == expected.len() && seen.iter().zip(expected).all(near),
        "{what}: {seen:02x?} is not {expected:02x?}"
    );
}

/// Returns the values of sRGB colours in another colour space.
fn values_in(profile: &ColorProfile, colours: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let options = TransformOptions { prefer_fixed_point: false, ..TransformOptions::default() };
    let transform =
        ColorProfile::new_srgb().create_transform_8bit(Layout::Rgb, profile, Layout::Rgb, options).unwrap();
    let from = colours.concat();
    let mut to = vec![0; from.len()];
    transform.transform(&from, &mut to).unwrap();
    to.chunks_exact(3).map(|part| part.try_into().unwrap()).collect()
}

fn encode(mut encoder: impl ImageEncoder, image: &RgbImage, icc: &[u8]) {
    encoder.set_icc_profile(icc.to_vec()).unwrap();
    encoder.write_image(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgb8).unwrap();
}

fn jpeg(image: &RgbImage, icc: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    encode(JpegEncoder::new_with_quality(&mut file, 100), image, icc);
    file
}

fn png(image: &RgbImage, icc: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    encode(PngEncoder::new(&mut file), image, icc);
    file
}

#[test]
fn values_of_wide_colour_spaces_are_converted_by_their_profile() {
    for (name, profile) in [
        ("Adobe RGB", ColorProfile::new_adobe_rgb()),
        ("ProPhoto", ColorProfile::new_pro_photo_rgb()),
        ("Display P3", ColorProfile::new_display_p3()),
    ] {
        let (values, icc) = (values_in(&profile, &PATCHES), profile.encode().unwrap());
        assert!(values[1][0].abs_diff(PATCHES[1][0]) > 20, "{name} has other values: {values:02x?}");
        let image = patches(&values);
        let mut webp = Vec::new();
        encode(WebPEncoder::new_lossless(&mut webp), &image, &icc);
        // JPEG rounds its values, which matters more in a wide space.
        for (format, limit, file) in
            [("PNG", 4, png(&image, &icc)), ("JPEG", 12, jpeg(&image, &icc)), ("WebP", 4, webp)]
        {
            let (seen, unread) = decoded_patches(&file);
            assert_eq!(unread, None);
            assert_within(limit, &seen, &PATCHES, &format!("{name} as {format}"));
        }
    }
}

#[test]
fn an_srgb_profile_changes_no_value() {
    let icc = ColorProfile::new_srgb().encode().unwrap();
    let image = scene(64, 48);
    assert_eq!(decode(&png(&image, &icc)).unwrap().pixels, image);
}

#[test]
fn an_unusable_profile_is_ignored_and_reported() {
    let image = patches(&PATCHES);
    let grey = ColorProfile::new_gray_with_gamma(2.2).encode().unwrap();
    for icc in [b"no profile".to_vec(), grey] {
        let (seen, unread) = decoded_patches(&png(&image, &icc));
        assert_eq!(seen, PATCHES);
        assert!(unread.is_some());
    }
}

#[test]
fn grey_pixels_are_converted_by_a_grey_profile() {
    let icc = ColorProfile::new_gray_with_gamma(1.0).encode().unwrap();
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file);
    encoder.set_icc_profile(icc).unwrap();
    encoder.write_image(&[55; 256], 16, 16, ExtendedColorType::L8).unwrap();
    assert_near(&decoded_patches(&file).0, &[[128; 3]], "a middle grey");
}

#[test]
fn a_png_with_linear_values_is_converted_by_its_gamma() {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        let part = if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        (part * 65_535.0).round() as u16
    };
    let image = patches(&PATCHES);
    let deep = image::ImageBuffer::from_fn(64, 16, |x, y| Rgb(image.get_pixel(x, y).0.map(linear)));
    let plain = encoded(image::DynamicImage::ImageRgb16(deep), ImageFormat::Png);
    let with = |chunks: &[Vec<u8>]| [&plain[..33], &chunks.concat(), &plain[33..]].concat();
    let gamma = |gamma: u32| png_chunk(b"gAMA", &gamma.to_be_bytes());
    assert_near(&decoded_patches(&with(&[gamma(100_000)])).0, &PATCHES, "gAMA 1.0");
    let values = decoded_patches(&plain).0;
    assert!(values[3][0] < 0xb0, "{values:02x?}");
    assert_eq!(decoded_patches(&with(&[gamma(45_455)])).0, values, "the gamma of sRGB");
    assert_eq!(
        decoded_patches(&with(&[png_chunk(b"sRGB", &[0]), gamma(100_000)])).0,
        values,
        "the sRGB chunk takes precedence"
    );
}

/// Returns a profile of four inks with these colours, in 8-bit Lab, for none or all of each ink.
fn cmyk_profile(corner: impl Fn([bool; 4]) -> [u8; 3]) -> Vec<u8> {
    let corners = (0..16_u8).flat_map(|at| corner([8, 4, 2, 1].map(|ink| at & ink != 0)));
    let ramp = [0, u16::MAX];
    let lut = LutDataType {
        num_input_channels: 4,
        num_output_channels: 3,
        num_clut_grid_points: 2,
        matrix: Matrix3d::IDENTITY,
        num_input_table_entries: 2,
        num_output_table_entries: 2,
        input_table: LutStore::Store16(ramp.repeat(4)),
        clut_table: LutStore::Store16(corners.map(|part| u16::from(part) << 8).collect()),
        output_table: LutStore::Store16(ramp.repeat(3)),
        lut_type: LutType::Lut16,
    };
    let mut profile = ColorProfile::default();
    profile.pcs = DataColorSpace::Lab;
    profile.color_space = DataColorSpace::Cmyk;
    profile.profile_class = ProfileClass::OutputDevice;
    profile.rendering_intent = RenderingIntent::Perceptual;
    profile.white_point = ColorProfile::new_srgb().white_point;
    profile.lut_a_to_b_perceptual = Some(LutWarehouse::Lut(lut));
    profile.encode().unwrap()
}

/// Returns a JPEG of four components with a row of blocks of 8 × 8 px, marked as by Adobe's programs.
fn cmyk_jpeg(blocks: &[[u8; 4]], icc: &[u8]) -> Vec<u8> {
    four_component_jpeg(0, blocks, icc)
}

/// As [`cmyk_jpeg`], with the transform in the marker of Adobe's programs: 0 for CMYK, 2 for YCCK.
fn four_component_jpeg(transform: u8, blocks: &[[u8; 4]], icc: &[u8]) -> Vec<u8> {
    let segment = |marker: u8, data: &[u8]| {
        let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
        [&[0xff, marker], &length[..], data].concat()
    };
    let width = u8::try_from(blocks.len() * 8).unwrap();
    // Codes of four bits for the lengths 0 to 11; one code, of one bit, for the end of a block.
    let lengths: Vec<u8> = (0..12).collect();
    let dc = [&[0x00, 0, 0, 0, 12][..], &[0; 12], &lengths].concat();
    let ac = [&[0x10, 1][..], &[0; 15], &[0]].concat();
    let components: Vec<u8> = (1..=4).flat_map(|component| [component, 0x11, 0]).collect();
    let mut bits = String::new();
    let mut before = [0_i32; 4];
    for block in blocks {
        for (part, before) in block.iter().zip(&mut before) {
            let level = (i32::from(*part) - 128) * 8;
            let change = level - std::mem::replace(before, level);
            let length = 32 - change.unsigned_abs().leading_zeros();
            bits.push_str(&format!("{length:04b}"));
            if length > 0 {
                let coded = if change < 0 { change + (1 << length) - 1 } else { change };
                bits.push_str(&format!("{coded:0width$b}", width = length as usize));
            }
            bits.push('0');
        }
    }
    bits.push_str(&"1".repeat((8 - bits.len() % 8) % 8));
    let mut scan = Vec::new();
    for byte in bits.as_bytes().chunks(8) {
        let byte = u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap();
        scan.push(byte);
        scan.extend((byte == 0xff).then_some(0));
    }
    [
        vec![0xff, 0xd8],
        segment(0xee, &[&b"Adobe\0\x64\0\0\0\0"[..], &[transform]].concat()),
        segment(0xe2, &[b"ICC_PROFILE\0\x01\x01", icc].concat()),
        segment(0xdb, &[&[0][..], &[1; 64]].concat()),
        segment(0xc0, &[&[8, 0, 8, 0, width, 4][..], &components].concat()),
        segment(0xc4, &dc),
        segment(0xc4, &ac),
        segment(0xda, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]),
        scan,
        vec![0xff, 0xd9],
    ]
    .concat()
}

/// Returns a profile of four inks.
fn four_inks() -> Vec<u8> {
    cmyk_profile(|ink| match ink {
        [false, false, false, false] => [250, 128, 128],
        [true, false, false, false] => [178, 145, 153],
        [false, true, false, false] => [128, 180, 160],
        [_, _, _, true] => [40, 128, 128],
        _ => [95, 138, 90],
    })
}

#[test]
fn inks_are_converted_by_their_profile() {
    let icc = four_inks();
    assert!(icc.len() < 4_096, "{}", icc.len());
    // 255 is no ink.
    let blocks = [[255; 4], [0, 255, 255, 255], [255, 0, 255, 255], [0, 0, 255, 255]];
    let twice: Vec<_> = blocks.iter().flat_map(|block| [*block; 2]).collect();
    let file = cmyk_jpeg(&twice, &icc);
    let decoded = decode(&file).unwrap();
    let middle = |patch: u32| decoded.pixels.get_pixel(patch * 16 + 8, 4).0;
    assert_eq!(decoded.unread_profile, None);
    assert_near(
        &[0, 1, 2, 3].map(middle),
        &[[249; 3], [211, 159, 126], [203, 74, 69], [72, 84, 149]],
        "four inks",
    );
    // Without a profile the decoder converts them.
    let plain = decode(&cmyk_jpeg(&twice, b"no profile")).unwrap();
    assert_eq!(plain.pixels.get_pixel(24, 4).0, [0, 255, 255]);
}

#[test]
fn inks_stored_as_luma_and_chroma_give_the_same_colours() {
    let icc = four_inks();
    // Inverted inks: 255 is none. YCCK is the YCbCr of the red, green and blue that the first three are read as.
    let inks = [[255; 4], [40, 200, 120, 255], [200, 60, 90, 180]];
    let ycck = inks.map(|[c, m, y, k]| {
        let [red, green, blue] = [c, m, y].map(|ink: u8| 255.0 - f32::from(ink));
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue;
        [luma, 128.0 + 0.564_334 * (blue - luma), 128.0 + 0.713_267 * (red - luma)]
            .map(|part| part.round() as u8)
            .into_iter()
            .chain([k])
            .collect::<Vec<u8>>()
            .try_into()
            .unwrap()
    });
    let colours = |file: &[u8]| {
        let decoded = decode(file).unwrap();
        assert_eq!(decoded.unread_profile, None);
        [4, 12, 20].map(|x| decoded.pixels.get_pixel(x, 4).0)
    };
    let (direct, transformed) = (cmyk_jpeg(&inks, &icc), four_component_jpeg(2, &ycck, &icc));
    assert_near(&colours(&transformed), &colours(&direct), "YCCK");
}

#[test]
fn the_code_points_of_a_png_take_precedence_over_gamma_and_profile() {
    let p3 = ColorProfile::new_display_p3();
    let gamma = png_chunk(b"gAMA", &100_000_u32.to_be_bytes());
    let coded = |colours: &[[u8; 3]], codes: [u8; 4]| {
        let plain = encoded(image::DynamicImage::ImageRgb8(patches(colours)), ImageFormat::Png);
        decoded_patches(&[&plain[..33], &png_chunk(b"cICP", &codes), &gamma, &plain[33..]].concat())
    };
    assert_eq!(coded(&PATCHES, [1, 13, 0, 1]), (PATCHES.to_vec(), None), "sRGB");
    assert_eq!(coded(&PATCHES, [1, 1, 0, 1]), (PATCHES.to_vec(), None), "BT.709");
    let (wide, unread) = coded(&values_in(&p3, &PATCHES), [12, 13, 0, 1]);
    assert_eq!(unread, None);
    assert_near(&wide, &PATCHES, "Display P3");
    for (codes, reason) in [
        ([9, 16, 0, 1], "its cICP chunk names HDR (PQ or HLG), which is not converted"),
        ([1, 13, 0, 0], "its cICP chunk does not name red, green and blue in full range"),
        ([2, 13, 0, 1], "its cICP chunk names no known primaries or curve"),
        ([1, 200, 0, 1], "its cICP chunk names no known primaries or curve"),
    ] {
        assert_eq!(coded(&PATCHES, codes), (PATCHES.to_vec(), Some(reason.to_owned())), "{codes:?}");
    }
    // HDR with a profile for programs that do not support it.
    let mut file = Vec::new();
    let values = patches(&values_in(&p3, &PATCHES));
    encode(PngEncoder::new(&mut file), &values, &p3.encode().unwrap());
    let file = [&file[..33], &png_chunk(b"cICP", &[9, 16, 0, 1]), &file[33..]].concat();
    let (fallback, unread) = decoded_patches(&file);
    assert_eq!(unread, None);
    assert_near(&fallback, &PATCHES, "the profile beside HDR");
}

#[test]
fn the_orientation_is_applied_wherever_it_is_stored() {
    let entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0];
    let exif = [b"II*\0\x08\0\0\0\x01\0", &entry[..], &[0; 4]].concat();
    let plain = encoded(scene(30, 20), ImageFormat::Png);
    let (pixels, end) = plain.split_at(plain.len() - 12);
    let after = [pixels, &png_chunk(b"eXIf", &exif), end].concat();
    let webp = encoded(scene(30, 20), ImageFormat::WebP);
    let prefixed = [b"Exif\0\0", &exif[..]].concat();
    let canvas = webp_canvas(0b1000, 30, 20);
    let extended = webp_file(&[canvas, webp[12..].to_vec(), webp_chunk(b"EXIF", &prefixed)]);
    for (what, file) in [("after the pixels of a PNG", after), ("with a prefix in a WebP", extended)] {
        assert_eq!(decode(&file).unwrap().pixels.dimensions(), (20, 30), "{what}");
    }
}
