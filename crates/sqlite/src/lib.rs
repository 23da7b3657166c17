//! Plumbing for SQLite files over sqlx: opening them under the right pragmas, refusing files of others, saying what an error
//! means, copying a database in use, and detecting that another process wrote to one.
//!
//! The event log, the ledger, the vault and their backups in `write`, and the read models in `read`, are built on it. It
//! promises that no file is written to before it was recognised, and that an error says whether a retry may help.
//!
//! In reading order: `open` has the options of readers and writers and the lock of the one writer; `format` recognises a
//! program's own files; `schema` compares the tables of a file from elsewhere with what creates them; `error` tells temporary failures
//! from damage; `copy` copies and attaches databases; `change` tells whether a file was written since it was last read.
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use sqlite::{FileFormat, lock_writer, reading, vacuum_into, writing};
//! use sqlx::{ConnectOptions, Connection};
//!
//! const NOTES: FileFormat =
//!     FileFormat { application_id: 0x4e4f_5445, version: 1, what: "a notebook", program: "Notes" };
//!
//! let folder = tempfile::tempdir()?;
//! let (file, copy) = (folder.path().join("notes.db"), folder.path().join("copy.db"));
//! let _lock = lock_writer(&file, "the notebook")?;
//! assert_eq!(NOTES.check(&file).await?, None, "there is no file yet");
//!
//! let mut writer = writing(&file).connect().await?;
//! let mut transaction = writer.begin().await?;
//! sqlx::raw_sql("CREATE TABLE notes (text TEXT)").execute(&mut *transaction).await?;
//! NOTES.stamp(&mut transaction).await?;
//! transaction.commit().await?;
//! assert_eq!(NOTES.check(&file).await?, Some(1));
//!
//! vacuum_into(&mut reading(&file).connect().await?, &copy).await?;
//! assert_eq!(NOTES.check(&copy).await?, Some(1));
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
//! ```

mod change;
mod copy;
mod error;
mod format;
mod open;
mod schema;

pub use change::{ChangeDetector, FileStamps};
pub use copy::{Source, copy, rewriting_from, vacuum_into};
pub use error::{Error, array, integer, is_damage};
pub use format::FileFormat;
pub use open::{
    check_library, journal_files, lazy_readers, lock_writer, options, readers, reading, rewriting, writing,
};
pub use schema::{check_schema, check_schema_of_file};
