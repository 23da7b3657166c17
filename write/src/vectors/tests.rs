use schemas::record::{Category, Provenance, Taste};

use super::*;

/// A record of which nothing is known but its name.
pub(super) fn named(name: &str) -> Record {
    Record {
        name: name.to_owned(),
        studio: None,
        city: None,
        year: None,
        category: Category::Interiors,
        intro: None,
        description: None,
        design_language: None,
        details: Vec::new(),
        published: None,
        thumbnail: None,
        url: None,
        citation_url: None,
        provenance: Provenance::default(),
        taste: Taste::default(),
        pictures: Vec::new(),
    }
}

#[test]
fn the_built_in_encoder_needs_nothing() {
    let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
    assert_eq!(encoder.name(), "loggia-1");
    let picture = RgbImage::from_pixel(40, 30, image::Rgb([160, 82, 45]));
    assert_eq!(encoder.visual(&picture).unwrap().unwrap().as_slice().len(), visual::DIMENSIONS);
    assert_eq!(
        encoder.semantic(&named("House of oak")).unwrap().unwrap().as_slice().len(),
        semantic::DIMENSIONS
    );
    assert_eq!((visual::DIMENSIONS, semantic::DIMENSIONS), (191, 256), "the documentation says so");
    let refused = encoder.visual(&RgbImage::new(0, 30)).unwrap_err();
    assert_eq!(refused.to_string(), "the picture has no pixels; attach another");
    assert_eq!(encoder.semantic(&named("…")).unwrap(), None);
}

#[test]
fn encoders_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Encoder>();
}
