//! Compresses a body as `Accept-Encoding` requests.

use std::io::Write;

use answers::turns;
use bytes::Bytes;
use http::HeaderValue;

/// The minimum size in bytes of a body that is compressed; a smaller one fits into one packet.
const SMALLEST: usize = 1024;

/// The size in bytes from which compressing takes milliseconds, in which the thread of the runtime serves others.
const LARGE: usize = 256 * 1024;

/// The supported encodings, the fastest first: this order decides between equal weights.
const CODINGS: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

/// A compressed body.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) name: HeaderValue,
    pub(super) bytes: Bytes,
}

/// Returns whether compression makes a body of this type smaller: pictures and fonts are already compressed.
pub(super) fn is_worth_it(content_type: Option<&HeaderValue>) -> bool {
    let is_packed = |kind: &[u8]| kind.starts_with(b"image/") || kind.starts_with(b"font/");
    content_type.is_none_or(|kind| !is_packed(kind.as_bytes()))
}

/// Compresses a body as `Accept-Encoding` requests; `None` if it is to be sent uncompressed. A client that refuses even that gets it
/// nevertheless: an uncompressed answer is more useful than a 406, and RFC 9110 allows it.
pub(super) fn encode(accept_encoding: &HeaderValue, body: &Bytes) -> Option<Encoded> {
    if body.len() < SMALLEST {
        return None;
    }
    let coding = wanted(accept_encoding)?;
    let bytes =
        if body.len() < LARGE { coding.compress(body)? } else { turns::apart(|| coding.compress(body))? };
    Some(Encoded { name: HeaderValue::from_static(coding.name()), bytes })
}

/// Returns the coding with the highest weight; `None` if the uncompressed form has a higher one or no coding is supported.
fn wanted(accept_encoding: &HeaderValue) -> Option<Coding> {
    let header = accept_encoding.to_str().ok()?;
    let weight = |name: &str| header.split(',').find_map(|one| weight_of(one, name));
    let others = weight("*").unwrap_or(0);
    let mut best = None;
    for coding in CODINGS {
        let weight = weight(coding.name()).unwrap_or(others);
        if weight > 0 && best.is_none_or(|(_, most)| weight > most) {
            best = Some((coding, weight));
        }
    }
    let plain = weight("identity").unwrap_or(0);
    best.filter(|(_, weight)| *weight >= plain).map(|(coding, _)| coding)
}

/// Returns the weight in thousandths that an element of the list gives to a coding, if it names it.
fn weight_of(element: &str, name: &str) -> Option<u16> {
    let mut parts = element.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(name) {
        return None;
    }
    let Some(weight) = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
    else {
        return Some(1000);
    };
    // An invalid weight is zero.
    let weight: f32 = weight.parse().unwrap_or(0.0);
    Some((weight.clamp(0.0, 1.0) * 1000.0) as u16)
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Zstd => "zstd",
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// Compresses at a fast level, since answers are not cached. If it fails, returns `None`, and the body is sent uncompressed.
    fn compress(self, body: &[u8]) -> Option<Bytes> {
        let compressed = match self {
            Coding::Zstd => zstd::bulk::compress(body, 1).ok()?,
            Coding::Brotli => {
                let parameters = brotli::enc::BrotliEncoderParams {
                    quality: 2,
                    lgwin: 18,
                    size_hint: body.len(),
                    ..Default::default()
                };
                let mut compressed = Vec::with_capacity(body.len() / 2);
                brotli::BrotliCompress(&mut &body[..], &mut compressed, &parameters).ok()?;
                compressed
            }
            Coding::Gzip => {
                let room = Vec::with_capacity(body.len() / 2);
                let mut encoder = flate2::write::GzEncoder::new(room, flate2::Compression::fast());
                encoder.write_all(body).ok()?;
                encoder.finish().ok()?
            }
        };
        Some(compressed.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(header: &'static str) -> Option<&'static str> {
        wanted(&HeaderValue::from_static(header)).map(Coding::name)
    }

    #[test]
    fn the_coding_with_the_highest_weight_is_chosen() {
        for (header, coding) in [
            ("gzip", Some("gzip")),
            ("GZip", Some("gzip")),
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip, deflate, br", Some("br")),
            ("gzip;q=0.5, br;q=0.4", Some("gzip")),
            ("gzip; Q=1.0, zstd;q=0.999", Some("gzip")),
            ("*", Some("zstd")),
            ("*;q=0.1, zstd;q=0", Some("br")),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some("gzip")),
            ("identity;q=0", None),
            ("*;q=0", None),
            ("gzip;q=0", None),
            ("gzip;q=nonsense", None),
            ("deflate", None),
            ("", None),
        ] {
            assert_eq!(chosen(header), coding, "{header:?}");
        }
    }

    #[test]
    fn a_compressed_body_can_be_decompressed() {
        use std::io::Read;
        let body = Bytes::from("a curated catalog ".repeat(300));
        for name in ["zstd", "br", "gzip"] {
            let encoded = encode(&HeaderValue::from_static(name), &body).unwrap();
            assert_eq!(encoded.name, name);
            assert!(encoded.bytes.len() < body.len() / 4, "{name}: {}", encoded.bytes.len());
            let mut plain = Vec::new();
            match name {
                "zstd" => plain = zstd::bulk::decompress(&encoded.bytes, body.len()).unwrap(),
                "br" => brotli::BrotliDecompress(&mut &encoded.bytes[..], &mut plain).unwrap(),
                _ => {
                    flate2::read::GzDecoder::new(&encoded.bytes[..]).read_to_end(&mut plain).unwrap();
                }
            }
            assert_eq!(plain, body, "{name}");
        }
        assert!(encode(&HeaderValue::from_static("gzip"), &body.slice(..SMALLEST - 1)).is_none());
    }
}
