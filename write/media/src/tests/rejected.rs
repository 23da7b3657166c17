//! Unusable bytes are refused with a sentence, and leave no file.

use std::fs;

use image::ImageFormat;
use kit::samples::{
    encoded, in_every_format, lossy_webp, png_chunk, png_header, scene, webp_canvas, webp_chunk, webp_file,
};
use proptest::prelude::*;

use super::*;

/// Returns the sentence with which a store refuses the bytes; checks that no file is left.
fn refusal(bytes: &[u8]) -> String {
    let (folder, store) = store();
    let refused = match store.put(bytes) {
        Err(PutError::Refused(fault)) => fault.to_string(),
        other => panic!("{other:?}"),
    };
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["incoming"]);
    assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    refused
}

#[test]
fn empty_and_too_long_files_are_refused() {
    assert_eq!(refusal(b""), "It has no bytes; send the picture itself.");
    let mut jpeg = encoded(scene(8, 8), ImageFormat::Jpeg);
    jpeg.resize((10 << 20) + 1, 0);
    assert_eq!(refusal(&jpeg), "It has 10485761 bytes; the most is 10485760 (10 MiB): send it smaller.");
    jpeg.truncate(10 << 20);
    assert!(store().1.put(&jpeg).is_ok(), "exactly the limit is accepted");
}

#[test]
fn the_format_is_recognised_by_content_and_others_are_refused_by_name() {
    assert_eq!(refusal(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "It is SVG; send JPEG, PNG or WebP.");
    assert_eq!(refusal(b"GIF89a\x01\0\x01\0\0\0\0;"), "It is GIF; send JPEG, PNG or WebP.");
    assert_eq!(refusal(b"a pear, painted"), "It is not a picture in a known format; send JPEG, PNG or WebP.");
    // The signature of one format before the rest of another.
    let [(_, jpeg), (_, png), ..] = in_every_format(&scene(40, 30));
    let mislabelled = [&png[..8], &jpeg[8..]].concat();
    assert_eq!(
        refusal(&mislabelled),
        "It is damaged and cannot be decoded (the PNG does not begin with its header); send another copy."
    );
}

#[test]
fn animations_are_refused() {
    let png = encoded(scene(8, 8), ImageFormat::Png);
    // After the signature and the header, which take 8 and 25 bytes.
    let moving = [&png[..33], &png_chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]), &png[33..]].concat();
    assert_eq!(refusal(&moving), "It is APNG, which moves; send one frame of it as JPEG, PNG or WebP.");
    let animated = "It is animated WebP, which moves; send one frame of it as JPEG, PNG or WebP.";
    assert_eq!(refusal(&webp_file(&[webp_canvas(0b10, 8, 8)])), animated);
    assert_eq!(refusal(&webp_file(&[webp_canvas(0, 8, 8), webp_chunk(b"ANIM", &[0; 6])])), animated);
}

#[test]
fn sizes_are_checked_before_decoding() {
    assert_eq!(
        refusal(&png_header(50_000, 40, 8, 2)),
        "It is 50000 × 40 px; the most is 8000 px a side: send it smaller."
    );
    assert_eq!(
        refusal(&png_header(40, 8_001, 8, 2)),
        "It is 40 × 8001 px; the most is 8000 px a side: send it smaller."
    );
    assert_eq!(
        refusal(&webp_file(&[webp_canvas(0, 9_000, 9_000), lossy_webp(&scene(9, 9))[12..].to_vec()])),
        "It is damaged and cannot be decoded (the WebP's picture is not as large as its canvas); send another copy."
    );
    assert_eq!(
        refusal(&png_header(8_000, 8_000, 16, 6)),
        "It is 8000 × 8000 px and would take 489 MiB to decode; the most is 64 MiB: send it smaller."
    );
    assert_eq!(
        refusal(&png_header(0, 5, 8, 2)),
        "It is 0 × 5 px, so there is nothing to see; send another copy."
    );
    // Within all limits; the missing pixels are noticed while decoding.
    let without_pixels = refusal(&png_header(2_000, 2_000, 8, 2));
    assert!(
        without_pixels.starts_with("It is damaged and cannot be decoded (")
            || without_pixels == pictures::PictureError::Truncated.to_string()
    );
}

#[test]
fn a_truncated_picture_is_refused_or_decodes_completely() {
    for (format, bytes) in in_every_format(&scene(120, 90)) {
        let complete = pictures::decode(&bytes).unwrap().pixels;
        let mut refused = 0;
        for length in
            (0..bytes.len()).rev().step_by(bytes.len() / 400 + 1).chain(bytes.len() - 20..bytes.len())
        {
            match pictures::decode(&bytes[..length]) {
                Ok(decoded) => assert_eq!(decoded.pixels, complete, "{format} of {length} bytes"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 200, "{format}: {refused}");
        let half = pictures::decode(&bytes[..bytes.len() / 2]).unwrap_err();
        assert_eq!(half, pictures::PictureError::Truncated, "{format}");
    }
}

#[test]
fn a_changed_byte_of_a_png_is_detected() {
    let png = encoded(scene(60, 60), ImageFormat::Png);
    for at in (8..png.len() - 12).step_by(61) {
        let mut changed = png.clone();
        changed[at] ^= 0x10;
        assert!(pictures::decode(&changed).is_err(), "{at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_never_panic(start in 0..6_usize, noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let starts: [&[u8]; 6] = [
            b"",
            b"\xff\xd8\xff\xe0\0\x04\0\0",
            b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x10",
            b"RIFF\x10\0\0\0WEBPVP8 ",
            b"RIFF\x10\0\0\0WEBPVP8X",
            b"<?xml",
        ];
        let bytes = [starts[start], &noise].concat();
        let folder = tempfile::tempdir().unwrap();
        let stored = MediaStore::open(folder.path()).unwrap().put(&bytes);
        prop_assert!(matches!(stored, Err(PutError::Refused(_))), "{:?}", stored);
    }

    #[test]
    fn changed_pictures_never_panic(which in 0..4_usize, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = in_every_format(&scene(48, 32))[which].1.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(decoded) = pictures::decode(&bytes) {
            let pixels = decoded.pixels;
            prop_assert!(pixels.width() <= 8_000 && pixels.height() <= 8_000);
        }
    }
}
