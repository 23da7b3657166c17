//! Which file is imported, and how it is read.

use std::path::{Path, PathBuf};

use mapping::Mapping;
use record_files::{SourceFormat, SourceOptions};
use schemas::command::LineForm;
use schemas::kept_mappings::LastFile;

/// Which file is imported, and how it is read.
#[derive(Debug, Clone, Default)]
pub struct ImportFile {
    /// The file or folder; `-` is standard input.
    pub path: PathBuf,
    /// What the command says about the file; it goes before what the mapping says.
    pub said: SourceOptions,
    /// The mapping of its columns.
    pub mapping: Option<Mapping>,
    /// The file that was imported with the mapping before, if that is known.
    pub last_file: Option<LastFile>,
    /// The file with the JSON object that renames headings.
    pub columns: Option<PathBuf>,
    /// Whether every line is the whole record, also where a table has columns for some members only.
    pub is_whole: bool,
    /// Whether records in JSON are merge patches.
    pub is_patch: bool,
    /// Whether control characters are replaced as Windows-1252.
    pub repairs: bool,
}

impl ImportFile {
    /// Returns whether it is standard input.
    pub fn is_standard_input(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Returns the folder below which picture files are: a folder of records, the folder of a file, or the current folder.
    pub fn folder(&self) -> PathBuf {
        match self.path.is_dir() {
            true => self.path.clone(),
            false => self.path.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    /// Returns its name, as sentences name it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns what is known about the source. What the mapping says about its own source is not said about a file of rejected lines.
    pub(crate) fn source_options(&self, is_of_rejects: bool) -> SourceOptions {
        let of_mapping = self.mapping.as_ref().filter(|_| !is_of_rejects).map(|mapping| mapping.file.clone());
        let SourceOptions { format, encoding, delimiter, sheet, headings, records } =
            of_mapping.unwrap_or_default();
        let said = self.said.clone();
        // Nothing shows the format of a stream that may be empty.
        let of_stream = self.is_standard_input().then_some(SourceFormat::Json);
        SourceOptions {
            format: said.format.or(format).or(of_stream),
            encoding: said.encoding.or(encoding),
            delimiter: said.delimiter.or(delimiter),
            sheet: said.sheet.or(sheet),
            headings: said.headings.or(headings),
            records: said.records.or(records),
        }
    }

    /// Returns how much of a record a line of this format is.
    pub(crate) fn form(&self, format: SourceFormat) -> LineForm {
        match format {
            _ if self.mapping.is_some() => match self.is_whole {
                true => LineForm::Record,
                false => LineForm::Patch,
            },
            SourceFormat::Csv | SourceFormat::Xlsx if self.is_whole => LineForm::Cells,
            SourceFormat::Csv | SourceFormat::Xlsx => LineForm::Patch,
            SourceFormat::Json | SourceFormat::Folder if self.is_patch => LineForm::Patch,
            SourceFormat::Json | SourceFormat::Folder => LineForm::Record,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str =
        "[file]\nsheet = \"Works\"\nheadings = 3\n[record]\nname = \"T\"\ncategory = { value = \"art\" }\n";

    #[test]
    fn what_the_command_says_goes_before_what_the_mapping_says() {
        let mapping = Mapping::parse("a.toml", TOML).unwrap();
        let said = SourceOptions { sheet: Some("Old".into()), ..SourceOptions::default() };
        let file =
            ImportFile { path: "a.xlsx".into(), said, mapping: Some(mapping), ..ImportFile::default() };
        let expected =
            SourceOptions { sheet: Some("Old".into()), headings: Some(3), ..SourceOptions::default() };
        assert_eq!(file.source_options(false), expected);
        assert_eq!(file.source_options(true), file.said);
        let stream = ImportFile { path: "-".into(), ..ImportFile::default() };
        assert_eq!(stream.source_options(false).format, Some(SourceFormat::Json));
    }
}
