//! Maps the records of somebody else's file to import records, by a mapping that is a TOML file.
//!
//! A mapping names a column, or a path into nested JSON, for each member of the import record, and says what is done to its text.
//! Nothing is guessed: a year that is not sure is no year, a value that is in no table is counted, a picture that cannot be used is
//! refused without its record. Files are read elsewhere, by `record_files`: a record here is an object of columns, or nested JSON.
//!
//! 1. [`Mapping::parse`] reads the TOML and returns all its faults with their lines; [`Mapping::faulty_columns`] and
//!    [`Mapping::unused_columns`] compare it with the headings of a table.
//! 2. [`Application`] maps one record after the other: [`Mapped`] or [`Rejected`].
//! 3. [`Summary`] has counts and sentences about all of them.
//! 4. [`suggest`] writes a first mapping for a file, by the names and values of its columns.
//!
//! ```
//! use mapping::{Application, Mapping};
//!
//! let mapping = Mapping::parse(
//!     "works.toml",
//!     r#"
//!     [record]
//!     name     = "Titel"
//!     studio   = { from = "Wer", invert = true }
//!     year     = "Jahr"
//!     category = { value = "art" }
//!     [details]
//!     Date     = { from = "Jahr", unless = "year" }
//!     "#,
//! )?;
//! let row = serde_json::json!({"Titel": "Netze", "Wer": "Pellow, Agnes", "Jahr": "um 1890"});
//! let mut application = Application::new(&mapping);
//! let mapped = application.record(row.as_object().unwrap()).expect("it has a name and a category");
//! assert_eq!(
//!     serde_json::Value::from(mapped.members),
//!     serde_json::json!({
//!         "name": "Netze", "studio": "Agnes Pellow", "category": "art",
//!         "details": [{"label": "Date", "value": "um 1890"}],
//!     })
//! );
//! assert_eq!(application.summary().sentences(), ["Year: 0 sure, 1 kept as text (“um 1890” once), 0 without."]);
//! # Ok::<(), mapping::MappingError>(())
//! ```

mod address;
mod apply;
mod cell;
mod date;
mod document;
mod html;
mod mapping;
mod member;
mod patch;
mod path;
mod people;
mod source;
pub mod suggest;
mod summary;
mod template;
mod values;

#[cfg(test)]
mod tests;

pub use address::picture as picture_source;
pub use apply::{Application, Mapped, PatternFile, RefusedPicture, Rejected};
pub use document::{MappingError, MappingFault};
pub use mapping::{Mapping, no_column};
pub use member::Member;
pub use path::{column_name, row};
pub use summary::{Counts, Summary};
