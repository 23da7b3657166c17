use super::*;

#[test]
fn the_uses_of_a_key_are_sections_of_a_text() {
    let text = in_text(&KeyUses::of(&"https://a.org".parse().unwrap(), "log_live_1"));
    let begin = "\n\ncurl. In a shell:\n    curl -H \"Authorization: Bearer log_live_1\" \\\n      \
                 \"https://a.org/v1/search?q=brick+library\"\n\nPython. With the package requests:\n    import requests\n\n    \
                 answer = requests.get(\n";
    assert!(text.starts_with(begin), "{text}");
    let client = "\n\nClaude Code. In a terminal:\n    claude mcp add --transport http a-org https://a.org/mcp \\\n      \
                  --header \"Authorization: Bearer log_live_1\"\n\n";
    assert!(text.contains(client), "{text}");
    assert_eq!(text.matches("log_live_1").count(), 11, "each use has it once: {text}");
}
