use image::Rgb;
use sha2::{Digest, Sha256};

use super::*;

#[test]
fn the_built_in_encoder_needs_no_files() {
    let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
    assert_eq!(encoder.name(), "loggia-1");
    let picture = RgbImage::from_pixel(40, 30, Rgb([160, 82, 45]));
    assert_eq!(encoder.visual(&picture).unwrap().unwrap().len(), visual::DIMENSIONS);
    let name = |text| Field { name: "name", texts: vec![text], weight: 0.15, has_phrases: false };
    let document = |text| Document { fields: vec![name(text)], ..Document::default() };
    let vector = encoder.semantic(&document("House of oak")).unwrap().unwrap();
    assert_eq!(vector.len(), semantic::DIMENSIONS);
    assert_eq!((visual::DIMENSIONS, semantic::DIMENSIONS), (191, 256), "as documented");
    let refused = encoder.visual(&RgbImage::new(0, 30)).unwrap_err();
    assert_eq!(refused.to_string(), "the picture has no pixels; attach another");
    assert_eq!(encoder.semantic(&document("…")).unwrap(), None);
}

#[test]
fn encoders_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Encoder>();
}

/// Recorded vectors are compared with new ones of the same model name, so no bit may change. Only on this platform: mathematical
/// functions differ on others.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_built_in_encoder_is_stable_bit_for_bit_on_a_picture() {
    let picture = RgbImage::from_fn(120, 90, |x, y| Rgb([(x * 2) as u8, (y * 2) as u8, (x ^ y) as u8]));
    let vector = Encoder::open(&EncoderChoice::BuiltIn).unwrap().visual(&picture).unwrap().unwrap();
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(data_encoding::HEXLOWER.encode(&Sha256::digest(bytes)[..8]), "bac29c8d53f07906");
}
