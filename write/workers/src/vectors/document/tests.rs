use data_encoding::HEXLOWER;
use embeddings::{Encoder, EncoderChoice};
use schemas::record::{Category, PictureSource, Provenance};
use sha2::{Digest, Sha256};

use super::*;

/// What the built-in encoder gives for a record.
fn numbers(record: &Record) -> Option<Vec<f32>> {
    Encoder::open(&EncoderChoice::BuiltIn).unwrap().semantic(&document(record)).unwrap()
}

/// A record of which nothing is known but its name.
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

fn told(material: &str, light: &str, mood: &str) -> Record {
    let mut record = named("");
    record.taste.material = Some(material.to_owned());
    record.taste.light = Some(light.to_owned());
    record.taste.mood = Some(mood.to_owned());
    record
}

fn cosine(one: &Record, other: &Record) -> f32 {
    let (one, other) = (numbers(one).unwrap(), numbers(other).unwrap());
    one.iter().zip(&other).map(|(a, b)| a * b).sum()
}

#[test]
fn numbers_are_finite_and_of_unit_length() {
    let mut long = told("pale oak, lime plaster", "low dusk light", "calm");
    long.description = Some("Oak boards run the length of the hall. ".repeat(1_200));
    for record in [named("ash"), named("Haus zur Eiche"), named("木"), named("1968"), long] {
        let numbers = numbers(&record).unwrap();
        assert_eq!(numbers.len(), 256);
        let length: f32 = numbers.iter().map(|n| n * n).sum();
        assert!(numbers.iter().all(|n| n.is_finite()) && (length - 1.0).abs() < 1e-5, "{length}");
    }
}

#[test]
fn taste_in_another_order_is_nearer_than_a_shared_studio() {
    let mut first = told("oak, plaster", "dusk light from the west", "calm");
    let mut second = told("plaster and oak", "western light, dusk", "a calm room");
    let mut third = told("steel, glass", "neon after midnight", "restless");
    (first.name, second.name, third.name) = ("Alder House".into(), "Flat 9".into(), "Alder Bar".into());
    first.studio = Some("Nordqvist Okafor Partners".to_owned());
    third.studio.clone_from(&first.studio);
    let (taste, studio) = (cosine(&first, &second), cosine(&first, &third));
    assert!(taste > 0.6 && taste > studio + 0.3, "taste {taste}, studio {studio}");
}

/// Chance brings single words together or apart by as much as another dimension does, so this looks at many.
#[test]
fn a_word_counts_most_in_its_own_dimension() {
    let words = [
        "oak", "slate", "linen", "brass", "clay", "cork", "felt", "granite", "lime", "marble", "paper", "wax",
    ];
    let mean = |material: fn(&str) -> Record| {
        words.iter().map(|word| cosine(&told(word, "dusk", "calm"), &material(word))).sum::<f32>()
            / words.len() as f32
    };
    let same = mean(|word| told(word, "noon", "loud"));
    let elsewhere = mean(|word| told("iron", word, "loud"));
    let nowhere = mean(|_| told("iron", "noon", "loud"));
    assert!(same > elsewhere + 0.1 && elsewhere > nowhere + 0.02, "{same}, {elsewhere}, {nowhere}");
}

#[test]
fn words_side_by_side_say_more_than_words_apart() {
    let told = |material| told(material, "dusk", "calm");
    let pale_oak = told("pale oak, dark slate");
    assert!(
        cosine(&pale_oak, &told("dark slate, pale oak")) > cosine(&pale_oak, &told("dark oak, pale slate"))
    );
}

#[test]
fn a_long_text_does_not_drown_taste() {
    let mut first = told("oak", "dusk", "calm");
    let mut second = told("oak", "dusk", "calm");
    let mut third = told("steel", "neon", "restless");
    let text =
        "The stair turns twice before the landing, where a window looks over the harbour and the cranes.";
    first.description = Some(text.to_owned());
    third.description = Some(text.to_owned());
    second.description =
        Some("Nine tables, a counter of one plank, and a kitchen behind a curtain.".to_owned());
    assert!(cosine(&first, &second) > cosine(&first, &third) + 0.2);
}

#[test]
fn accents_and_other_scripts_meet_themselves() {
    let told = |text: &str| told(text, text, text);
    assert!(cosine(&told("béton brut"), &told("Beton Brut")) > 0.999);
    let temple = told("古い木造の寺");
    assert!(cosine(&temple, &told("木造の寺院")) > cosine(&temple, &told("鉄骨の工場")) + 0.2);
}

#[test]
fn what_shares_nothing_is_far_apart() {
    let (one, other) = (told("oak", "dusk", "calm"), told("steel", "neon", "restless"));
    let mut photograph = other.clone();
    photograph.category = Category::Photography;
    assert!(cosine(&one, &photograph) < 0.2, "{}", cosine(&one, &photograph));
    assert!(cosine(&one, &other) > cosine(&one, &photograph), "the category counts a little");
}

#[test]
fn a_record_without_a_word_says_nothing() {
    assert_eq!(numbers(&named("")), None);
    assert_eq!(numbers(&named(" — … the of")), None);
    let mut record = named("");
    record.pictures.push(PictureSource { source: "oak.webp".to_owned(), alt: None });
    assert_eq!(numbers(&record), None, "the name of a file is not what it shows");
    record.pictures[0].alt = Some("An oak door".to_owned());
    assert!(numbers(&record).is_some());
}

#[test]
fn a_name_alone_is_enough_to_stand_near_its_like() {
    let (oak, door, steel) = (named("Oak House"), named("A house in oak"), named("Steel Tower"));
    assert!(cosine(&oak, &door) > cosine(&oak, &steel));
}

#[test]
fn the_same_record_says_the_same() {
    let record = told("pale oak, lime plaster", "low dusk light", "calm");
    assert_eq!(numbers(&record), numbers(&record.clone()));
}

/// A record with every field that is read.
fn whole() -> Record {
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
fn a_sentence_encoder_reads_taste_first_and_the_name_only_alone() {
    let record = whole();
    let document = document(&record);
    assert_eq!(document.passages[..3], ["house", "pale oak, lime plaster", "low western light at dusk"]);
    assert_eq!(document.passages.len(), 9);
    assert_eq!(document.title, "House above the harbour");
}

/// Recorded vectors are compared with new ones of the same name, so its numbers must not change by a bit. Only where the
/// mathematical functions are those of this platform.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_built_in_encoder_gives_the_bits_that_it_always_gave_for_a_record() {
    let bytes: Vec<u8> = numbers(&whole()).unwrap().iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(HEXLOWER.encode(&Sha256::digest(bytes)[..8]), "7d06e21dd2c80fa2");
}
