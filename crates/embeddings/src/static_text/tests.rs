use serde_json::Value;

use super::*;

fn model() -> Option<StaticText> {
    Some(crate::weights::static_text(&kit::weights()?).unwrap().unwrap())
}

fn numbers(value: &Value) -> Vec<f32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// The vectors were made with the tokenizers of Hugging Face and NumPy: from the converted table, two also from the delivered one.
#[test]
fn vectors_are_those_of_another_implementation() {
    let Some(model) = model() else { return };
    let golden: Vec<Value> = serde_json::from_str(include_str!("golden.json")).unwrap();
    assert_eq!(golden.len(), 10);
    for golden in golden {
        let text = golden["text"].as_str().unwrap();
        let vector = model.vector([text]).unwrap().vector;
        let differences = vector.iter().zip(numbers(&golden["converted"])).map(|(a, b)| (a - b).abs());
        let largest = differences.fold(0.0, f32::max);
        assert!(largest < 1e-5, "{text}: a number differs by {largest}");
        if golden["delivered"].is_array() {
            let cosine: f32 = vector.iter().zip(numbers(&golden["delivered"])).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.9999, "{text}: {cosine}");
        }
    }
}

#[test]
fn words_with_the_same_meaning_are_near() {
    let Some(model) = model() else { return };
    let cosine = |one: &str, other: &str| -> f32 {
        let (one, other) = (model.vector([one]).unwrap().vector, model.vector([other]).unwrap().vector);
        one.iter().zip(&other).map(|(a, b)| a * b).sum()
    };
    for (one, near, far) in [
        ("couple getting married", "bride and groom", "coal mine"),
        ("peaceful", "calm", "concrete"),
        ("fortress", "castle, wall", "teapot, saucer"),
    ] {
        assert!(cosine(one, near) > cosine(one, far) + 0.2, "{one}");
    }
}

#[test]
fn it_says_how_well_words_are_known() {
    let Some(model) = model() else { return };
    let known = |text: &str| model.vector([text]).map(|vector| (vector.known * 100.0).round() as i32);
    // English, some words in more than one piece.
    for (text, expected) in [
        ("a quiet house by the water", 100),
        ("brutalism", 70),
        ("a cantilevered stair", 77),
        ("x", 100),
        ("1968", 100),
        // Not English: little of a sentence is known, but a word alone may be.
        ("une maison au bord de la mer", 39),
        ("ein ruhiges Haus am Wasser", 54),
        ("una casa junto al mar", 54),
        ("Kirche aus Beton", 33),
        ("maison", 100),
        // Not in ASCII.
        ("église", 0),
        ("水边安静的房子", 0),
        ("тихий дом у воды", 0),
        ("café terrace", 50),
    ] {
        assert_eq!(known(text), Some(expected), "{text}");
    }
}

#[test]
fn texts_without_a_known_piece_have_no_vector() {
    let Some(model) = model() else { return };
    let long_word = "q".repeat(101);
    for text in ["", " \n\t", "🙂", "🏠🏠 🙂", "\u{301}", "\u{feff}", &long_word] {
        assert!(model.vector([text]).is_none(), "{text:?}");
    }
    assert!(model.vector([]).is_none());
    assert!(model.vector(["🙂", "oak"]).is_some_and(|oak| oak.known == 1.0));
}

/// The order of the pieces is that of the sum, so repeating a text changes rounding only; case and accents change nothing.
#[test]
fn long_texts_and_other_forms_of_letters_have_the_same_vector() {
    let Some(model) = model() else { return };
    let vector = |text: &str| model.vector([text]).unwrap().vector;
    let phrase = vector("pale oak at dusk");
    let long = vector(&"pale oak at dusk ".repeat(600)[..10_000]);
    let cosine: f32 = phrase.iter().zip(&long).map(|(a, b)| a * b).sum();
    assert!(cosine > 0.99999, "{cosine}");
    assert_eq!(vector("PALE  Oák\tat\u{200b} dusk"), phrase);
}
