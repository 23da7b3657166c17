//! The allowed imports between crates, checked against the manifests.

use toml::{Table, Value};

use crate::tree::Tree;

/// The root package: it may import every crate, and none may import it.
const ROOT: &str = "loggia";

/// Development crates: only the root and tests import them, and they may import the contract.
const NOT_THE_PRODUCT: [&str; 2] = ["demo", "bench"];

struct Rule {
    package: &'static str,
    /// The packages of this workspace that it may import.
    may: &'static [&'static str],
    /// The external packages that it must not import.
    must_not: &'static [&'static str],
    /// The features of workspace packages that it must not enable, as `package/feature`.
    without: &'static [&'static str],
}

const IO: &[&str] = &["tokio", "sqlx", "async-nats", "axum", "tantivy", "hyper"];

const RULES: &[Rule] = &[
    Rule {
        package: "bench",
        may: &["demo", "schemas"],
        must_not: &["sqlx", "async-nats", "tantivy"],
        without: &[],
    },
    Rule { package: "bulk_load", may: &[], must_not: IO, without: &[] },
    Rule { package: "cli_output", may: &["daemon"], must_not: IO, without: &[] },
    Rule { package: "daemon", may: &[], must_not: &["sqlx", "async-nats", "axum", "tantivy"], without: &[] },
    Rule { package: "demo", may: &["schemas"], must_not: IO, without: &[] },
    Rule { package: "embeddings", may: &[], must_not: IO, without: &[] },
    Rule { package: "health", may: &[], must_not: IO, without: &[] },
    Rule {
        package: "lexical",
        may: &["text"],
        must_not: &["tokio", "sqlx", "async-nats", "axum"],
        without: &[],
    },
    Rule { package: "nats", may: &[], must_not: &["sqlx", "axum", "tantivy"], without: &[] },
    Rule { package: "knn", may: &[], must_not: IO, without: &[] },
    Rule { package: "text", may: &[], must_not: IO, without: &[] },
    Rule { package: "sqlite", may: &[], must_not: &["tokio", "async-nats", "axum", "tantivy"], without: &[] },
    Rule {
        package: "pictures",
        may: &[],
        must_not: &["sqlx", "async-nats", "axum", "tantivy"],
        without: &[],
    },
    Rule { package: "record_files", may: &[], must_not: IO, without: &[] },
    Rule { package: "settings", may: &[], must_not: IO, without: &[] },
    // Sending spans is behind a feature of the root package.
    Rule { package: "traces", may: &[], must_not: &["sqlx", "async-nats", "axum", "tantivy"], without: &[] },
    Rule { package: "schemas", may: &["traces"], must_not: IO, without: &["traces/otlp"] },
    Rule {
        package: "event_log",
        may: &["bulk_load", "health", "schemas", "sqlite", "traces"],
        must_not: &["async-nats", "axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "vault",
        may: &["schemas", "sqlite"],
        must_not: &["async-nats", "axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "ledger",
        may: &["event_log", "health", "nats", "schemas", "sqlite"],
        must_not: &["axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "media",
        may: &["nats", "pictures", "schemas"],
        must_not: &["sqlx", "axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "backup",
        may: &["event_log", "ledger", "media", "pictures", "schemas", "sqlite", "vault"],
        must_not: &["async-nats", "axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "write",
        may: &[
            "bulk_load",
            "embeddings",
            "event_log",
            "health",
            "media",
            "nats",
            "pictures",
            "schemas",
            "traces",
            "vault",
        ],
        must_not: &["axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "workers",
        may: &["embeddings", "event_log", "media", "pictures", "schemas", "vault", "write"],
        must_not: &["async-nats", "axum", "tantivy"],
        without: &[],
    },
    Rule {
        package: "model",
        may: &["lexical", "schemas", "sqlite"],
        must_not: &["axum", "async-nats"],
        without: &[],
    },
    Rule {
        package: "archive",
        may: &["lexical", "model", "schemas", "sqlite", "text"],
        must_not: &["axum", "async-nats"],
        without: &[],
    },
    Rule {
        package: "read",
        may: &["archive", "health", "knn", "lexical", "model", "schemas", "sqlite"],
        must_not: &["axum", "async-nats"],
        without: &[],
    },
    Rule {
        package: "projections",
        may: &["bulk_load", "health", "schemas", "traces", "read"],
        must_not: &["axum"],
        without: &[],
    },
    Rule { package: "citation", may: &["schemas", "read"], must_not: IO, without: &["read/apply"] },
    Rule {
        package: "metering",
        may: &["health", "nats", "schemas", "read"],
        must_not: &["sqlx", "axum", "tantivy"],
        without: &["read/apply"],
    },
    Rule { package: "payments", may: &["schemas"], must_not: IO, without: &[] },
    // What REST, MCP and pages share knows none of them.
    Rule {
        package: "answers",
        may: &["citation", "metering", "nats", "payments", "schemas", "traces", "read"],
        must_not: &["sqlx", "tantivy", "hyper"],
        without: &["read/apply"],
    },
    Rule {
        package: "mcp",
        may: &["answers", "metering", "schemas", "traces", "read"],
        must_not: &["sqlx", "tantivy", "axum", "hyper", "async-nats"],
        without: &["read/apply"],
    },
    Rule {
        package: "snapshot_transfer",
        may: &["projections", "schemas"],
        must_not: &["sqlx", "async-nats", "tantivy"],
        without: &[],
    },
    Rule {
        package: "api",
        may: &["answers", "citation", "mcp", "metering", "payments", "schemas", "traces", "read"],
        must_not: &["sqlx", "tantivy", "async-nats"],
        without: &["read/apply"],
    },
    Rule { package: "kit", may: &["nats", "schemas", "write"], must_not: &[], without: &[] },
];

/// Checks every import; returns violations as `package imports other`.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let parsed =
        |path: &str, text: &str| text.parse().unwrap_or_else(|error| panic!("{path} is not TOML: {error}"));
    let (libraries, others): (Vec<_>, Vec<_>) =
        tree.ending_in("Cargo.toml").partition(|(path, _)| path.starts_with("crates/"));
    let libraries: Vec<Table> = libraries.iter().map(|(path, text)| parsed(path, text)).collect();
    let mut manifests: Vec<Table> = others.iter().map(|(path, text)| parsed(path, text)).collect();
    manifests.extend(libraries.iter().cloned());
    let packages: Vec<&str> = manifests.iter().filter_map(name).collect();
    let shared = manifests.iter().find_map(|manifest| table(manifest, &["workspace", "dependencies"]));
    let mut found = Vec::new();
    let library_names: Vec<&str> = libraries.iter().filter_map(name).collect();
    for manifest in &libraries {
        found.extend(lifted(manifest, shared, &packages, &library_names));
    }
    for manifest in &manifests {
        let Some(package) = name(manifest).filter(|package| *package != ROOT) else { continue };
        match RULES.iter().find(|rule| rule.package == package) {
            Some(rule) => found.extend(rule.broken_by(manifest, shared, &packages)),
            None if library_names.contains(&package) => {}
            None => found.push(format!("{package} has no rule in tests/architecture/imports.rs")),
        }
    }
    found
}

/// Returns the forbidden workspace imports of a crate in `crates/`: a library may import only libraries; the others may
/// also import the contract, and one another.
fn lifted(manifest: &Table, shared: Option<&Table>, packages: &[&str], libraries: &[&str]) -> Vec<String> {
    let package = name(manifest).unwrap_or_default();
    let may = |other: &str| {
        let is_product = |name| !NOT_THE_PRODUCT.contains(&name);
        match is_product(package) {
            true => libraries.contains(&other) && is_product(other),
            false => libraries.contains(&other) || other == "schemas",
        }
    };
    let imports = dependencies(manifest, shared).into_iter().map(|dependency| dependency.package);
    let bad = imports.filter(|other| packages.contains(&other.as_str()) && !may(other));
    bad.map(|other| format!("the library {package} imports {other}")).collect()
}

impl Rule {
    fn broken_by(&self, manifest: &Table, shared: Option<&Table>, packages: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        for dependency in dependencies(manifest, shared) {
            let other = dependency.package.as_str();
            let is_sibling = packages.contains(&other);
            if (is_sibling && !self.may.contains(&other)) || self.must_not.contains(&other) {
                found.push(format!("{} imports {other}", self.package));
            }
            for feature in &dependency.features {
                let feature = format!("{other}/{feature}");
                if self.without.contains(&feature.as_str()) {
                    found.push(format!("{} switches on {feature}", self.package));
                }
            }
        }
        for feature in own_features(manifest) {
            if self.without.contains(&feature.replace('?', "").as_str()) {
                found.push(format!("{} has a feature that switches on {feature}", self.package));
            }
        }
        found
    }
}

struct Dependency {
    package: String,
    features: Vec<String>,
}

/// Returns the normal and build dependencies for every target; dev-dependencies are not restricted.
fn dependencies(manifest: &Table, shared: Option<&Table>) -> Vec<Dependency> {
    let targets = table(manifest, &["target"]).into_iter().flat_map(|targets| targets.values());
    let places = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    let tables = places.flat_map(|place| {
        ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table(place, &[kind]))
    });
    tables
        .flatten()
        .map(|(alias, settings)| {
            let inherited = shared.and_then(|shared| shared.get(alias));
            let inherited = inherited.filter(|_| settings.get("workspace").is_some());
            let sources: Vec<&Value> = [Some(settings), inherited].into_iter().flatten().collect();
            let renamed = sources.iter().find_map(|source| source.get("package")?.as_str());
            let features = sources.iter().filter_map(|source| source.get("features")?.as_array()).flatten();
            Dependency {
                package: renamed.unwrap_or(alias).to_owned(),
                features: features.filter_map(Value::as_str).map(str::to_owned).collect(),
            }
        })
        .collect()
}

fn own_features(manifest: &Table) -> Vec<&str> {
    let features = table(manifest, &["features"]).into_iter().flat_map(|features| features.values());
    features.filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
}

fn name(manifest: &Table) -> Option<&str> {
    table(manifest, &["package"])?.get("name")?.as_str()
}

fn table<'a>(manifest: &'a Table, keys: &[&str]) -> Option<&'a Table> {
    keys.iter().try_fold(manifest, |table, key| table.get(*key)?.as_table())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifests: &[&str]) -> Vec<String> {
        let files = manifests.iter().enumerate().map(|(at, text)| (format!("{at}/Cargo.toml"), *text));
        violations(&Tree::of(files))
    }

    const WORKSPACE: &str = "
        [package]
        name = 'loggia'
        [dependencies]
        write.workspace = true
        [workspace.dependencies]
        read = { path = 'read' }
        store = { package = 'sqlx', version = '1' }
    ";

    #[test]
    fn forbidden_siblings_and_crates_are_found_in_every_form() {
        let bad = [
            WORKSPACE,
            "package.name = 'schemas'\n[dependencies]\ntokio = '1'\n[target.'cfg(unix)'.dependencies]\nhyper = '1'",
            "package.name = 'write'\n[dependencies]\nread.workspace = true\nloggia = { path = '..' }",
            "package.name = 'read'\n[build-dependencies]\nx = { package = 'write', path = '../write' }",
            "package.name = 'api'\n[dependencies]\nstore.workspace = true",
            "package.name = 'new'",
        ];
        let expected = [
            "schemas imports tokio",
            "schemas imports hyper",
            "write imports loggia",
            "write imports read",
            "read imports write",
            "api imports sqlx",
            "new has no rule in tests/architecture/imports.rs",
        ];
        let mut found = found(&bad);
        found.sort();
        let mut expected = expected.map(str::to_owned);
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_writing_api_is_found_however_it_is_enabled() {
        let directly =
            "package.name = 'api'\n[dependencies]\nread = { workspace = true, features = ['apply'] }";
        assert_eq!(found(&[WORKSPACE, directly]), ["api switches on read/apply"]);
        let feature = "package.name = 'api'\n[features]\nfast = ['read?/apply']";
        assert_eq!(found(&[WORKSPACE, feature]), ["api has a feature that switches on read?/apply"]);
        let shared = "[workspace.dependencies]\nread = { path = 'read', features = ['apply'] }";
        let inherits = "package.name = 'api'\n[dependencies]\nread.workspace = true";
        assert_eq!(found(&[shared, inherits]), ["api switches on read/apply"]);
    }

    #[test]
    fn a_library_imports_only_libraries() {
        let files = [
            ("Cargo.toml", WORKSPACE),
            ("schemas/Cargo.toml", "package.name = 'schemas'"),
            ("crates/demo/Cargo.toml", "package.name = 'demo'\n[dependencies]\nschemas = '1'"),
            (
                "crates/folding/Cargo.toml",
                "package.name = 'folding'\n[dependencies]\nschemas = '1'\ndemo = '1'",
            ),
            ("crates/ranks/Cargo.toml", "package.name = 'ranks'\n[dependencies]\nfolding = '1'\nrayon = '1'"),
            (
                "crates/bench/Cargo.toml",
                "package.name = 'bench'\n[dependencies]\ndemo = '1'\nschemas = '1'\nread = '1'",
            ),
            ("read/Cargo.toml", "package.name = 'read'\n[dependencies]\ndemo = '1'\nbench = '1'"),
        ];
        let found = violations(&Tree::of(files));
        let expected = [
            "the library bench imports read",
            "the library folding imports demo",
            "the library folding imports schemas",
            "read imports bench",
            "read imports demo",
            "bench imports read",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn allowed_imports_and_those_of_tests_pass() {
        let projections = "package.name = 'projections'
            [dependencies]
            read = { workspace = true, features = ['apply'] }
            [dev-dependencies]
            write = '1'";
        let api = "package.name = 'api'\n[dependencies]\nread.workspace = true\naxum = '1'";
        assert_eq!(found(&[WORKSPACE, projections, api, "package.name = 'write'"]), [""; 0]);
    }
}
