//! The committed documents are what the types say.

#![expect(clippy::disallowed_methods, reason = "a variable says whether to write the documents anew")]

use std::path::Path;

#[test]
fn the_generated_documents_have_not_drifted() {
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
            "schemas/{path} is not what the types say; write it with UPDATE_CONTRACT=1 cargo test -p schemas"
        );
    }
}
