//! The committed documents match the types.

#![expect(clippy::disallowed_methods, reason = "an environment variable regenerates the documents")]

use std::path::Path;

#[test]
fn the_generated_documents_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var_os("UPDATE_CONTRACT").is_some();
    for (path, expected) in schemas::contract::documents() {
        let file = root.join(&path);
        if update {
            std::fs::write(&file, &expected).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == expected,
            "schemas/{path} differs from the types; regenerate it with UPDATE_CONTRACT=1 cargo test -p schemas"
        );
    }
}
