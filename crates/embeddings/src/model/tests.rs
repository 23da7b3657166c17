//! Encoders with random weights from a seed, and with the sizes and tensor names of real models.

mod model_files;

use std::path::Path;

use image::{Rgb, RgbImage};

use self::model_files::{image_model, sentence_model};
use super::super::{Encoder, EncoderChoice};
use super::*;

fn open(folder: &Path) -> Result<Encoder, EncoderError> {
    Encoder::open(&EncoderChoice::Folder(folder.to_owned()))
}

fn document(text: &str) -> Document<'_> {
    Document { passages: vec![text], ..Document::default() }
}

fn semantic(encoder: &Encoder, text: &str) -> Vec<f32> {
    encoder.semantic(&document(text)).unwrap().unwrap()
}

fn picture() -> RgbImage {
    RgbImage::from_fn(50, 40, |x, y| Rgb([x as u8 * 5, y as u8 * 6, (x * y) as u8]))
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Returns the largest difference of two components; rounding alone causes less than a millionth.
fn max_difference(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn a_sentence_encoder_reads_texts_and_no_pictures() {
    let folder = tempfile::tempdir().unwrap();
    sentence_model(&folder.path().join("text"), 1);
    let encoder = open(folder.path()).unwrap();
    let vector = semantic(&encoder, "oak at dusk");
    assert_eq!(vector.len(), 32);
    assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    assert_eq!(
        semantic(&open(folder.path()).unwrap(), "oak at dusk"),
        vector,
        "the same vector after opening again"
    );
    assert_eq!(encoder.visual(&picture()).unwrap(), None);
    assert_eq!(encoder.semantic(&document("…")).unwrap(), None);
}

#[test]
fn vectors_do_not_depend_on_earlier_texts() {
    let folder = tempfile::tempdir().unwrap();
    sentence_model(&folder.path().join("text"), 1);
    let encoder = open(folder.path()).unwrap();
    let alone = semantic(&encoder, "oak at dusk");
    semantic(&encoder, &"calm light on pale oak ".repeat(300));
    assert_eq!(semantic(&encoder, "oak at dusk"), alone);
}

#[test]
fn words_and_their_order_matter() {
    let folder = tempfile::tempdir().unwrap();
    sentence_model(&folder.path().join("text"), 1);
    let encoder = open(folder.path()).unwrap();
    let one = semantic(&encoder, "pale oak dark light");
    assert_eq!(semantic(&encoder, "Pale OAK dark light"), one, "this tokenizer folds the case");
    for other in ["dark oak pale light", "calm dusk"] {
        assert!(max_difference(&one, &semantic(&encoder, other)) > 1e-3, "{other}");
    }
}

#[test]
fn each_family_of_image_encoders_encodes_pictures() {
    for (family, dimensions) in [("vit", 32), ("dinov2", 32), ("clip_vision_model", 32), ("clip", 16)] {
        let folder = tempfile::tempdir().unwrap();
        image_model(&folder.path().join("image"), family, 1);
        let encoder = open(folder.path()).unwrap();
        let encode = |picture: &RgbImage| encoder.visual(picture).unwrap().unwrap();
        let vector = encode(&picture());
        assert_eq!(vector.len(), dimensions, "{family}");
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5, "{family}");
        let turned = image::imageops::rotate180(&picture());
        assert!(max_difference(&vector, &encode(&turned)) > 1e-3, "{family}");
        assert_eq!(encode(&picture()), vector, "{family}");
        assert!(encoder.visual(&RgbImage::new(0, 9)).is_err());
        assert_eq!(encoder.semantic(&document("oak")).unwrap(), None);
    }
}

#[test]
fn another_model_has_another_name() {
    let name = |seed, with_image: bool| {
        let folder = tempfile::tempdir().unwrap();
        let models = folder.path().join("small");
        sentence_model(&models.join("text"), seed);
        if with_image {
            image_model(&models.join("image"), "vit", 1);
        }
        open(&models).unwrap().name().to_owned()
    };
    let first = name(1, false);
    assert_eq!((first.len(), &first[..6]), (14, "small-"), "{first}");
    assert_eq!(name(1, false), first);
    assert_ne!(name(2, false), first);
    assert_ne!(name(1, true), first);
}

/// Returns the error for a folder with valid models in `text/` and `image/` after `damage`.
fn error_after(damage: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    sentence_model(&folder.path().join("text"), 1);
    image_model(&folder.path().join("image"), "dinov2", 1);
    damage(folder.path());
    let error = open(folder.path()).unwrap_err().to_string();
    error.replace(&folder.path().display().to_string(), "M")
}

/// Replaces a part of a text file.
fn edit(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{} has no {from}", file.display());
    std::fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[track_caller]
fn assert_error(damage: impl FnOnce(&Path), expected: &[&str]) {
    let error = error_after(damage);
    for part in expected {
        assert!(error.contains(part), "{error:?} does not contain {part:?}");
    }
}

#[test]
fn missing_folders_and_files_are_named() {
    let remove = |name: &'static str| move |at: &Path| std::fs::remove_file(at.join(name)).unwrap();
    assert_error(|at| std::fs::remove_dir_all(at).unwrap(), &["there is no folder M;"]);
    let both =
        |at: &Path| ["text", "image"].iter().for_each(|name| std::fs::remove_dir_all(at.join(name)).unwrap());
    assert_error(both, &["M contains neither text/ nor image/"]);
    for file in [
        "text/config.json",
        "text/tokenizer.json",
        "text/model.safetensors",
        "image/config.json",
        "image/preprocessor_config.json",
        "image/model.safetensors",
    ] {
        assert_error(remove(file), &[&format!("M/{file} cannot be read"), "a model needs"]);
    }
}

#[test]
fn broken_files_are_named() {
    let write = |name: &'static str, bytes: &'static [u8]| {
        move |at: &Path| std::fs::write(at.join(name), bytes).unwrap()
    };
    assert_error(
        write("text/model.safetensors", b"PK\x03\x04 a zip"),
        &["M/text/model.safetensors is not a complete safetensors"],
    );
    let truncate = |at: &Path| {
        let file = at.join("image/model.safetensors");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    };
    assert_error(truncate, &["M/image/model.safetensors is not a complete safetensors", "download it again"]);
    assert_error(write("text/config.json", b"{"), &["M/text/config.json", "EOF"]);
    assert_error(write("text/tokenizer.json", b"{}"), &["M/text/tokenizer.json is not a tokenizer"]);
    assert_error(write("image/preprocessor_config.json", b"[]"), &["M/image/preprocessor_config.json"]);
}

#[test]
fn files_of_other_models_and_files_that_do_not_fit_together_are_named() {
    for (file, from, to, expected) in [
        (
            "text/config.json",
            "\"bert\"",
            "\"gpt2\"",
            &["M/text/config.json is of a gpt2 model; text/ takes bert"][..],
        ),
        (
            "image/config.json",
            "\"dinov2\"",
            "\"resnet\"",
            &["M/image/config.json is of a resnet model; image/ takes vit, dinov2"],
        ),
        (
            "text/config.json",
            "\"intermediate_size\":64",
            "\"intermediate_size\":65",
            &[
                "M/text/model.safetensors has encoder.layer.0.intermediate.dense.weight of shape [64, 32]",
                "[65, 32]",
            ],
        ),
        (
            "text/config.json",
            "\"num_hidden_layers\":2",
            "\"num_hidden_layers\":3",
            &["M/text/model.safetensors has no tensor encoder.layer.2.attention.self.query.weight"],
        ),
        (
            "text/config.json",
            "\"num_attention_heads\":4",
            "\"num_attention_heads\":5",
            &["M/text/config.json has hidden_size 32 for 5 attention heads"],
        ),
        (
            "text/config.json",
            "\"vocab_size\":13",
            "\"vocab_size\":12",
            &["M/text/tokenizer.json has 13 tokens where config.json has 12"],
        ),
        (
            "image/preprocessor_config.json",
            "32",
            "4",
            &["M/image/preprocessor_config.json makes pictures smaller than a patch of 8 pixels"],
        ),
    ] {
        assert_error(|at| edit(&at.join(file), from, to), expected);
    }
}

#[test]
fn passages_come_first_and_the_title_only_alone() {
    let mut document = Document { title: "Alder House", ..Document::default() };
    assert_eq!(sentences(&document).as_deref(), Some("Alder House"));
    document.passages = vec!["pale oak", "—", "A house on a slope.\n", "Steep."];
    assert_eq!(sentences(&document).as_deref(), Some("pale oak. A house on a slope. Steep."));
    assert_eq!(sentences(&Document { title: " … ", ..Document::default() }), None);
}
