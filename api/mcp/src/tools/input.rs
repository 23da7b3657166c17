//! The input of a tool, declared once with the names and types of its arguments: the JSON Schema for agents, the known names and the
//! parsing of a call follow from the declaration.
//!
//! Schemas stay flat, without `$ref`, `anyOf` and lists of types, which some clients refuse.

use answers::catalog::cited::CiteStyle;
use answers::catalog::detail::Detail;
use answers::catalog::mode::Mode;
use read::archive::TermKind;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde_json::{Value as Json, json};

use crate::tools::arguments::{Arguments, Limit, MOST_RESULTS, USUAL_RESULTS};

/// Declares the struct `Input` of a tool. Each argument has a name, a type and, unless its type brings one, a description for agents, in
/// which a name in braces stands for an example of the catalog; an `Option` may be omitted.
macro_rules! input {
    ($($name:ident: $type:ty $(= $description:expr)?,)+) => {
        struct Input {
            $($name: $type,)+
        }

        impl Input {
            const NAMES: &[&str] = &[$(stringify!($name)),+];

            fn schema() -> serde_json::Value {
                use $crate::tools::input::{Property, schema};
                schema([$(Property::of::<$type>(stringify!($name), &[$($description)?])),+])
            }

            fn read(
                arguments: &mut $crate::tools::arguments::Arguments<'_>,
            ) -> Result<Input, $crate::tools::answer::Refusal> {
                use $crate::tools::input::Argument;
                $(let $name = <$type as Argument>::read(arguments, stringify!($name));)+
                Ok(Input { $($name: arguments.complete($name)?,)+ })
            }
        }
    };
}
pub(super) use input;

/// The type of an argument.
pub(super) trait Argument: Sized {
    const IS_REQUIRED: bool;

    fn schema() -> Json;

    /// Reads the argument; `None` after adding an error.
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Self>;
}

/// A type of values. As the type of an argument it is required, in an `Option` it may be omitted.
pub(super) trait Value: Sized {
    fn schema() -> Json {
        json!({"type": "string"})
    }

    /// Reads the value; `None` if it is absent, null or blank, or after adding an error.
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Self>;
}

impl<T: Value> Argument for T {
    const IS_REQUIRED: bool = true;

    fn schema() -> Json {
        <T as Value>::schema()
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<T> {
        let faults = arguments.faults();
        let value = <T as Value>::read(arguments, name);
        if value.is_none() && arguments.faults() == faults {
            arguments.fault(format!("{name} is missing"));
        }
        value
    }
}

impl<T: Value> Argument for Option<T> {
    const IS_REQUIRED: bool = false;

    fn schema() -> Json {
        <T as Value>::schema()
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Option<T>> {
        Some(<T as Value>::read(arguments, name))
    }
}

impl Argument for Limit {
    const IS_REQUIRED: bool = false;

    fn schema() -> Json {
        json!({
            "type": "integer", "minimum": 1, "maximum": MOST_RESULTS, "default": USUAL_RESULTS,
            "description": "Results a call",
        })
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Limit> {
        Some(arguments.limit(name))
    }
}

/// A text of at most `MOST` characters.
pub(super) struct Text<const MOST: usize>(pub(super) String);

impl<const MOST: usize> Value for Text<MOST> {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Self> {
        arguments.bounded(name, MOST).map(|text| Text(text.into_owned()))
    }
}

impl Value for Category {
    fn schema() -> Json {
        json!({"type": "string", "enum": Category::ALL.map(Category::as_str), "description": "Only this kind"})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Category> {
        arguments.one_of(name, Category::parse, &Category::ALL.map(Category::as_str))
    }
}

impl Value for Detail {
    fn schema() -> Json {
        json!({"type": "string", "enum": Detail::NAMES, "description": "See search_projects"})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Detail> {
        arguments.one_of(name, Detail::parse, &Detail::NAMES)
    }
}

impl Value for CiteStyle {
    fn schema() -> Json {
        json!({"type": "string", "enum": CiteStyle::NAMES, "description": "Adds citation"})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<CiteStyle> {
        arguments.one_of(name, CiteStyle::parse, &CiteStyle::NAMES)
    }
}

impl Value for Dimension {
    fn schema() -> Json {
        json!({"type": "string", "enum": Dimension::ALL.map(Dimension::as_str)})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Dimension> {
        arguments.one_of(name, Dimension::parse, &Dimension::ALL.map(Dimension::as_str))
    }
}

impl Value for Mode {
    fn schema() -> Json {
        json!({"type": "string", "enum": Mode::NAMES})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Mode> {
        arguments.one_of(name, Mode::parse, &Mode::NAMES)
    }
}

impl Value for TermKind {
    fn schema() -> Json {
        json!({"type": "string", "enum": TermKind::NAMES})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<TermKind> {
        arguments.one_of(name, TermKind::parse, &TermKind::NAMES)
    }
}

/// An argument in the schema of a tool.
pub(super) struct Property {
    name: &'static str,
    is_required: bool,
    schema: Json,
}

impl Property {
    /// Returns the property of an argument of type `T`, with its description in place of the one of its type, if it has one.
    pub(super) fn of<T: Argument>(name: &'static str, description: &[&str]) -> Property {
        let mut schema = T::schema();
        if let (Some(members), Some(text)) = (schema.as_object_mut(), description.first()) {
            members.insert("description".into(), (*text).into());
        }
        Property { name, is_required: T::IS_REQUIRED, schema }
    }
}

/// Returns the JSON Schema of an input with these properties.
pub(super) fn schema<const N: usize>(properties: [Property; N]) -> Json {
    let required: Vec<&str> = properties.iter().filter(|one| one.is_required).map(|one| one.name).collect();
    let properties: serde_json::Map<String, Json> =
        properties.into_iter().map(|one| (one.name.to_owned(), one.schema)).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if let (Some(members), false) = (schema.as_object_mut(), required.is_empty()) {
        members.insert("required".into(), required.into());
    }
    schema
}
