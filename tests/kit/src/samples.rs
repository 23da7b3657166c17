//! Events, and valid and invalid pictures, for tests.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use jiff::{SignedDuration, Timestamp};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, StreamId, StreamVersion};
use schemas::versioned;
use uuid::Uuid;

/// Returns an event as the log has it at a position, each by a command of its own and a second after the one before. The version of the
/// stream is the position, and the hash covers nothing.
pub fn recorded(position: Position, stream: StreamId, event: &Event) -> Recorded {
    let id = Uuid::from_u128(position.0.into());
    Recorded {
        position,
        id: EventId(id),
        stream,
        version: StreamVersion(position.0),
        kind: versioned::kind(event).into(),
        time: "2026-11-20T08:00:00Z".parse::<Timestamp>().unwrap()
            + SignedDuration::from_secs(position.0.cast_signed()),
        actor: "Ada".parse().unwrap(),
        causation: CommandId(id),
        correlation: CommandId(id),
        hash: Hash::GENESIS,
        traceparent: None,
        data: versioned::encode(event).unwrap(),
    }
}

/// Returns an image with edges, gradients and texture.
pub fn scene(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let byte = |value: u32| u8::try_from(value % 256).unwrap();
        if (x / 16 + y / 16) % 3 == 0 {
            Rgb([200, byte(x * 255 / width), 40])
        } else {
            Rgb([byte(y * 255 / height), 90, byte(x.wrapping_mul(y * 7 + 13) / 5)])
        }
    })
}

/// Encodes an image in a format.
pub fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Encodes an image as JPEG.
pub fn jpeg(image: &RgbImage) -> Vec<u8> {
    encoded(image.clone(), ImageFormat::Jpeg)
}

/// Encodes an image as lossy WebP; the image crate writes only lossless WebP.
pub fn lossy_webp(image: &RgbImage) -> Vec<u8> {
    webp::Encoder::from_rgb(image, image.width(), image.height()).encode(80.0).to_vec()
}

/// Encodes an image in every accepted format.
pub fn in_every_format(image: &RgbImage) -> [(&'static str, Vec<u8>); 4] {
    [
        ("JPEG", jpeg(image)),
        ("PNG", encoded(image.clone(), ImageFormat::Png)),
        ("lossless WebP", encoded(image.clone(), ImageFormat::WebP)),
        ("lossy WebP", lossy_webp(image)),
    ]
}

/// Returns a PNG chunk with a valid checksum.
pub fn png_chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    let sum = crc32fast::hash(&[name, data].concat());
    [&length.to_be_bytes(), &name[..], data, &sum.to_be_bytes()].concat()
}

/// Returns a PNG whose header claims this size and depth, with almost no data.
pub fn png_header(width: u32, height: u32, depth: u8, colour: u8) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, 0]].concat();
    let pixels = png_chunk(b"IDAT", &[0x78, 0x9c, 0x03, 0, 0, 0, 0, 1]);
    [&b"\x89PNG\r\n\x1a\n"[..], &png_chunk(b"IHDR", &header), &pixels, &png_chunk(b"IEND", &[])].concat()
}

/// Returns a WebP chunk.
pub fn webp_chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    [&name[..], &length.to_le_bytes(), data, &[0][..data.len() % 2]].concat()
}

/// Returns a WebP file of these chunks.
pub fn webp_file(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = chunks.concat();
    let length = u32::try_from(chunks.len() + 4).unwrap();
    [&b"RIFF"[..], &length.to_le_bytes(), b"WEBP", &chunks].concat()
}

/// Returns the header of an extended WebP file.
pub fn webp_canvas(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let side = |side: u32| (side - 1).to_le_bytes();
    webp_chunk(b"VP8X", &[&[flags, 0, 0, 0], &side(width)[..3], &side(height)[..3]].concat())
}

/// Returns the JPEG with EXIF of this orientation and a note.
pub fn with_exif(jpeg: &[u8], orientation: u8, note: &str) -> Vec<u8> {
    let entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0];
    let exif = [b"Exif\0\0II*\0\x08\0\0\0\x01\0", &entry[..], &[0; 4], note.as_bytes()].concat();
    let length = u16::try_from(exif.len() + 2).unwrap();
    [&jpeg[..2], &[0xff, 0xe1], &length.to_be_bytes(), &exif, &jpeg[2..]].concat()
}
