//! Repairs texts that are Windows-1252 read as Latin-1: their quotes, dashes and € are control characters.

use serde_json::Value;

/// What stands at U+0080 to U+009F in Windows-1252; its five gaps stay as they are.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Returns the character that a byte stands for in Windows-1252.
pub fn windows_1252(byte: u8) -> char {
    let control = usize::from(byte).checked_sub(0x80).and_then(|index| WINDOWS_1252.get(index));
    control.copied().unwrap_or(char::from(byte))
}

/// Returns whether a text may have such characters, written out or escaped.
pub fn may_be_faulty(text: &str) -> bool {
    text.contains(is_faulty) || text.contains("\\u00")
}

fn is_faulty(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}')
}

/// Repairs every text in a value, and returns the number of characters.
pub fn repair(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => {
            let mut repaired = 0;
            let replace = |character: char| {
                let right = u8::try_from(character).map_or(character, windows_1252);
                repaired += u64::from(right != character);
                right
            };
            *text = text.chars().map(replace).collect();
            repaired
        }
        Value::Array(values) => values.iter_mut().map(repair).sum(),
        Value::Object(members) => members.values_mut().map(repair).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
