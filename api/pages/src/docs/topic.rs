//! The topics of the reference, each a page.

/// A page of the reference.
#[derive(Debug)]
pub(super) struct Topic {
    /// The last part of its path.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What a reader finds there, in one sentence.
    pub(super) about: &'static str,
    /// The ids of its operations in the OpenAPI document.
    pub(super) operations: &'static [&'static str],
}

/// All topics in their order. Those without operations have a template of their own.
pub(super) const TOPICS: [Topic; 9] = [
    Topic {
        id: "search",
        title: "Search",
        about: "Find projects by words or by meaning, narrow them by place, year, color and more, and complete a text while it is typed.",
        operations: &["search", "suggest"],
    },
    Topic {
        id: "projects",
        title: "Projects",
        about: "Read full records, one or twenty in a call, list the newest, or draw one at random.",
        operations: &["project", "projects", "discover"],
    },
    Topic {
        id: "taste",
        title: "Taste and similarity",
        about: "Find projects by how they look and feel, those that are most like one or near to a text, and what the catalog records.",
        operations: &["taste", "terms", "similar", "similar_to_text"],
    },
    Topic {
        id: "changes",
        title: "Changes and feeds",
        about: "Make a copy of the catalog and keep it current, or follow the additions in a reader.",
        operations: &["changes", "feed", "json_feed"],
    },
    Topic {
        id: "citations",
        title: "Citations",
        about: "Cite what a revision said, permanently, in styles of bibliographies and formats of reference managers.",
        operations: &["cite"],
    },
    Topic {
        id: "pictures",
        title: "Pictures",
        about: "Load pictures at the width that is needed.",
        operations: &["picture"],
    },
    Topic {
        id: "usage",
        title: "Keys, usage and limits",
        about: "What a key is for, which calls count, and what the headers of an answer say.",
        operations: &["usage"],
    },
    Topic { id: "mcp", title: "MCP", about: "The same catalog as tools for agents.", operations: &[] },
    Topic {
        id: "errors",
        title: "Errors",
        about: "Every error is a sentence that says what to do, in one form.",
        operations: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_belongs_to_one_topic() {
        let document = schemas::contract::openapi();
        let items = document["paths"].as_object().unwrap().values();
        let ids = items.flat_map(|item| item.as_object().unwrap().values());
        let mut expected: Vec<&str> = ids.filter_map(|one| one["operationId"].as_str()).collect();
        let mut listed: Vec<&str> = TOPICS.iter().flat_map(|topic| topic.operations).copied().collect();
        expected.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, expected);
    }
}
