//! An MCP tool is one file, one entry in the registry and the generated listing: its name is in no other code of the endpoint.

use crate::tree::Tree;

const REGISTRY: &str = "api/mcp/src/tools.rs";
const FOLDER: &str = "api/mcp/src/tools/";

/// Every tool that the registry lacks, and every file that names a tool of another file.
pub(crate) fn violations(tree: &Tree) -> Vec<String> {
    let is_code = |path: &str| path.starts_with("api/mcp/src/") && !path.ends_with("/tests.rs");
    let files = || tree.ending_in(".rs").filter(move |(path, _)| is_code(path));
    let tools = files().filter_map(|(path, text)| {
        let name = path.strip_prefix(FOLDER)?.strip_suffix(".rs")?;
        text.contains("static TOOL: Tool").then_some((path, name))
    });
    let violations = tools.flat_map(|(file, name)| {
        let (literal, entry) = (format!("\"{name}\""), format!("&{name}::TOOL"));
        let is_missing = !tree.text(REGISTRY).is_some_and(|registry| registry.contains(&entry));
        let code = |text: &'_ str| text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        let elsewhere = files().filter(move |(path, text)| *path != file && code(text).contains(&literal));
        let elsewhere = elsewhere.map(move |(path, _)| format!("{path} names the tool {name}"));
        elsewhere.chain(is_missing.then(|| format!("{REGISTRY} lacks the tool {name}"))).collect::<Vec<_>>()
    });
    violations.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_named_in_a_third_file_is_found() {
        let tool = |name: &str| {
            (format!("{FOLDER}{name}.rs"), format!("static TOOL: Tool = Tool {{ name: \"{name}\" }}"))
        };
        let registry = |text: &str| (REGISTRY.to_owned(), text.to_owned());
        let good = Tree::of([tool("browse"), tool("fetch"), registry("&browse::TOOL, &fetch::TOOL")]);
        assert_eq!(violations(&good), [""; 0]);
        let bad = Tree::of([
            tool("browse"),
            tool("fetch"),
            registry("&fetch::TOOL, match name { \"fetch\" => 1 }"),
        ]);
        assert_eq!(
            violations(&bad),
            ["api/mcp/src/tools.rs lacks the tool browse", "api/mcp/src/tools.rs names the tool fetch",]
        );
    }
}
