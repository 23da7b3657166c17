//! The delivered files of potion-base-8M: `model.safetensors` and `tokenizer.json`.

use serde_json::Value;

use super::{DIMENSIONS, PIECES};

/// The largest number of a row is stored as this one.
const LARGEST: f32 = 127.0;

/// Returns the converted file; `None` if the files are malformed.
pub(in super::super) fn convert(table: &[u8], tokenizer: &[u8]) -> Option<Vec<u8>> {
    let (scales, rows) = quantised(table)?;
    let mut file: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
    file.extend(rows.iter().map(|number| number.cast_unsigned()));
    for piece in pieces(tokenizer)? {
        file.extend(piece.as_bytes());
        file.push(b'\n');
    }
    Some(file)
}

/// Returns the scale of each row and all numbers divided by it. The file is the length of a header in 8 bytes, the header, and one
/// table of 32-bit floats.
fn quantised(table: &[u8]) -> Option<(Vec<f32>, Vec<i8>)> {
    let (length, rest) = table.split_first_chunk()?;
    let header = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let numbers = rest.get(header..)?.as_chunks().0;
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let mut scales = Vec::with_capacity(PIECES);
    let mut rows = Vec::with_capacity(numbers.len());
    for row in numbers.chunks_exact(DIMENSIONS) {
        let scale = row.iter().fold(0.0_f32, |largest, number| largest.max(number.abs())) / LARGEST;
        let divisor = if scale > 0.0 { scale } else { 1.0 };
        scales.push(scale);
        rows.extend(row.iter().map(|number| (number / divisor).round() as i8));
    }
    (scales.len() == PIECES).then_some((scales, rows))
}

/// Returns the word pieces in the order of the rows.
fn pieces(tokenizer: &[u8]) -> Option<Vec<String>> {
    let tokenizer: Value = serde_json::from_slice(tokenizer).ok()?;
    let mut pieces = vec![String::new(); PIECES];
    for (piece, row) in tokenizer.pointer("/model/vocab")?.as_object()? {
        pieces.get_mut(usize::try_from(row.as_u64()?).ok()?)?.clone_from(piece);
    }
    Some(pieces)
}
