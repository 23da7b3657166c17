//! Templates: texts with columns in braces, such as `https://artic.example/artworks/{id}`.

use crate::path::Path;

/// A text with columns in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Column(Path),
}

impl Template {
    /// Parses a template. The error completes “the template …”.
    pub(crate) fn parse(text: &str) -> Result<Template, &'static str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (column, after) = after.split_once('}').ok_or("has { without }")?;
            if column.trim().is_empty() {
                return Err("has {} without a column in it");
            }
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Column(Path::new(column)));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        if !pieces.iter().any(|piece| matches!(piece, Piece::Column(_))) {
            return Err("has no column in braces; for a constant say value");
        }
        Ok(Template { text: text.to_owned(), pieces })
    }

    /// Returns the columns, in their order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Path> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Column(path) => Some(path),
            Piece::Text(_) => None,
        })
    }

    /// Returns the n-th text: the n-th parts of all columns belong together, and a column with one part has it in every text. An
    /// absent part leaves out the text, since an address with a hole leads elsewhere.
    pub(crate) fn filled(&self, parts: &[Vec<Option<String>>], index: usize) -> Option<String> {
        let mut columns = parts.iter();
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Column(_) => {
                    let parts = columns.next()?;
                    let part = if parts.len() == 1 { parts.first() } else { parts.get(index) };
                    text.push_str(part?.as_deref()?);
                }
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[&str]) -> Vec<Option<String>> {
        parts.iter().map(|part| (!part.is_empty()).then(|| (*part).to_owned())).collect()
    }

    #[test]
    fn the_nth_parts_of_columns_belong_together() {
        let template = Template::parse("{site}/iiif/{image}/{size}.jpg").unwrap();
        assert_eq!(template.columns().map(Path::as_str).collect::<Vec<_>>(), ["site", "image", "size"]);
        let columns = [parts(&["s"]), parts(&["a", "", "c"]), parts(&["1", "2"])];
        assert_eq!(template.filled(&columns, 0).as_deref(), Some("s/iiif/a/1.jpg"));
        assert_eq!(template.filled(&columns, 1), None);
        assert_eq!(template.filled(&columns, 2), None);
    }

    #[test]
    fn braces_must_name_columns() {
        assert_eq!(Template::parse("a{b"), Err("has { without }"));
        assert_eq!(Template::parse("a{ }"), Err("has {} without a column in it"));
        assert_eq!(Template::parse("a}"), Err("has no column in braces; for a constant say value"));
    }
}
