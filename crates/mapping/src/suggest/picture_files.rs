//! Where the picture files are that a column names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use unicode_normalization::UnicodeNormalization;

use crate::address::decoded;

use super::column::{Column, is_address, is_picture};
use super::details::picture_separator;
use super::draft::{Line, Picture};
use super::files_beside::FilesBeside;
use super::members::Columns;
use super::scores::SURE;

/// Where most of the named files are.
#[derive(Debug, PartialEq, Eq)]
struct Place<'a> {
    /// The folder with a slash at its end; empty for that of the file of records.
    folder: &'a str,
    /// What stands behind the names, such as `.jpg`, where the names are keys.
    ending: &'a str,
    /// The number of names of which there is a file.
    found: usize,
}

impl Columns<'_> {
    /// Writes where the files of a picture are, or that there are none. The sentence that is returned says that there are none.
    pub(crate) fn locate(&self, picture: &mut Picture) -> Option<String> {
        let files = self.files?;
        let column = &self.columns[*picture.source.columns.first()?];
        let names = names(column, &picture.source);
        if names.is_empty() {
            return None;
        }
        let of = count(names.len());
        // Braces in the name of a column would end it within a pattern.
        let place = place(&names, files, picture.pattern.is_some());
        let Some(place) = place.filter(|place| place.is_here() || !column.name.contains(['{', '}'])) else {
            let where_not = if files.are_all {
                "beside the file, or up to two folders below it"
            } else {
                "among the files beside it and below it that were looked through"
            };
            picture.source.reason += &format!("; none of the {of} it names is {where_not}");
            picture.source.score = picture.source.score.min(SURE - 1);
            return Some(format!("None of the {of} that “{}” names is {where_not}.", column.name));
        };
        let folder = place.folder.trim_end_matches('/');
        let place_name =
            if folder.is_empty() { "beside the file".to_owned() } else { format!("in {folder}") };
        if picture.pattern.is_some() {
            picture.source.reason = "it has keys of pictures".to_owned();
        }
        picture.source.reason += &match (place.found, names.len()) {
            (1, 1) => format!("; the file it names is {place_name}"),
            (found, all) if found == all => format!("; the {of} it names are {place_name}"),
            (found, _) => format!("; {found} of the {of} it names are {place_name}"),
        };
        if place.found * 2 >= names.len() {
            picture.source.score = picture.source.score.max(SURE);
        }
        if !place.is_here() {
            picture.pattern = Some(format!("{}{{{}}}{}", place.folder, column.name, place.ending));
        }
        None
    }
}

impl Place<'_> {
    /// Returns whether the names are those of the files beside the file of records, as they stand.
    fn is_here(&self) -> bool {
        self.folder.is_empty() && self.ending.is_empty()
    }
}

fn count(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// Returns the different names of files in a column, as its source will read them.
fn names(column: &Column, source: &Line) -> BTreeSet<String> {
    let has = |wanted: &str| source.keys.iter().any(|(key, _)| *key == wanted);
    // Addresses in brackets.
    if has("find") {
        return BTreeSet::new();
    }
    let separator = picture_separator(column);
    let parts = column.texts().flat_map(|text| match separator {
        Some(separator) => text.split(separator).collect(),
        None => vec![text],
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty() && !is_address(part));
    let parts = parts.map(|part| if has("decode") { decoded(part) } else { part.to_owned() });
    parts.map(|name| name.nfc().collect::<String>().trim_start_matches("./").to_owned()).collect()
}

/// Returns where most of the files are that have one of these names, or whose names have one of these keys before their endings; `None`
/// if there are none. Of two folders with as many, the one that is nearer.
fn place<'a>(names: &BTreeSet<String>, files: &'a FilesBeside, are_keys: bool) -> Option<Place<'a>> {
    let mut named: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for path in files.paths.iter().filter(|path| is_picture(path) && !path.contains(['{', '}'])) {
        let folders = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
        for (folder, name) in folders.map(|at| path.split_at(at)) {
            let end = if are_keys { name.rfind('.').unwrap_or(name.len()) } else { name.len() };
            let (name, ending) = name.split_at(end);
            named.entry(name).or_default().push((folder, ending));
        }
    }
    let mut found: BTreeMap<(usize, &str, &str), usize> = BTreeMap::new();
    for &(folder, ending) in names.iter().filter_map(|name| named.get(name.as_str())).flatten() {
        *found.entry((folder.matches('/').count(), folder, ending)).or_default() += 1;
    }
    let most = found.values().copied().max()?;
    let ((_, folder, ending), found) = found.into_iter().find(|(_, found)| *found == most)?;
    Some(Place { folder, ending, found })
}

#[cfg(test)]
mod tests {
    use crate::row;
    use crate::suggest::{Sample, Suggestion, suggest};

    use super::*;

    fn suggested(heading: &str, names: [&str; 3], paths: &[&str], are_all: bool) -> Suggestion {
        let headings = ["No", "Title", "Type", heading].map(str::to_owned);
        let works = [("1", "Quay", "chair"), ("2", "Stair", "chair"), ("3", "Net", "lamp")];
        let records: Vec<_> = works
            .into_iter()
            .zip(names)
            .map(|((id, title, kind), name)| {
                row(&headings, [id, title, kind, name].map(str::to_owned).to_vec())
            })
            .collect();
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        suggest(&Sample {
            file: "works.csv",
            headings: &headings,
            records: &records,
            read: 3,
            options: &Default::default(),
            notes: &[],
            files: Some(&FilesBeside { paths, are_all }),
        })
    }

    /// Returns the lines about pictures: the comment from its last reason on, and the source.
    fn pictures(suggestion: &Suggestion) -> (bool, String, String) {
        crate::Mapping::parse("works.toml", &suggestion.toml).unwrap();
        let (_, pictures) = suggestion.toml.split_once("[[pictures]]\n").unwrap();
        let mut lines = pictures.lines();
        let (comment, source) = (lines.next().unwrap(), lines.next().unwrap());
        let reason = comment.rsplit("; ").next().unwrap();
        (comment.starts_with("# check:"), reason.to_owned(), source.to_owned())
    }

    #[test]
    fn pictures_are_found_in_a_folder_below() {
        let names = ["a.jpg; b.jpg", "c.jpg", ""];
        let files = ["scans/2024/a.jpg", "scans/2024/b.jpg", "scans/2024/c.jpg", "old/a.jpg", "works.csv"];
        let suggestion = suggested("Photo", names, &files, true);
        let source = "source = { template = \"scans/2024/{Photo}\", split = \";\" }";
        let expected = (false, "the 3 files it names are in scans/2024".to_owned(), source.to_owned());
        assert_eq!((pictures(&suggestion), suggestion.notes), (expected, Vec::<String>::new()));
        let suggestion =
            suggested("Photo", ["a.jpg", "b.jpg", "x.jpg"], &["scans/a.jpg", "scans/b.jpg"], true);
        let source = "source = \"scans/{Photo}\"";
        let expected = (false, "2 of the 3 files it names are in scans".to_owned(), source.to_owned());
        assert_eq!(pictures(&suggestion), expected);
    }

    #[test]
    fn pictures_beside_the_file_are_named_as_they_stand() {
        let files = ["a.jpg", "old/a.jpg", "b.jpg", "old/b.jpg", "img/c.jpg"];
        let suggestion = suggested("Photo", ["a.jpg", "b.jpg", "img/c.jpg"], &files, true);
        let said = "the 3 files it names are beside the file";
        assert_eq!(pictures(&suggestion), (false, said.to_owned(), "source = \"Photo\"".to_owned()));
    }

    #[test]
    fn names_in_another_unicode_form_and_encoded_ones_are_found() {
        let names = ["Bru\u{308}cke%20a.jpg", "Br%C3%BCcke%20b.jpg", ""];
        let suggestion = suggested("Photo", names, &["fotos/Brücke a.jpg", "fotos/Brücke b.jpg"], true);
        let source = "source = { template = \"fotos/{Photo}\", decode = true }";
        let expected = (false, "the 2 files it names are in fotos".to_owned(), source.to_owned());
        assert_eq!(pictures(&suggestion), expected);
    }

    #[test]
    fn the_ending_stands_behind_keys() {
        let files = ["img/k-7.png", "img/k-8.png", "img/k-9.png", "small/k-7.jpg"];
        let suggestion = suggested("image_id", ["k-7", "k-8", "k-9"], &files, true);
        let source = "source = \"img/{image_id}.png\"";
        let expected = (false, "the 3 files it names are in img".to_owned(), source.to_owned());
        assert_eq!(pictures(&suggestion), expected);
    }

    #[test]
    fn it_is_said_where_no_file_is_found() {
        let names = ["a.jpg", "b.jpg", "c.jpg"];
        let suggestion = suggested("Photo", names, &["other/x.jpg"], true);
        let said = "none of the 3 files it names is beside the file, or up to two folders below it";
        let expected = (true, said.to_owned(), "source = \"Photo\"".to_owned());
        assert_eq!(pictures(&suggestion), expected);
        let note =
            "None of the 3 files that “Photo” names is beside the file, or up to two folders below it.";
        assert_eq!(suggestion.notes, [note]);
        let suggestion = suggested("Photo", names, &["other/x.jpg"], false);
        let note = "None of the 3 files that “Photo” names is among the files beside it and below it that were looked through.";
        assert_eq!(suggestion.notes, [note]);
    }

    #[test]
    fn addresses_are_not_looked_for() {
        let names = ["https://a.example/a.jpg", "https://a.example/b.jpg", "https://a.example/c.jpg"];
        let suggestion = suggested("Photo", names, &["a.jpg"], true);
        let said = "its values fit (40 of 40)";
        assert!(
            suggestion
                .toml
                .contains("its name says so (60 of 60), its values fit (40 of 40)\nsource = \"Photo\"")
        );
        assert_eq!((pictures(&suggestion).1.contains(said), suggestion.notes), (true, Vec::<String>::new()));
    }
}
