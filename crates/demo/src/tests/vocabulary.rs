//! The text files are well formed: every slot can be filled, every tag can be set.

use std::collections::BTreeSet;

use super::super::{Category, prose};

#[test]
fn texts_have_no_faults() {
    for category in Category::ALL {
        assert_eq!(
            prose::grammar(category).faults(),
            &[] as &[String],
            "in the texts of {}",
            category.name()
        );
    }
}

#[test]
fn every_tag_is_set_in_some_category() {
    let mut set: BTreeSet<&str> = BTreeSet::new();
    let mut required: BTreeSet<&str> = BTreeSet::new();
    for category in Category::ALL {
        let (known, unknown) = prose::grammar(category).tags();
        set.extend(known);
        required.extend(unknown);
    }
    let nowhere: Vec<_> = required.difference(&set).collect();
    assert!(nowhere.is_empty(), "{nowhere:?}: rules require tags that no rule sets");
}
