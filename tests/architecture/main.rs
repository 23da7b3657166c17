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

/// Fails with one line per violation.
fn assert_none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}

#[test]
fn imports_go_in_the_allowed_directions_only() {
    assert_none("a crate imports what it must not", &imports::violations(&Tree::of_this_checkout()));
}

#[test]
fn modules_have_no_import_cycles() {
    assert_none("modules import one another", &cycles::violations(&Tree::of_this_checkout()));
}

#[test]
fn crates_are_within_the_size_limit() {
    assert_none("a crate is too large", &sizes::violations(&Tree::of_this_checkout()));
}

#[test]
fn an_mcp_tool_is_one_file_and_one_entry_in_the_registry() {
    assert_none("an MCP tool", &tools::violations(&Tree::of_this_checkout()));
}

#[test]
fn every_path_in_a_document_exists() {
    assert_none(
        "a document names a path that is not there",
        &documents::violations(&Tree::of_this_checkout()),
    );
}

#[test]
fn every_decision_is_short_and_in_the_index() {
    assert_none("an architecture decision", &decisions::violations(&Tree::of_this_checkout()));
}

#[test]
fn every_invariant_has_a_test() {
    assert_none("an invariant of the architecture", &invariants::violations(&Tree::of_this_checkout()));
}

#[test]
fn every_rust_file_is_part_of_a_crate_or_a_test() {
    assert_none("a file is part of no build", &modules::unreachable(&Tree::of_this_checkout()));
}

#[test]
fn no_module_sets_its_own_path() {
    assert_none("a module has a path of its own", &modules::relocated(&Tree::of_this_checkout()));
}

#[test]
fn files_have_meaningful_names() {
    assert_none("a name says nothing", &names::meaningless(&Tree::of_this_checkout()));
}

#[test]
fn files_are_short() {
    assert_none("a file is too long", &names::too_long(&Tree::of_this_checkout()));
}
