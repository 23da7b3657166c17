//! The settings of a program: each is taken from its flag, else from its variable, else from the settings file, else it has its
//! default. All that is wrong is reported at once, with the place where it was set. The settings of `loggia` are read with it.
//!
//! A program declares its settings in sections with [`section!`], lists them in a [`Table`], and reads them with [`Table::read`]
//! from [`Sources`], which a test fills without an environment.
//!
//! ```
//! use settings::values::ByteSize;
//! use settings::{Sources, Table, Value, section};
//!
//! section! {
//!     /// The cache.
//!     Cache {
//!         size: ByteSize = Value::required => "cache_size" "The size of the cache." {
//!             shape: "SIZE", example: "2GiB", default: Some("512MiB"),
//!         },
//!     }
//! }
//!
//! static TABLE: Table = Table { program: "shop", sections: &[Cache::SETTINGS], other_variables: &[] };
//!
//! let read = |sources: Sources| TABLE.read(&sources, |values| Cache::read(values));
//! let environment = [("SHOP_CACHE_SIZE".to_owned(), "2GiB".to_owned())].into();
//! assert_eq!(read(Sources { environment, ..Sources::default() })?.size, ByteSize(2 << 30));
//! let file = Some(("shop.toml".into(), "cache_sise = '2GiB'".to_owned()));
//! assert_eq!(
//!     read(Sources { file, ..Sources::default() }).unwrap_err().to_string(),
//!     "shop.toml sets “cache_sise”, which is not a setting; did you mean cache_size? `shop config` lists them all"
//! );
//! # Ok::<(), settings::InvalidSettings>(())
//! ```
//!
//! [`setup`] asks for settings and writes a first settings file.
//!
//! Considered instead: clap's `env` and figment. Figment keeps the place of a value too, but both stop at the first value of
//! a wrong type, and neither suggests the nearest name of a variable nor hides passwords in messages. Reporting all errors at
//! once, with these, is most of the code here.

mod resolved;
mod section;
mod setting;
pub mod setup;
mod sources;
mod table;
pub mod values;

pub use resolved::{InvalidSettings, ResolvedSetting, SettingError, Values};
pub use section::Value;
pub use setting::{Setting, nearest};
pub use sources::{SourceError, Sources};
pub use table::Table;
