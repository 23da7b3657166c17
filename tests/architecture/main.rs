//! Checks of the architecture: allowed imports, no cycles, valid paths in documents, no unused files, names and sizes.
//! Each check is a function over a [`Tree`], and is itself tested with a small invalid one.

mod additions;
mod cycles;
mod decisions;
mod documents;
mod imports;
mod invariants;
mod modules;
mod names;
mod rust_paths;
mod sizes;
mod tools;
mod tree;

use tree::Tree;

/// Tests that a check finds no violation in this checkout; a failure has one line per violation.
macro_rules! checks {
    ($(fn $test:ident() finds no $check:path, $rule:literal;)+) => {$(
        #[test]
        fn $test() {
            let violations = $check(&Tree::of_this_checkout());
            assert!(violations.is_empty(), "{}:\n  {}", $rule, violations.join("\n  "));
        }
    )+};
}

checks! {
    fn imports_go_in_the_allowed_directions_only() finds no imports::violations, "a crate imports what it must not";
    fn modules_have_no_import_cycles() finds no cycles::violations, "modules import one another";
    fn crates_are_within_the_size_limit() finds no sizes::violations, "a crate is too large";
    fn an_mcp_tool_is_one_file_and_one_entry_in_the_registry() finds no tools::violations, "an MCP tool";
    fn every_path_in_a_document_exists() finds no documents::violations, "a document names a path that is not there";
    fn every_decision_is_short_and_in_the_index() finds no decisions::violations, "an architecture decision";
    fn every_invariant_has_a_test() finds no invariants::violations, "an invariant of the architecture";
    fn every_rust_file_is_part_of_a_crate_or_a_test() finds no modules::unreachable, "a file is part of no build";
    fn no_module_sets_its_own_path() finds no modules::relocated, "a module has a path of its own";
    fn files_have_meaningful_names() finds no names::meaningless, "a name says nothing";
    fn files_are_short() finds no names::too_long, "a file is too long";
}
