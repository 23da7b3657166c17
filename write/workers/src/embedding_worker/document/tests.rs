use data_encoding::HEXLOWER;
use embeddings::{Encoder, EncoderChoice};
use schemas::record::{Category, PictureSource, Provenance};
use schemas::taste::Taste;
use sha2::{Digest, Sha256};

use super::*;

/// Returns the semantic vector of the built-in encoder.
fn vector(record: &Record) -> Option<Vec<f32>> {
    Encoder::open(&EncoderChoice::BuiltIn).unwrap().semantic(&document(record))
}

/// A record with a name and nothing else.
fn named(name: &str) -> Record {
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

fn with_taste(material: &str, light: &str, mood: &str) -> Record {
    let mut record = named("");
    for (dimension, text) in
        [(Dimension::Material, material), (Dimension::Light, light), (Dimension::Mood, mood)]
    {
        record.taste.set(dimension, Some(text.to_owned()));
    }
    record
}

fn cosine(one: &Record, other: &Record) -> f32 {
    let (one, other) = (vector(one).unwrap(), vector(other).unwrap());
    one.iter().zip(&other).map(|(a, b)| a * b).sum()
}

#[test]
fn numbers_are_finite_and_of_unit_length() {
    let mut long = with_taste("pale oak, lime plaster", "low dusk light", "calm");
    long.description = Some("Oak boards run the length of the hall. ".repeat(1_200));
    for record in [named("ash"), named("Haus zur Eiche"), named("木"), named("1968"), long] {
        let numbers = vector(&record).unwrap();
        assert_eq!(numbers.len(), 256);
        let length: f32 = numbers.iter().map(|n| n * n).sum();
        assert!(numbers.iter().all(|n| n.is_finite()) && (length - 1.0).abs() < 1e-5, "{length}");
    }
}

#[test]
fn taste_in_another_order_is_nearer_than_a_shared_studio() {
    let mut first = with_taste("oak, plaster", "dusk light from the west", "calm");
    let mut second = with_taste("plaster and oak", "western light, dusk", "a calm room");
    let mut third = with_taste("steel, glass", "neon after midnight", "restless");
    (first.name, second.name, third.name) = ("Alder House".into(), "Flat 9".into(), "Alder Bar".into());
    first.studio = Some("Nordqvist Okafor Partners".to_owned());
    third.studio.clone_from(&first.studio);
    let (taste, studio) = (cosine(&first, &second), cosine(&first, &third));
    assert!(taste > 0.6 && taste > studio + 0.3, "taste {taste}, studio {studio}");
}

/// Hash collisions move single words as much as another dimension does, so this is the mean of many.
#[test]
fn a_word_has_most_weight_in_its_own_dimension() {
    let words = [
        "oak", "slate", "linen", "brass", "clay", "cork", "felt", "granite", "lime", "marble", "paper", "wax",
    ];
    let mean = |material: fn(&str) -> Record| {
        words.iter().map(|word| cosine(&with_taste(word, "dusk", "calm"), &material(word))).sum::<f32>()
            / words.len() as f32
    };
    let same = mean(|word| with_taste(word, "noon", "loud"));
    let elsewhere = mean(|word| with_taste("iron", word, "loud"));
    let nowhere = mean(|_| with_taste("iron", "noon", "loud"));
    assert!(same > elsewhere + 0.1 && elsewhere > nowhere + 0.02, "{same}, {elsewhere}, {nowhere}");
}

#[test]
fn adjacent_words_have_more_weight_than_separate_ones() {
    let of = |material| with_taste(material, "dusk", "calm");
    let pale_oak = of("pale oak, dark slate");
    assert!(cosine(&pale_oak, &of("dark slate, pale oak")) > cosine(&pale_oak, &of("dark oak, pale slate")));
}

#[test]
fn a_long_text_does_not_outweigh_taste() {
    let mut first = with_taste("oak", "dusk", "calm");
    let mut second = with_taste("oak", "dusk", "calm");
    let mut third = with_taste("steel", "neon", "restless");
    let text =
        "The stair turns twice before the landing, where a window looks over the harbour and the cranes.";
    first.description = Some(text.to_owned());
    third.description = Some(text.to_owned());
    second.description =
        Some("Nine tables, a counter of one plank, and a kitchen behind a curtain.".to_owned());
    assert!(cosine(&first, &second) > cosine(&first, &third) + 0.2);
}

#[test]
fn accents_fold_and_other_scripts_match() {
    let of = |text: &str| with_taste(text, text, text);
    assert!(cosine(&of("béton brut"), &of("Beton Brut")) > 0.999);
    let temple = of("古い木造の寺");
    assert!(cosine(&temple, &of("木造の寺院")) > cosine(&temple, &of("鉄骨の工場")) + 0.2);
}

#[test]
fn texts_without_common_words_are_far_apart() {
    let (one, other) = (with_taste("oak", "dusk", "calm"), with_taste("steel", "neon", "restless"));
    let mut photograph = other.clone();
    photograph.category = Category::Photography;
    assert!(cosine(&one, &photograph) < 0.2, "{}", cosine(&one, &photograph));
    assert!(cosine(&one, &other) > cosine(&one, &photograph), "the category has a small weight");
}

#[test]
fn a_record_without_words_has_no_vector() {
    assert_eq!(vector(&named("")), None);
    assert_eq!(vector(&named(" — … the of")), None);
    let mut record = named("");
    record.pictures.push(PictureSource::of("oak.webp"));
    assert_eq!(vector(&record), None, "the name of a picture file is not read");
    record.pictures[0].alt = Some("An oak door".to_owned());
    assert!(vector(&record).is_some());
}

#[test]
fn a_name_alone_is_enough_to_compare() {
    let (oak, door, steel) = (named("Oak House"), named("A house in oak"), named("Steel Tower"));
    assert!(cosine(&oak, &door) > cosine(&oak, &steel));
}

#[test]
fn the_same_record_has_the_same_vector() {
    let record = with_taste("pale oak, lime plaster", "low dusk light", "calm");
    assert_eq!(vector(&record), vector(&record.clone()));
}

/// A record with every field that is read.
fn complete() -> Record {
    serde_json::from_value(serde_json::json!({
        "name": "House above the harbour", "studio": "Nordqvist Okafor", "city": "Göteborg", "category": "architecture",
        "intro": "A house on a slope.", "description": "The stair turns twice before the landing. 木造の寺 béton brut.",
        "design_language": "quiet brick, long roofs",
        "details": [{"label": "Area", "value": "140 m²"}, {"label": "Client", "value": "Private"}],
        "taste": {
            "material": "pale oak, lime plaster", "light": "low western light at dusk", "color": "chalk and ochre",
            "mood": "calm, unhurried", "composition": "one long room", "subject": "house"
        },
        "pictures": [{"source": "a.png", "alt": "An oak door"}, {"source": "b.png"}]
    }))
    .unwrap()
}

#[test]
fn the_meaning_is_that_of_taste_texts_and_name() {
    let record = complete();
    let document = document(&record);
    let expected = [
        "pale oak, lime plaster",
        "low western light at dusk",
        "chalk and ochre",
        "calm, unhurried",
        "one long room",
        "house",
        "quiet brick, long roofs",
        "A house on a slope.",
        "The stair turns twice before the landing. 木造の寺 béton brut.",
    ];
    assert_eq!(document.passages, expected);
    assert_eq!(document.title, "House above the harbour");
}

/// Recorded vectors are compared with new ones of the same model name, so no bit may change. Only on this platform: mathematical
/// functions differ on others.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_built_in_encoder_is_stable_bit_for_bit_on_a_record() {
    let bytes: Vec<u8> =
        vector(&complete()).unwrap().iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(HEXLOWER.encode(&Sha256::digest(bytes)[..8]), "7d06e21dd2c80fa2");
}
