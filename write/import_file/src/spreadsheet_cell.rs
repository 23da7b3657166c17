//! Texts in the cells of a table. Spreadsheet programs run what begins with `=`, `+`, `-` or `@` as a formula; `loggia export` writes an
//! apostrophe before it, which makes it a text there, and an import without a mapping removes that apostrophe again.

use std::borrow::Cow;

/// Returns a text as a cell that no spreadsheet program takes for a formula. [`text_of_cell`] returns the text again, whatever it is.
pub(crate) fn cell_of_text(text: &str) -> Cow<'_, str> {
    if is_escaped(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Returns a text as a cell of a workbook that has the type text, and so needs no apostrophe, except before one that [`text_of_cell`]
/// would remove.
pub(crate) fn workbook_cell_of_text(text: &str) -> Cow<'_, str> {
    if text.starts_with('\'') { cell_of_text(text) } else { Cow::Borrowed(text) }
}

/// Returns the text of a cell: without the apostrophe that [`cell_of_text`] wrote.
pub(crate) fn text_of_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_escaped(text)).unwrap_or(cell)
}

/// Returns whether a text has an apostrophe in its cell. So has one that has apostrophes of its own before the beginning of a formula:
/// otherwise its first would be removed. A negative number is no formula.
fn is_escaped(text: &str) -> bool {
    let bare = text.trim_start_matches('\'');
    bare.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_negative_number(text)
}

fn is_negative_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    whole.strip_prefix('-').is_some_and(is_digits) && is_digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_like_a_formula_is_a_text() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1234", "'+49 30 1234"),
            ("- untitled -", "'- untitled -"),
            ("@studio", "'@studio"),
            ("-", "'-"),
            ("-1.2.3", "'-1.2.3"),
            ("-8.54", "-8.54"),
            ("-8", "-8"),
            ("’tis", "’tis"),
            ("'t Huis", "'t Huis"),
            ("A = B", "A = B"),
            ("", ""),
        ] {
            assert_eq!(cell_of_text(text), cell);
        }
    }

    #[test]
    fn every_text_comes_back() {
        let begins =
            ["", "'", "''", "'''", "-", "-8", "'-8", "''-8", "=", "'=", "''=", "'+a", "@", "'t", "\t", "'\t"];
        for begin in begins {
            for end in ["", "1", "'", "=", " a"] {
                let text = format!("{begin}{end}");
                let cell = cell_of_text(&text).into_owned();
                assert_eq!(text_of_cell(&cell), text, "{cell}");
                assert_eq!(text_of_cell(&workbook_cell_of_text(&text)), text);
                assert!(!cell.starts_with(['=', '+', '@', '\t']), "{cell}");
            }
        }
    }

    #[test]
    fn cells_of_others_stay_as_they_are() {
        for cell in ["'t Huis", "=1+1", "-8", "'", "'-8"] {
            assert_eq!(text_of_cell(cell), cell);
        }
    }
}
