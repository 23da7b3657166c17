//! The allowed imports between crates, checked against the manifests.

use toml::{Table, Value};

use crate::tree::Tree;

/// The root package, and the packages of tests of several others: they may import every crate, and none may import them.
const ROOTS: [&str; 4] = ["loggia", "fault", "property", "system"];

/// Development crates: only the root and tests import them, and they may import the contract.
const NOT_THE_PRODUCT: [&str; 2] = ["demo", BENCH];

/// The development crate that measures parts of the product, and may import those that its rule names.
const BENCH: &str = "bench";

/// The helpers of tests: every package may have it as a dev-dependency.
const KIT: &str = "kit";

/// Other dev-dependencies that the rule of a package does not allow: the package, and what only its tests import.
const ONLY_IN_TESTS: &[[&str; 2]] = &[["api", "embeddings"], ["ledger", "process_role"], ["workers", "demo"]];

const IO: &str = "tokio sqlx async-nats axum tantivy hyper";

/// A package; the packages of this workspace that it may import; the external packages that it must not import; and the features of
/// workspace packages that it must not enable, as `package/feature`.
type Rule = [&'static str; 4];

const RULES: &[Rule] = &[
    [
        BENCH,
        "cli_output daemon demo embeddings event_log health ledger metering nats pictures process_role read schemas write",
        "sqlx async-nats tantivy",
        "",
    ],
    ["bounded_file", "", IO, ""],
    ["bulk_load", "", IO, ""],
    ["cli_output", "daemon", IO, ""],
    ["daemon", "", "sqlx async-nats axum tantivy", ""],
    ["demo", "schemas", IO, ""],
    ["embeddings", "", IO, ""],
    ["health", "", IO, ""],
    ["lexical", "text", "tokio sqlx async-nats axum", ""],
    ["nats", "", "sqlx axum tantivy", ""],
    ["knn", "", IO, ""],
    ["text", "", IO, ""],
    ["sqlite", "", "tokio async-nats axum tantivy", ""],
    ["pictures", "", "sqlx async-nats axum tantivy", ""],
    ["record_files", "bounded_file", IO, ""],
    ["mapping", "record_files", IO, ""],
    ["settings", "", IO, ""],
    // Sending spans is behind a feature of the root package, so what is below `traces` waits for none of it.
    ["traceparent", "", IO, ""],
    ["traces", "traceparent", "sqlx async-nats axum tantivy", ""],
    ["schemas", "traceparent", IO, ""],
    ["data_folder", "daemon", IO, ""],
    ["process_role", "nats schemas", "sqlx axum tantivy hyper", ""],
    ["store_file", "schemas sqlite", "tokio async-nats axum tantivy", ""],
    [
        "event_log",
        "bounded_file bulk_load health schemas sqlite store_file traceparent",
        "async-nats axum tantivy",
        "",
    ],
    ["import_file", "bounded_file mapping record_files schemas", IO, ""],
    ["vault", "bounded_file schemas sqlite", "async-nats axum tantivy", ""],
    ["ledger", "health nats schemas sqlite store_file", "axum tantivy", ""],
    ["media", "bounded_file nats pictures schemas", "sqlx axum tantivy", ""],
    [
        "backup",
        "bounded_file event_log ledger media pictures schemas sqlite vault",
        "async-nats axum tantivy",
        "",
    ],
    [
        "write",
        "bulk_load event_log health media nats pictures process_role schemas traces vault",
        "axum tantivy",
        "",
    ],
    ["workers", "embeddings event_log media pictures schemas vault write", "async-nats axum tantivy", ""],
    ["model", "bounded_file lexical schemas sqlite", "axum async-nats", ""],
    ["archive", "lexical model schemas sqlite text", "axum async-nats", ""],
    ["read", "archive health knn lexical model schemas sqlite", "axum async-nats", ""],
    ["projections", "bounded_file bulk_load health nats schemas traces read", "axum", ""],
    ["citation", "schemas", IO, ""],
    ["metering", "health nats schemas", "sqlx axum tantivy", ""],
    ["payments", "schemas", IO, ""],
    // What REST, MCP and pages share knows none of them.
    [
        "answers",
        "bounded_file citation daemon embeddings metering nats payments schemas traces read",
        "sqlx tantivy hyper",
        "read/apply",
    ],
    ["pages", "answers citation mcp read schemas text", "sqlx tantivy hyper async-nats", "read/apply"],
    [
        "mcp",
        "answers metering pictures schemas traces read",
        "sqlx tantivy axum hyper async-nats",
        "read/apply",
    ],
    ["snapshot_transfer", "bounded_file projections schemas", "sqlx async-nats tantivy", ""],
    [
        "api",
        "answers citation mcp metering pages payments schemas traces read",
        "sqlx tantivy async-nats",
        "read/apply",
    ],
    // Every package may be tested with it, so it imports little: a change of another package must not compile it again.
    ["kit", "nats process_role schemas", "", ""],
    ["architecture", "", IO, ""],
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
        let Some(package) = name(manifest).filter(|package| !ROOTS.contains(package)) else { continue };
        match RULES.iter().find(|[name, ..]| *name == package) {
            Some(rule) => found.extend(broken(rule, manifest, shared, &packages)),
            None if library_names.contains(&package) => {}
            None => found.push(format!("{package} has no rule in tests/architecture/imports.rs")),
        }
    }
    found
}

/// Returns the forbidden workspace imports of a crate in `crates/`: a library may import only libraries; a development
/// crate may also import the contract, and other development crates. What [`BENCH`] may import is for its rule to say.
fn lifted(manifest: &Table, shared: Option<&Table>, packages: &[&str], libraries: &[&str]) -> Vec<String> {
    let package = name(manifest).unwrap_or_default();
    let may = |other: &str| {
        let is_product = |name| !NOT_THE_PRODUCT.contains(&name);
        match package {
            BENCH => true,
            _ if is_product(package) => libraries.contains(&other) && is_product(other),
            _ => libraries.contains(&other) || other == "schemas",
        }
    };
    let bad = dependencies(manifest, shared).into_iter().filter(|dependency| {
        let other = dependency.package.as_str();
        packages.contains(&other) && !may(other) && !dependency.is_for_tests_of(package)
    });
    bad.map(|other| format!("the library {package} {other}")).collect()
}

/// Returns how a manifest breaks the rule of its package.
fn broken(rule: &Rule, manifest: &Table, shared: Option<&Table>, packages: &[&str]) -> Vec<String> {
    let [package, lists @ ..] = rule;
    let [may, must_not, without] = lists.map(|list| list.split(' ').collect::<Vec<_>>());
    let mut found = Vec::new();
    for dependency in dependencies(manifest, shared) {
        let other = dependency.package.as_str();
        let is_above = packages.contains(&other) && !may.contains(&other);
        // Tests may do I/O and write; only their directions are restricted.
        let is_forbidden = match dependency.is_dev {
            true => is_above && !dependency.is_for_tests_of(package),
            false => is_above || must_not.contains(&other),
        };
        if is_forbidden {
            found.push(format!("{package} {dependency}"));
        }
        let features = dependency.features.iter().map(|feature| format!("{other}/{feature}"));
        let forbidden = features.filter(|feature| !dependency.is_dev && without.contains(&feature.as_str()));
        found.extend(forbidden.map(|feature| format!("{package} switches on {feature}")));
    }
    let own = own_features(manifest).into_iter();
    let forbidden = own.filter(|feature| without.contains(&feature.replace('?', "").as_str()));
    found.extend(forbidden.map(|feature| format!("{package} has a feature that switches on {feature}")));
    found
}

struct Dependency {
    package: String,
    features: Vec<String>,
    is_dev: bool,
}

impl Dependency {
    /// Returns whether the tests of a package may import it although the package may not.
    fn is_for_tests_of(&self, package: &str) -> bool {
        self.is_dev && (self.package == KIT || ONLY_IN_TESTS.contains(&[package, &self.package]))
    }
}

impl std::fmt::Display for Dependency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.is_dev { "is tested with" } else { "imports" }, self.package)
    }
}

/// Returns the dependencies of all kinds, for every target.
fn dependencies(manifest: &Table, shared: Option<&Table>) -> Vec<Dependency> {
    let targets = table(manifest, &["target"]).into_iter().flat_map(|targets| targets.values());
    let places = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    let kinds = [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];
    let tables = places.flat_map(|place| {
        kinds.into_iter().filter_map(|(kind, is_dev)| Some((table(place, &[kind])?, is_dev)))
    });
    tables
        .flat_map(|(table, is_dev)| table.into_iter().map(move |entry| (entry, is_dev)))
        .map(|((alias, settings), is_dev)| {
            let inherited = shared.and_then(|shared| shared.get(alias));
            let inherited = inherited.filter(|_| settings.get("workspace").is_some());
            let sources: Vec<&Value> = [Some(settings), inherited].into_iter().flatten().collect();
            let renamed = sources.iter().find_map(|source| source.get("package")?.as_str());
            let features = sources.iter().filter_map(|source| source.get("features")?.as_array()).flatten();
            Dependency {
                package: renamed.unwrap_or(alias).to_owned(),
                features: features.filter_map(Value::as_str).map(str::to_owned).collect(),
                is_dev,
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
    fn a_library_imports_only_libraries_and_what_measures_also_what_it_measures() {
        let files = [
            ("Cargo.toml", WORKSPACE),
            ("schemas/Cargo.toml", "package.name = 'schemas'"),
            ("crates/demo/Cargo.toml", "package.name = 'demo'\n[dependencies]\nschemas = '1'\nread = '1'"),
            (
                "crates/folding/Cargo.toml",
                "package.name = 'folding'\n[dependencies]\nschemas = '1'\ndemo = '1'",
            ),
            ("crates/ranks/Cargo.toml", "package.name = 'ranks'\n[dependencies]\nfolding = '1'\nrayon = '1'"),
            (
                "crates/bench/Cargo.toml",
                "package.name = 'bench'\n[dependencies]\ndemo = '1'\nschemas = '1'\nread = '1'\napi = '1'",
            ),
            ("read/Cargo.toml", "package.name = 'read'\n[dependencies]\ndemo = '1'\nbench = '1'"),
            ("api/Cargo.toml", "package.name = 'api'"),
        ];
        let found = violations(&Tree::of(files));
        let expected = [
            "the library demo imports read",
            "the library folding imports demo",
            "the library folding imports schemas",
            "read imports bench",
            "read imports demo",
            "bench imports api",
            "demo imports read",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn allowed_imports_and_those_of_tests_pass() {
        let projections = "package.name = 'projections'
            [dependencies]
            read = { workspace = true, features = ['apply'] }
            [dev-dependencies]
            kit = '1'
            axum = '1'";
        let api = "package.name = 'api'
            [dependencies]
            read.workspace = true
            axum = '1'
            [dev-dependencies]
            read = { workspace = true, features = ['apply'] }";
        let workers = "package.name = 'workers'\n[dev-dependencies]\ndemo = '1'";
        let others = ["package.name = 'kit'", "package.name = 'read'"];
        assert_eq!(found(&[&[WORKSPACE, projections, api, workers], &others[..]].concat()), [""; 0]);
    }

    #[test]
    fn what_a_package_is_tested_with_obeys_its_rule() {
        let files = [
            ("Cargo.toml", WORKSPACE),
            ("read/Cargo.toml", "package.name = 'read'\n[dev-dependencies]\nwrite = '1'\nkit = '1'"),
            (
                "write/Cargo.toml",
                "package.name = 'write'\n[target.'cfg(unix)'.dev-dependencies]\nx = { package = 'demo' }",
            ),
            ("tests/kit/Cargo.toml", "package.name = 'kit'\n[dependencies]\nwrite = '1'"),
            ("api/Cargo.toml", "package.name = 'api'\n[dependencies]\nkit = '1'"),
            ("crates/demo/Cargo.toml", "package.name = 'demo'\n[dev-dependencies]\nread = '1'\nkit = '1'"),
        ];
        let mut found = violations(&Tree::of(files));
        found.sort();
        let expected = [
            "api imports kit",
            "demo is tested with read",
            "kit imports write",
            "read is tested with write",
            "the library demo is tested with read",
            "write is tested with demo",
        ];
        assert_eq!(found, expected);
    }
}
