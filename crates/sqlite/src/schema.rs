//! Compares the schema of a database that somebody else may have written with the statements that create it. A trigger changes what is
//! written afterwards, a view shows what is not stored, and a constraint such as `ON CONFLICT REPLACE` deletes rows: the bytes of every
//! row may be right, and the file must not be used nevertheless.

use std::path::Path;

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::{Error, options, reading};

/// Tables that `ANALYZE` adds to any database; they only help to choose indexes.
const STATISTICS: [(&str, &str); 2] = [
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// A table, an index, a trigger or a view.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SchemaObject {
    kind: String,
    name: String,
    table: String,
    /// The statement that creates it, without blanks and comments; empty for an index that a constraint creates.
    sql: String,
}

/// Checks that a database has exactly the tables and indexes that one of these lists of statements creates in an empty one. Comments and
/// blanks may differ, and `ANALYZE` may have been run.
///
/// # Errors
///
/// Fails with [`Error::Corrupt`] and the first difference from the first list, and if the schema cannot be read.
pub async fn check_schema(
    connection: &mut SqliteConnection,
    accepted: &[&[&'static str]],
) -> Result<(), Error> {
    let mut found = objects(connection).await?;
    found.retain(|object| !STATISTICS.contains(&(object.name.as_str(), object.sql.as_str())));
    let mut first = None;
    for statements in accepted {
        let expected = created_by(statements).await?;
        match difference(&expected, &found) {
            None => return Ok(()),
            Some(difference) => first = first.or(Some(difference)),
        }
    }
    let reason = first.unwrap_or_else(|| "no schema is known for it".to_owned());
    Err(Error::Corrupt(format!("its schema is not the one that it is created with: {reason}")))
}

/// Opens a file that is not written meanwhile, without locks and without what may be in journals beside it, and checks it as
/// [`check_schema`] does.
///
/// # Errors
///
/// Fails as [`check_schema`] does, and if the file cannot be opened.
pub async fn check_schema_of_file(path: &Path, accepted: &[&[&'static str]]) -> Result<(), Error> {
    let mut reader = reading(path).immutable(true).connect().await?;
    let checked = check_schema(&mut reader, accepted).await;
    reader.close().await?;
    checked
}

async fn objects(connection: &mut SqliteConnection) -> Result<Vec<SchemaObject>, Error> {
    let rows: Vec<(String, String, String, Option<String>)> =
        sqlx::query_as("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetch_all(connection).await?;
    let object = |(kind, name, table, sql): (String, String, String, Option<String>)| SchemaObject {
        kind,
        name,
        table,
        sql: sql.as_deref().map(normalised).unwrap_or_default(),
    };
    let mut objects: Vec<SchemaObject> = rows.into_iter().map(object).collect();
    objects.sort();
    Ok(objects)
}

async fn created_by(statements: &[&'static str]) -> Result<Vec<SchemaObject>, Error> {
    let mut empty = options(Path::new(":memory:")).connect().await?;
    for statement in statements {
        sqlx::raw_sql(*statement).execute(&mut empty).await?;
    }
    let created = objects(&mut empty).await?;
    empty.close().await?;
    Ok(created)
}

/// Returns the first difference as a part of a sentence. What was added comes first: it is the most dangerous.
fn difference(expected: &[SchemaObject], found: &[SchemaObject]) -> Option<String> {
    let named = |object: &SchemaObject| format!("the {} “{}”", object.kind, object.name.escape_debug());
    let same_name = |object: &SchemaObject, other: &SchemaObject| {
        (&object.kind, &object.name) == (&other.kind, &other.name)
    };
    let is_known = |object: &&SchemaObject| expected.iter().any(|known| same_name(known, object));
    if let Some(added) = found.iter().find(|object| !is_known(object)) {
        return Some(format!("{} was added", named(added)));
    }
    if let Some(changed) = found.iter().find(|object| !expected.contains(object)) {
        return Some(format!("{} is another one", named(changed)));
    }
    if let Some(missing) = expected.iter().find(|object| !found.contains(object)) {
        return Some(format!("{} is missing", named(missing)));
    }
    (found.len() != expected.len()).then(|| "something is in it twice".to_owned())
}

/// Returns a statement without comments, and with a blank only where two words would become one.
fn normalised(sql: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(sql.len()), sql);
    let mut is_apart = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_ascii_whitespace() => 1,
            _ => {
                let end = token_length(rest, first);
                let (token, last) = (&rest[..end], text.chars().next_back());
                if is_apart && is_word(first) && last.is_some_and(is_word) {
                    text.push(' ');
                }
                text.push_str(token);
                is_apart = false;
                rest = &rest[end..];
                continue;
            }
        };
        is_apart = true;
        rest = &rest[length..];
    }
    text
}

/// Returns the length of the token at the beginning of a text: of all that is quoted, or of one character.
fn token_length(text: &str, first: char) -> usize {
    let closing = match first {
        '\'' | '"' | '`' => first,
        '[' => ']',
        _ => return first.len_utf8(),
    };
    // A doubled quote within the quotes ends one token and begins the next, which comes to the same.
    text[1..].find(closing).map_or(text.len(), |end| end + 2)
}

/// Returns whether a character is a part of words, or begins or ends something quoted, which is as far from a word.
fn is_word(letter: char) -> bool {
    letter.is_alphanumeric()
        || !letter.is_ascii()
        || matches!(letter, '_' | '$' | '\'' | '"' | '`' | '[' | ']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writing;

    const LISTS: &str = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); \
                         CREATE INDEX lists_by_name ON lists (name);";
    const WITH_TIME: &str = "ALTER TABLE lists ADD COLUMN time INTEGER";

    async fn checked(statements: &'static str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.db");
        let mut writer = writing(&file).connect().await.unwrap();
        sqlx::raw_sql(statements).execute(&mut writer).await.unwrap();
        let accepted: [&[&str]; 2] = [&[LISTS, WITH_TIME], &[LISTS]];
        let open = check_schema(&mut writer, &accepted).await.map_err(|error| error.to_string());
        // Closing it writes the journal back into the file.
        writer.close().await.unwrap();
        let closed = check_schema_of_file(&file, &accepted).await.map_err(|error| error.to_string());
        assert_eq!(open, closed);
        open
    }

    #[tokio::test]
    async fn the_schema_of_any_accepted_version_is_that_of_the_statements() {
        let written_differently = "CREATE TABLE lists (
                id   INTEGER PRIMARY KEY, -- a number; it's counted
                name TEXT    NOT NULL UNIQUE /* (shown) */
            );
            CREATE INDEX lists_by_name ON lists(name)";
        let analysed = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, time INTEGER); \
                        CREATE INDEX lists_by_name ON lists (name); \
                        INSERT INTO lists VALUES (1, 'a', 2); ANALYZE;";
        for statements in [LISTS, written_differently, analysed] {
            assert_eq!(checked(statements).await, Ok(()), "{statements}");
        }
    }

    #[tokio::test]
    async fn what_was_added_changed_or_removed_is_named() {
        let deleting = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); \
                        CREATE INDEX lists_by_name ON lists (name); \
                        CREATE TRIGGER quiet AFTER INSERT ON lists BEGIN DELETE FROM lists WHERE id < new.id; END;";
        let view = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); \
                    CREATE INDEX lists_by_name ON lists (name); CREATE VIEW shown AS SELECT 1;";
        let replacing = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT REPLACE); \
                         CREATE INDEX lists_by_name ON lists (name);";
        let blank = "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CHECK (name <> '-- a')); \
                     CREATE INDEX lists_by_name ON lists (name);";
        let unindexed =
            "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, time INTEGER);";
        for (statements, reason) in [
            (deleting, "the trigger “quiet” was added"),
            (view, "the view “shown” was added"),
            (replacing, "the table “lists” is another one"),
            (blank, "the table “lists” is another one"),
            (unindexed, "the index “lists_by_name” is missing"),
        ] {
            let expected = format!("its schema is not the one that it is created with: {reason}");
            assert_eq!(checked(statements).await, Err(expected), "{statements}");
        }
    }

    #[test]
    fn comments_and_blanks_do_not_count_and_quoted_text_does() {
        let plain = normalised("CREATE TABLE a (b TEXT CHECK (b <> 'c  -- d'))");
        assert_eq!(plain, "CREATE TABLE a(b TEXT CHECK(b<>'c  -- d'))");
        let commented = "CREATE /* x */ TABLE a -- it's\n(\n  b TEXT CHECK (b<>'c  -- d')\n)";
        assert_eq!(normalised(commented), plain);
        assert_ne!(normalised("CREATE TABLE a (b TEXT CHECK (b <> 'c -- d'))"), plain);
        assert_ne!(normalised("CREATE TABLE ab"), normalised("CREATE TABLE a b"));
        assert_eq!(normalised("a 'it''s  so' b"), "a 'it''s  so' b");
        assert_eq!(normalised("a - - 1 /* open"), "a--1");
    }
}
