//! Words for the colours of pictures, and colours for the words of curators.

use std::cmp::Ordering;

/// Names of colours with a colour of each, in sRGB. A name of several words comes before that of its last one, so that it is found first.
const WORDS: [(&str, [u8; 3]); 33] = [
    ("pale grey", [0xcf, 0xce, 0xca]),
    ("dark grey", [0x4e, 0x4e, 0x50]),
    ("pale blue", [0xb3, 0xc9, 0xda]),
    ("dark blue", [0x24, 0x34, 0x5c]),
    ("pale green", [0xb9, 0xcc, 0xb0]),
    ("dark green", [0x28, 0x44, 0x33]),
    ("pale brown", [0xb5, 0x9a, 0x80]),
    ("dark brown", [0x43, 0x30, 0x26]),
    ("dark red", [0x74, 0x20, 0x22]),
    ("pale pink", [0xea, 0xcf, 0xcb]),
    ("black", [0x18, 0x18, 0x19]),
    ("charcoal", [0x36, 0x37, 0x39]),
    ("grey", [0x8f, 0x8e, 0x8b]),
    ("gray", [0x8f, 0x8e, 0x8b]),
    ("white", [0xf6, 0xf4, 0xef]),
    ("cream", [0xec, 0xe0, 0xc2]),
    ("ivory", [0xe9, 0xe2, 0xd0]),
    ("beige", [0xd8, 0xc6, 0xa8]),
    ("brown", [0x7d, 0x58, 0x3d]),
    ("ochre", [0xc0, 0x8a, 0x35]),
    ("honey", [0xd4, 0xa4, 0x56]),
    ("yellow", [0xe5, 0xc6, 0x3f]),
    ("gold", [0xc6, 0xa1, 0x4b]),
    ("orange", [0xdd, 0x7d, 0x2f]),
    ("terracotta", [0xb9, 0x62, 0x43]),
    ("red", [0xb4, 0x33, 0x2e]),
    ("pink", [0xd8, 0x97, 0x9b]),
    ("purple", [0x77, 0x4f, 0x86]),
    ("lilac", [0xa9, 0x99, 0xba]),
    ("blue", [0x44, 0x6d, 0xa6]),
    ("turquoise", [0x4b, 0x9a, 0x9d]),
    ("olive", [0x7c, 0x7a, 0x42]),
    ("green", [0x55, 0x82, 0x59]),
];

/// Returns names for the colours of a picture, written `#rrggbb`, by which they can be told apart: of those with the same word the first
/// has it alone, and the others say how they differ from that.
pub(super) fn names_of(colours: &[String]) -> Vec<String> {
    let words: Vec<&str> = colours.iter().map(|colour| word_of(colour)).collect();
    let mut names: Vec<String> = Vec::with_capacity(colours.len());
    for (colour, word) in colours.iter().zip(&words) {
        let first = words.iter().position(|other| other == word).and_then(|at| colours.get(at));
        let name = match first.map(|first| lightness(colour).cmp(&lightness(first))) {
            Some(order @ (Ordering::Less | Ordering::Greater)) => compared(word, order == Ordering::Less),
            Some(Ordering::Equal) | None => (*word).to_owned(),
        };
        let is_taken = names.contains(&name) && name != *colour;
        names.push(if is_taken { format!("{name}, {colour}") } else { name });
    }
    names
}

/// Returns, for example, `very dark brown` or `less pale brown` for words with a shade, and `darker brown` for others.
fn compared(word: &str, is_darker: bool) -> String {
    match (word.split_once(' '), is_darker) {
        (Some(("dark", _)), true) | (Some(("pale", _)), false) => format!("very {word}"),
        (Some(("dark" | "pale", _)), _) => format!("less {word}"),
        (_, true) => format!("darker {word}"),
        (_, false) => format!("lighter {word}"),
    }
}

/// Returns how light a colour looks, by the weights of ITU-R BT.709.
fn lightness(colour: &str) -> i32 {
    rgb(colour).map_or(0, |[red, green, blue]| 2126 * red + 7152 * green + 722 * blue)
}

/// Returns the word for a colour that is written `#rrggbb`; the text itself if it is none.
fn word_of(colour: &str) -> &str {
    let Some([red, green, blue]) = rgb(colour) else { return colour };
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let (chroma, light) = (most - least, i32::midpoint(most, least));
    if most < 45 {
        return "black";
    }
    if chroma < 22 {
        return match light {
            ..45 => "black",
            45..90 => "dark grey",
            90..165 => "grey",
            165..228 => "pale grey",
            _ => "white",
        };
    }
    let hue = if most == red {
        (60 * (green - blue) / chroma).rem_euclid(360)
    } else if most == green {
        120 + 60 * (blue - red) / chroma
    } else {
        240 + 60 * (red - green) / chroma
    };
    let [dark, middle, pale] = shades(hue, chroma, light);
    match light {
        ..75 => dark,
        75..170 => middle,
        _ => pale,
    }
}

/// Returns the words for a dark, a middle and a pale colour of a hue in degrees.
const fn shades(hue: i32, chroma: i32, light: i32) -> [&'static str; 3] {
    match hue {
        12..30 if chroma > 130 => ["brown", "orange", "pale orange"],
        30..45 if chroma > 170 => ["brown", "orange", "pale orange"],
        30..45 if chroma > 110 => ["brown", "ochre", "beige"],
        12..45 => ["dark brown", "brown", "beige"],
        45..85 if chroma > 150 => ["olive", "yellow", "pale yellow"],
        45..85 if light > 110 => ["olive", "ochre", "cream"],
        45..85 => ["dark olive", "olive", "cream"],
        85..165 => ["dark green", "green", "pale green"],
        165..195 => ["dark turquoise", "turquoise", "pale turquoise"],
        195..255 => ["dark blue", "blue", "pale blue"],
        255..295 => ["dark purple", "purple", "lilac"],
        295..345 => ["dark purple", "pink", "pale pink"],
        _ => ["dark red", "red", "pink"],
    }
}

/// Returns the first colour that a text names, as `#rrggbb`.
pub(super) fn named_in(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let starts_at = |name: &str| {
        let count = name.split(' ').count();
        words.windows(count).position(|window| name.split(' ').eq(window.iter().copied()))
    };
    let found = WORDS.iter().filter_map(|(name, rgb)| {
        let words = name.split(' ').count();
        // Of two that end at the same word, the longer one comes first in the list.
        Some((starts_at(name)? + words, rgb))
    });
    let (_, [red, green, blue]) = found.min_by_key(|(end, _)| *end)?;
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

fn rgb(colour: &str) -> Option<[i32; 3]> {
    let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some([red, green, blue].map(i32::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_has_the_word_that_people_use() {
        for (colour, word) in [
            ("#000000", "black"),
            ("#2b1a12", "black"),
            ("#4e4e50", "dark grey"),
            ("#909090", "grey"),
            ("#c0c0c0", "pale grey"),
            ("#fffff0", "white"),
            ("#3a2a1f", "dark brown"),
            ("#a0522d", "brown"),
            ("#d2b48c", "beige"),
            ("#dd7d2f", "orange"),
            ("#e5c63f", "yellow"),
            ("#c08a35", "ochre"),
            ("#556b2f", "olive"),
            ("#1f3d2b", "dark green"),
            ("#8fa7bd", "blue"),
            ("#87ceeb", "pale blue"),
            ("#a999ba", "purple"),
            ("#b4332e", "red"),
            ("#ff00ff", "pink"),
            ("#d8979b", "pink"),
            ("none", "none"),
            ("#1234é", "#1234é"),
        ] {
            assert_eq!(word_of(colour), word, "{colour}");
        }
    }

    #[test]
    fn colours_with_the_same_word_have_names_of_their_own() {
        let names = |colours: &[&str]| {
            names_of(&colours.iter().map(|colour| (*colour).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(names(&["#a0522d", "#8b5a3c", "#909090"]), ["brown", "lighter brown", "grey"]);
        assert_eq!(
            names(&["#7d583d", "#6b4a32", "#684a30", "#8b6548"]),
            ["brown", "darker brown", "darker brown, #684a30", "lighter brown"]
        );
        assert_eq!(names(&["#3a2a1f", "#4a3525"]), ["dark brown", "less dark brown"]);
        assert_eq!(
            names(&["#c0c0c0", "#d0d0d0", "#b0b0b0"]),
            ["pale grey", "very pale grey", "less pale grey"]
        );
        assert_eq!(names(&["none", "none"]), ["none", "none"]);
    }

    #[test]
    fn the_first_colour_of_a_text_is_found_with_its_shade() {
        assert_eq!(named_in("Pale grey, moss green").as_deref(), Some("#cfceca"));
        assert_eq!(named_in("moss green and grey").as_deref(), Some("#558259"));
        assert_eq!(named_in("dark-blue").as_deref(), Some("#24345c"));
        assert_eq!(named_in("reddish, ungrey, أزرق"), None);
    }
}
