//! The paths in Rust source, read from its tokens: what a module declares, defines, imports and uses.

use std::collections::{BTreeMap, BTreeSet};

/// A module in a file.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) file: String,
    /// The modules in files of their own.
    pub(crate) declares: Vec<String>,
    pub(crate) defines: BTreeSet<String>,
    /// The names from `use`, with their paths.
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    /// The modules of `use module::*`.
    pub(crate) globs: Vec<Vec<String>>,
    /// Every path in the code and in a private `use`.
    pub(crate) names: Vec<Vec<String>>,
}

const DEFINERS: [&str; 9] =
    ["struct", "enum", "fn", "const", "static", "type", "trait", "union", "macro_rules"];

/// Returns the module `path` of the file and its inline modules, without test code.
pub(crate) fn scopes(text: &str, path: &str, file: &str) -> BTreeMap<String, Scope> {
    let tokens = without_tests(&tokens(text));
    let mut all = BTreeMap::new();
    // The open modules, each with its depth of braces.
    let mut open = vec![(path.to_owned(), 0)];
    let (mut depth, mut at, mut is_public) = (0, 0, false);
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    while at < tokens.len() {
        let module = open.last().map(|(module, _)| module.clone()).unwrap_or_default();
        let scope: &mut Scope = all.entry(module.clone()).or_default();
        scope.file = file.to_owned();
        let was_public = std::mem::take(&mut is_public);
        match token(at) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                open.retain(|(_, around)| *around == 0 || *around <= depth);
            }
            "pub" => {
                is_public = true;
                if token(at + 1) == "(" {
                    at += tokens.iter().skip(at).position(|token| token == ")").unwrap_or(0);
                }
            }
            "mod" if token(at + 2) == ";" => {
                scope.declares.push(token(at + 1).to_owned());
                at += 2;
            }
            "mod" if token(at + 2) == "{" => {
                depth += 1;
                let inside = if module.is_empty() { String::new() } else { format!("{module}::") };
                open.push((format!("{inside}{}", token(at + 1)), depth));
                at += 2;
            }
            "use" => {
                let end = tokens.iter().skip(at).position(|token| token == ";").unwrap_or(1);
                import(scope, tokens.get(at + 1..at + end).unwrap_or_default(), was_public);
                at += end;
            }
            definer if DEFINERS.contains(&definer) => {
                let name = at + if token(at + 1) == "!" { 2 } else { 1 };
                scope.defines.insert(token(name).to_owned());
                at = if DEFINERS.contains(&token(name)) { at } else { name };
            }
            word if is_word(word) && !matches!(token(at.wrapping_sub(1)), "." | "::") => {
                let path = path_at(&tokens, at);
                at += 2 * (path.len() - 1);
                // A single lowercase word may be a variable or a field: it is a function only if it is called.
                let is_type = word.starts_with(char::is_uppercase);
                if path.len() > 1 || is_type || matches!(token(at + 1), "(" | "!") {
                    scope.names.push(path);
                }
            }
            _ => {}
        }
        at += 1;
    }
    all.entry(path.to_owned()).or_insert_with(|| Scope { file: file.to_owned(), ..Scope::default() });
    all
}

/// Returns the segments of the path that begins at `at`.
fn path_at(tokens: &[String], at: usize) -> Vec<String> {
    let more = tokens.get(at + 1..).unwrap_or_default().chunks_exact(2);
    let more = more.take_while(|pair| pair[0] == "::" && is_word(&pair[1])).map(|pair| pair[1].clone());
    tokens.get(at).cloned().into_iter().chain(more).collect()
}

/// Reads the tree of a `use`, from after the keyword to the `;`.
fn import(scope: &mut Scope, tree: &[String], is_public: bool) {
    let mut prefixes: Vec<Vec<String>> = vec![Vec::new()];
    let mut path: Vec<String> = Vec::new();
    let mut alias = None;
    let mut tokens = tree.iter().map(String::as_str).chain([","]);
    while let Some(token) = tokens.next() {
        match token {
            "::" => {}
            "{" => prefixes.push(path.clone()),
            "as" => alias = tokens.next().map(str::to_owned),
            "," | "}" => {
                let prefix = prefixes.last().cloned().unwrap_or_default();
                if path.len() > prefix.len() {
                    bind(scope, &path, alias.take(), is_public);
                }
                if token == "}" {
                    prefixes.pop();
                }
                // A prefix before a group is not a path of its own.
                path = prefixes.last().cloned().unwrap_or_default();
            }
            word => path.push(word.to_owned()),
        }
    }
}

fn bind(scope: &mut Scope, path: &[String], alias: Option<String>, is_public: bool) {
    let is_itself = path.len() > 1 && path.last().is_some_and(|last| last == "self");
    let path = if is_itself { &path[..path.len() - 1] } else { path };
    let Some((last, module)) = path.split_last() else { return };
    match last.as_str() {
        "*" => scope.globs.push(module.to_vec()),
        last => {
            scope.imports.insert(alias.unwrap_or_else(|| last.to_owned()), path.to_vec());
        }
    }
    if !is_public {
        scope.names.push(path.to_vec());
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Returns the words and punctuation of the source, without comments, literals and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => literal(rest),
            '\'' => character(rest),
            'r' | 'b' | 'c' if let Some(length) = raw(rest) => length,
            _ if word > 0 => {
                found.push(rest[..word].to_owned());
                word
            }
            ':' if rest.starts_with("::") => {
                found.push("::".to_owned());
                2
            }
            _ => {
                found.extend((!first.is_whitespace()).then(|| first.to_string()));
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    found
}

/// Returns the length of the string literal at the beginning.
fn literal(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// Returns the length of the character or lifetime at the beginning.
fn character(text: &str) -> usize {
    let mut after = text.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) => text[3..].find('\'').map_or(text.len(), |end| end + 4),
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

/// Returns the length of a raw or byte string at the beginning, if there is one.
fn raw(text: &str) -> Option<usize> {
    let after = text.trim_start_matches(['r', 'b', 'c']);
    let prefix = text.len() - after.len();
    let fence = after.len() - after.trim_start_matches('#').len();
    let is_raw = text[..prefix].contains('r');
    match after[fence..].chars().next()? {
        '"' if is_raw => {
            let end = format!("\"{}", "#".repeat(fence));
            let body = prefix + fence + 1;
            Some(text[body..].find(&end).map_or(text.len(), |at| body + at + end.len()))
        }
        '"' if fence == 0 => Some(prefix + literal(after)),
        '\'' if fence == 0 && text.starts_with("b'") => Some(1 + character(after)),
        _ => None,
    }
}

/// Returns the tokens without the items under `#[cfg(test)]` and `#[cfg(all(test, …))]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let begins = |at: usize, with: &[&str]| {
        tokens.get(at..at + with.len()).is_some_and(|here| here.iter().zip(with).all(|(a, b)| a == b))
    };
    let is_test = |at: usize, opening: &[&str]| {
        [&["cfg", "(", "test", ")"][..], &["cfg", "(", "all", "(", "test", ","][..]]
            .iter()
            .any(|cfg| begins(at, &[opening, cfg].concat()))
    };
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_test(at, &["#", "!", "["]) {
            return kept;
        }
        if is_test(at, &["#", "["]) {
            at = end_of_item(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Returns the end of the item whose first attribute begins at `at`.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    while token(at) == "#" {
        at = closed(tokens, at + 1);
    }
    let is_use = tokens[at..].iter().take(6).take_while(|token| *token != ";").any(|token| token == "use");
    let keywords = ["mod", "use", "impl", "async", "unsafe", "let", "extern", "pub"];
    let is_item = keywords.contains(&token(at)) || DEFINERS.contains(&token(at));
    while at < tokens.len() {
        match token(at) {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" => return at,
            "{" if !is_use => return closed(tokens, at),
            "{" | "(" | "[" => at = closed(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Returns the index after the bracket that closes the one at `at`.
fn closed(tokens: &[String], at: usize) -> usize {
    let mut depth = 0usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}
