//! Import cycles between the modules of a crate.
//!
//! A module here is a file. A file imports another of its crate if a path in its code names an item that the other
//! defines: in a `use`, or inline (`crate::a::B`, `super::b()`). Re-exports are followed to the file that defines the
//! item. Not an import: a bare `mod x;`, a `pub use` whose name the file does not use itself, code under
//! `#[cfg(test)]`, and what a submodule takes from its ancestors. Not detected: methods of types that no path names,
//! and paths in macros or strings.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_paths::{Scope, scopes};
use crate::tree::Tree;

/// The cycles of all crates, each with its imports.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let roots = tree.paths().filter(|path| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"));
    roots.flat_map(|root| Modules::of(tree, root).imports().cycles()).collect()
}

/// The modules of a crate, including inline ones, by path from the root (`""`, `a`, `a::b`).
struct Modules {
    scopes: BTreeMap<String, Scope>,
}

/// What a path refers to.
enum Named {
    Module(String),
    /// An item, by the file that defines it.
    Item(String),
}

impl Modules {
    /// Reads the modules that `root` declares, directly or indirectly, without tests.
    fn of(tree: &Tree, root: &str) -> Self {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut all = BTreeMap::new();
        let mut next = vec![(String::new(), root.to_owned())];
        while let Some((module, file)) = next.pop() {
            for (path, scope) in scopes(tree.text(&file).unwrap_or_default(), &module, &file) {
                for child in &scope.declares {
                    let child = joined(&path, child);
                    let place = format!("{folder}/{}", child.replace("::", "/"));
                    let places = [format!("{place}.rs"), format!("{place}/mod.rs")];
                    next.extend(places.into_iter().find(|place| tree.has(place)).map(|place| (child, place)));
                }
                all.insert(path, scope);
            }
        }
        Self { scopes: all }
    }

    fn imports(&self) -> Imports {
        let mut imports = Imports::default();
        for (module, scope) in &self.scopes {
            for path in &scope.names {
                if let Some(Named::Item(file)) = self.resolve(module, path, 0)
                    && file != scope.file
                    && !is_inside(&scope.file, &file)
                {
                    let names = imports.0.entry(scope.file.clone()).or_default().entry(file).or_default();
                    names.insert(path.join("::"));
                }
            }
        }
        imports
    }

    /// Resolves `path` in `module`; `None` if it is outside the crate. `depth` limits circular re-exports.
    fn resolve(&self, module: &str, path: &[String], depth: usize) -> Option<Named> {
        let (first, rest) = path.split_first()?;
        let mut named = match first.as_str() {
            "crate" => Named::Module(String::new()),
            "self" => Named::Module(module.to_owned()),
            "super" => Named::Module(parent(module)),
            name => self.look_up(module, name, depth)?,
        };
        for name in rest {
            let Named::Module(inside) = &named else { return Some(named) };
            named = match name.as_str() {
                "self" => continue,
                "super" => Named::Module(parent(inside)),
                // The names of a glob import are unknown, so the import is of the module itself.
                "*" => Named::Item(self.scopes.get(inside)?.file.clone()),
                name => match self.look_up(inside, name, depth) {
                    Some(named) => named,
                    // An item of another crate, imported here.
                    None if self.scopes.get(inside)?.imports.contains_key(name) => return None,
                    None => Named::Item(self.scopes.get(inside)?.file.clone()),
                },
            };
        }
        Some(named)
    }

    fn look_up(&self, module: &str, name: &str, depth: usize) -> Option<Named> {
        let scope = self.scopes.get(module).filter(|_| depth < 8)?;
        let child = joined(module, name);
        if self.scopes.contains_key(&child) {
            return Some(Named::Module(child));
        }
        if scope.defines.contains(name) {
            return Some(Named::Item(scope.file.clone()));
        }
        if let Some(path) = scope.imports.get(name) {
            return self.resolve(module, path, depth + 1);
        }
        scope.globs.iter().find_map(|glob| match self.resolve(module, glob, depth + 1)? {
            Named::Module(other) if other != module => self.look_up(&other, name, depth + 1),
            _ => None,
        })
    }
}

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> String {
    module.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned()
}

/// Returns whether the module of a file is a descendant of that of the other.
fn is_inside(file: &str, outer: &str) -> bool {
    let roots = ["/lib.rs", "/main.rs", "/mod.rs"];
    let stem = roots.into_iter().find_map(|root| outer.strip_suffix(root));
    file.starts_with(&format!("{}/", stem.unwrap_or(outer.trim_end_matches(".rs"))))
}

/// The files that each file imports, with the paths that do so.
#[derive(Default)]
struct Imports(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

impl Imports {
    /// Returns one line per strongly connected set of files, with every import between them.
    fn cycles(&self) -> Vec<String> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|file| (file.as_str(), self.reached_from(file))).collect();
        let mut sets = BTreeSet::new();
        for (file, others) in reached.iter().filter(|(file, others)| others.contains(*file)) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|them| them.contains(file));
            sets.insert(others.iter().filter(back).copied().collect::<BTreeSet<&str>>());
        }
        sets.iter().map(|files| self.described(files)).collect()
    }

    fn reached_from<'a>(&'a self, file: &str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&str> =
            self.0.get(file).into_iter().flatten().map(|(other, _)| other.as_str()).collect();
        while let Some(file) = next.pop() {
            if reached.insert(file) {
                next.extend(self.0.get(file).into_iter().flatten().map(|(other, _)| other.as_str()));
            }
        }
        reached
    }

    fn described(&self, files: &BTreeSet<&str>) -> String {
        let mut text = format!("{} files import one another:", files.len());
        for (file, others) in self.0.iter().filter(|(file, _)| files.contains(file.as_str())) {
            for (other, paths) in others.iter().filter(|(other, _)| files.contains(other.as_str())) {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                text.push_str(&format!("\n    {file} imports {other}: {}", paths.join(", ")));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        violations(&Tree::of(files.iter().copied()))
    }

    #[test]
    fn a_cycle_is_found_in_every_form_of_path() {
        let a = "use crate::c::{self, Third}; fn a() -> Third { c::third() }";
        let c = "struct Third; fn third() -> super::deep::Item { super::deep::Item }";
        let deep = "mod inner; pub(crate) use inner::Item;";
        let inner = "use crate::a::a as first; pub(crate) struct Item;";
        let files = [
            ("x/src/lib.rs", "mod a; mod c; mod deep;"),
            ("x/src/a.rs", a),
            ("x/src/c.rs", c),
            ("x/src/deep.rs", deep),
            ("x/src/deep/inner.rs", inner),
        ];
        assert_eq!(
            found(&files),
            ["3 files import one another:
    x/src/a.rs imports x/src/c.rs: Third, c::third, crate::c::Third
    x/src/c.rs imports x/src/deep/inner.rs: super::deep::Item
    x/src/deep/inner.rs imports x/src/a.rs: crate::a::a"]
        );
    }

    #[test]
    fn a_parent_imports_what_it_uses_of_its_child() {
        let child = "use crate::user::User; pub(crate) fn run(_: User) {}";
        let user = "use crate::parent::start; pub struct User;";
        for parent in [
            "mod child; use child::run; pub fn start() {}",
            "mod child; pub use child::run; pub fn start() { run(1) }",
            "mod child; pub fn start() { child::run(1) }",
            "mod child; pub fn start() {} mod inline { use super::child::*; }",
        ] {
            let root = ("src/main.rs", "mod parent; mod user;");
            let rest = [("src/parent.rs", parent), ("src/parent/child.rs", child), ("src/user.rs", user)];
            let cycles = found(&[&[root], &rest[..]].concat());
            assert_eq!(cycles.len(), 1, "{parent}: {cycles:?}");
            assert!(cycles[0].starts_with("3 files"), "{parent}: {cycles:?}");
        }
    }

    #[test]
    fn apparent_cycles_are_not_reported() {
        let parent = "
            //! Uses [`child::Child`] and `crate::other::other()`.
            mod child;
            #[cfg(test)]
            mod tests;
            mod other;
            use std::rc::Rc;
            pub use child::{Child, run};
            pub struct Settings { run: bool }
            /* use child::run; */
            const TEXT: &str = r#\"child::run() \"#;
            #[cfg(test)]
            use child::{Child as Tested};
            fn life<'a>(c: &'a char) -> bool { *c == '\"' || other::ok() }
            #[cfg(all(test, unix))]
            mod inline { fn x() { super::child::run(); } }";
        let child = "pub struct Child; pub fn run(_: super::Settings) -> super::Rc {}
            #[cfg(test)] mod tests { use crate::other::ok; }";
        let files = [
            ("src/lib.rs", parent),
            ("src/child.rs", child),
            ("src/other.rs", "use std::child::run; pub fn ok() -> bool { true }"),
            ("src/tests.rs", "use crate::{child::run, Settings};"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
