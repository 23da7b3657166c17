use image::Rgb;
use sha2::{Digest, Sha256};

use super::*;

fn document<'a>(name: &'a str, material: &'a str) -> Document<'a> {
    let field = |name, text, weight| Field { name, texts: vec![text], weight, has_phrases: false };
    let fields = vec![field("material", material, 1.0), field("name", name, 0.15)];
    Document { fields, passages: vec![material], title: name, ..Document::default() }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn assert_of_unit_length(vector: &[f32]) {
    let length = dot(vector, vector);
    assert!((length - 1.0).abs() < 1e-5, "{length}");
}

fn with_weights() -> Option<Encoder> {
    Some(Encoder::open(&EncoderChoice::Weights(kit::weights()?)).unwrap())
}

#[test]
fn the_built_in_encoder_needs_no_files() {
    let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
    assert_eq!(encoder.name(), "loggia-1");
    let picture = RgbImage::from_pixel(40, 30, Rgb([160, 82, 45]));
    assert_eq!(encoder.visual(&picture).unwrap().len(), visual::DIMENSIONS);
    let vector = encoder.semantic(&document("House of oak", "")).unwrap();
    assert_eq!(vector.len(), semantic::DIMENSIONS);
    assert_eq!((visual::DIMENSIONS, semantic::DIMENSIONS), (191, 256), "as documented");
    let refused = encoder.visual(&RgbImage::new(0, 30)).unwrap_err();
    assert_eq!(refused.to_string(), "the picture has no pixels; attach another");
    assert_eq!(encoder.semantic(&document("…", "")), None);
}

#[test]
fn a_picture_is_its_features_with_some_colour_and_layout() {
    let Some(encoder) = with_weights() else { return };
    let picture = RgbImage::from_fn(120, 90, |x, y| Rgb([(x * 2) as u8, (y * 2) as u8, (x ^ y) as u8]));
    let vector = encoder.visual(&picture).unwrap();
    assert_eq!(vector.len(), 1_371);
    assert_of_unit_length(&vector);
    let (features, colours_and_layout) = vector.split_at(efficientnet::FEATURES);
    let shares = [features, colours_and_layout].map(|part| (dot(part, part) * 1_000.0).round());
    assert_eq!(shares, [850.0, 150.0]);
    assert!(encoder.visual(&RgbImage::new(30, 0)).is_err());
    assert_eq!(encoder.visual(&picture).unwrap(), vector, "the same bits");
}

#[test]
fn a_question_finds_documents_in_other_words() {
    let Some(encoder) = with_weights() else { return };
    let model = TextModel::open(&kit::weights().unwrap()).unwrap().unwrap();
    let query = model.query("couple getting married").unwrap();
    assert_eq!(query.known, 1.0);
    assert_of_unit_length(&query.vector);
    let similarity = |name, material| {
        let vector = encoder.semantic(&document(name, material)).unwrap();
        assert_eq!(vector.len(), 512);
        assert_of_unit_length(&vector);
        dot(&query.vector, &vector[256..])
    };
    let wedding = similarity("Bride and groom", "silver print");
    assert!(wedding > similarity("Mine buildings", "silver print") + 0.2);
    assert_eq!(similarity("🙂x🙂", ""), 0.0, "no known word: the words alone");
    assert_eq!(encoder.semantic(&document("…", "")), None);
    assert_eq!(model.query("🙂"), None);
    let foreign = model.query("ein Haus am Wasser").unwrap();
    assert!(foreign.known < UNDERSTOOD, "{}", foreign.known);
}

#[test]
fn the_dot_product_of_mixed_vectors_is_the_weighted_mean() {
    let one = mix(vec![1.0, 0.0], vec![0.6, 0.8], 0.4);
    let other = mix(vec![0.6, 0.8], vec![0.6, 0.8], 0.4);
    assert!((dot(&one, &other) - (0.6 * 0.6 + 0.4 * 1.0)).abs() < 1e-6);
    assert_eq!(
        mix(vec![0.0, 3.0], vec![0.0], 0.4),
        [0.0, 1.0, 0.0],
        "without a second part the first counts alone"
    );
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
    let vector = Encoder::open(&EncoderChoice::BuiltIn).unwrap().visual(&picture).unwrap();
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(data_encoding::HEXLOWER.encode(&Sha256::digest(bytes)[..8]), "bac29c8d53f07906");
}
