//! Mends texts that are Windows-1252 read as Latin-1: their quotes, dashes and € are control characters.

use schemas::command::ImportLine;
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

/// Mends a line, and returns how many characters it mended. A line that is not JSON stays as it is.
pub fn mended(line: &mut ImportLine) -> u64 {
    // Most lines have none, written out or escaped, and are not read here.
    if !line.text.contains(is_faulty) && !line.text.contains("\\u00") {
        return 0;
    }
    let Ok(mut record) = serde_json::from_str(&line.text) else { return 0 };
    let characters = mend(&mut record);
    if characters > 0 {
        line.text = record.to_string();
    }
    characters
}

fn is_faulty(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}')
}

/// Mends every text in a value, and returns how many characters it mended.
fn mend(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => {
            let mut mended = 0;
            let mend = |character: char| {
                let right = u8::try_from(character).map_or(character, windows_1252);
                mended += u64::from(right != character);
                right
            };
            *text = text.chars().map(mend).collect();
            mended
        }
        Value::Array(values) => values.iter_mut().map(mend).sum(),
        Value::Object(members) => members.values_mut().map(mend).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> (String, u64) {
        let mut line = ImportLine { number: 1, text: text.into() };
        let characters = mended(&mut line);
        (line.text, characters)
    }

    #[test]
    fn control_characters_become_what_windows_1252_has_there() {
        assert_eq!(
            repaired(
                "{\"name\":\"Dealer\u{92}s \u{80} 5\",\"details\":[{\"label\":\"a\",\"value\":\"1\\u00962\"}]}"
            ),
            ("{\"name\":\"Dealer’s € 5\",\"details\":[{\"label\":\"a\",\"value\":\"1–2\"}]}".into(), 3)
        );
    }

    #[test]
    fn anything_else_stays_byte_for_byte() {
        for text in [
            "{ \"name\" : \"caf\u{e9} \u{81}\", \"year\": 1.50 }",
            "{\"name\":\"\\u00e9 \\\\u0092\"}",
            "{\"name\":\"\u{92}",
            "",
        ] {
            assert_eq!(repaired(text), (text.into(), 0), "{text:?}");
        }
    }
}
