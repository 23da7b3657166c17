//! Imports: which project a line is about, and lines that contradict each other.

use super::*;

/// Eight different works without slugs, whose names make five slugs.
const UNTITLED: [&str; 8] = [
    r#"{"name":"Untitled","studio":"Ada","category":"art","description":"first"}"#,
    r#"{"name":"Untitled","studio":"Bo","category":"art","description":"second"}"#,
    r#"{"name":"House K.","studio":"Ada","year":1999,"category":"architecture"}"#,
    r#"{"name":"House K","studio":"Ada","year":2004,"category":"architecture"}"#,
    r#"{"name":"山田邸","category":"architecture"}"#,
    r#"{"name":"杉田邸","category":"architecture"}"#,
    r#"{"name":"三田邸","category":"architecture"}"#,
    r#"{"name":"Ζώνη","category":"art"}"#,
];

fn taken(slug: &str, free: &str) -> String {
    format!(
        "rejected slug: is absent, and every slug that can be made ({slug}) belongs to a project of another name, \
         studio, year or city; give a slug, for example {free}, or an id"
    )
}

fn contradiction(line: u64, slug: &str) -> String {
    format!(
        "rejected : says something else than line {line} about the project “{slug}”; make one line of both, or give this \
         one a slug of its own"
    )
}

impl WriteSide {
    /// Imports lines as the part of an import that begins at this line.
    async fn import_part(
        &self,
        import: CommandId,
        first: u64,
        lines: &[&str],
        options: ImportOptions,
    ) -> Vec<String> {
        let numbered = (first..).zip(lines);
        let lines = numbered.map(|(number, text)| ImportLine::new(number, (*text).into())).collect();
        let message =
            CommandMessage { correlation: import, ..self.message(Command::Import { lines, options }) };
        let CommandReply::Imported { lines, position } = self.commands.execute(message).await else {
            panic!()
        };
        let lines = lines.into_iter().map(|line| LineOutcome { number: line.number + 1 - first, ..line });
        short(&CommandReply::Imported { lines: lines.collect(), position })
    }
}

#[tokio::test]
async fn different_works_with_one_name_are_different_projects_or_rejected() {
    let catalog = catalog().await;
    let replies = catalog.import(&UNTITLED).await;
    let free = replies[5].split("for example ").nth(1).unwrap().split(',').next().unwrap();
    let refused = taken("shan-tian-di", free);
    assert_eq!(
        replies,
        [
            "new untitled",
            "new untitled-bo",
            "new house-k",
            "new house-k-ada",
            "new shan-tian-di",
            refused.as_str(),
            "new san-tian-di",
            "new zone"
        ]
    );
    let same = [
        "same untitled",
        "same untitled-bo",
        "same house-k",
        "same house-k-ada",
        "same shan-tian-di",
        refused.as_str(),
        "same san-tian-di",
        "same zone",
    ];
    assert_eq!(catalog.import(&UNTITLED).await, same, "the second run changes nothing");
    let import = catalog.clock.command_id();
    for (number, (line, same)) in (1..).zip(UNTITLED.iter().zip(same)) {
        let reply = catalog.import_part(import, number, &[line], ImportOptions::default()).await;
        assert_eq!(reply, [same], "one line a message");
    }
    assert_eq!(catalog.head().await, 7);
    // The slug that is given is free.
    let line = UNTITLED[5].replacen('{', &format!(r#"{{"slug":"{free}","#), 1);
    assert_eq!(catalog.import(&[&line]).await, [format!("new {free}")]);
    assert_eq!(catalog.import(&[UNTITLED[5]]).await, [format!("same {free}")], "it is known by what it is");
}

#[tokio::test]
async fn a_line_without_a_slug_changes_the_project_of_the_same_identity() {
    let catalog = catalog().await;
    let line = |more: &str| format!(r#"{{"name":"Stair House","studio":"Nord",{more}"category":"art"}}"#);
    catalog.import(&[&line(r#""slug":"chosen","#)]).await;
    assert_eq!(catalog.import(&[&line(r#""intro":"Now.","#)]).await, ["changed chosen intro"]);
    catalog.send(rename("chosen", "moved")).await;
    let other_case = line("").replace("Nord", "NORD").replace("Stair House", "Stair  house");
    assert_eq!(catalog.import(&[&other_case]).await, ["changed moved name,studio,intro"]);
    assert_eq!(
        catalog.import(&[&line(r#""year":1999,"#)]).await,
        ["new stair-house"],
        "another year, another work"
    );
    // Two projects of one identity cannot be told apart by it.
    catalog.import(&[&line(r#""slug":"twin","#)]).await;
    let ambiguous = "rejected slug: is absent, and 2 projects have this name, studio, year and city (moved, twin); give the \
                     slug of the one that is meant";
    assert_eq!(catalog.import(&[&line("")]).await, [ambiguous]);
    catalog.send(withdraw("twin")).await;
    catalog.send(revise("moved", json!({"studio": "Süd"}))).await;
    assert_eq!(
        catalog.import(&[&line("")]).await,
        ["rejected slug: the project “twin” is withdrawn (sold); restore it first"]
    );
}

#[tokio::test]
async fn the_slug_comes_from_the_id_and_everything_else_may_change() {
    let catalog = catalog().await;
    let line = |name: &str, year: u16| {
        format!(r#"{{"id":"T 1984.12","name":"{name}","year":{year},"category":"art"}}"#)
    };
    assert_eq!(catalog.import(&[&line("Untitled", 1999)]).await, ["new t-1984-12"]);
    assert_eq!(catalog.import(&[&line("Harbour", 2000)]).await, ["changed t-1984-12 name,year"]);
    assert_eq!(
        catalog
            .import(&[
                r#"{"source":"b","name":"A","category":"art"}"#,
                r#"{"id":"a","source":"A b","name":"A","category":"art"}"#,
                r#"{"id":"?","name":"A","category":"art"}"#
            ])
            .await,
        [
            "rejected source: is “b”, and there is no id, which is unique in a source; give one, or leave the source out",
            "rejected source: is “A b”; a name of a source is 1 to 60 characters of a-z, 0-9, - and _",
            "rejected id: is “?”, of which no slug can be made; give a slug too"
        ]
    );
}

#[tokio::test]
async fn projects_of_an_older_log_keep_their_slugs() {
    let catalog = catalog().await;
    // What the first release made of two works of one name: the second replaced the first.
    let named = |studio: &str| {
        format!(r#"{{"slug":"untitled","name":"Untitled","studio":"{studio}","category":"art"}}"#)
    };
    catalog.import(&[&named("Ada")]).await;
    catalog.import(&[&named("Bo")]).await;
    let (ada, bo) =
        (named("Ada").replace(r#""slug":"untitled","#, ""), named("Bo").replace(r#""slug":"untitled","#, ""));
    assert_eq!(catalog.import(&[&ada, &bo]).await, ["new untitled-ada", "same untitled"]);
    assert_eq!(catalog.import(&[&ada, &bo]).await, ["same untitled-ada", "same untitled"]);
}

#[tokio::test]
async fn the_second_of_two_contradicting_lines_is_rejected() {
    let catalog = catalog().await;
    let line = |at: &str, name: &str| format!(r#"{{"slug":"{at}","name":"{name}","category":"art"}}"#);
    let (one, two) = (line("a", "One"), line("a", "Two"));
    let spaced = one.replace(':', " : ");
    assert_eq!(
        catalog.import(&[&one, &two, &spaced, &two]).await,
        ["new a", &contradiction(1, "a"), "same a", &contradiction(1, "a")]
    );
    catalog.send(rename("a", "b")).await;
    let (old, new) = (line("a", "Four"), line("b", "Five"));
    for expected in ["changed b name", "same b"] {
        assert_eq!(
            catalog.import(&[&old, &new, &old]).await,
            [expected, &contradiction(1, "b"), "same b"],
            "by any of its slugs, at every run"
        );
    }
    assert_eq!(catalog.export().await, [line("b", "Four")]);
    let other = line("a", "Five");
    assert_eq!(
        catalog.import(&[&old, &other]).await,
        ["same b", &contradiction(1, "b")],
        "twice by the old one"
    );
    let drawn = |year: u16, intro: &str| {
        format!(r#"{{"name":"Blank","studio":"Ada","year":{year},"category":"art","intro":"{intro}"}}"#)
    };
    let drawn = [drawn(1801, "One."), drawn(1831, "Two."), drawn(1831, "Three.")];
    let drawn: Vec<&str> = drawn.iter().map(String::as_str).collect();
    for (first, second) in [("new blank", "new blank-ada"), ("same blank", "same blank-ada")] {
        assert_eq!(catalog.import(&drawn).await, [first, second, &contradiction(2, "blank-ada")]);
    }
    let nameless = [
        r#"{"name":"Stair","category":"art","intro":"One."}"#,
        r#"{"name":"Stair","category":"art","intro":"Two."}"#,
    ];
    assert_eq!(catalog.import(&nameless).await, ["new stair", &contradiction(1, "stair")]);
}

#[tokio::test]
async fn lines_contradict_each_other_across_messages() {
    let catalog = catalog().await;
    let line = |name: &str| format!(r#"{{"slug":"a","name":"{name}","category":"art"}}"#);
    let (one, two) = (line("One"), line("Two"));
    let dry = ImportOptions { dry_run: true, ..ImportOptions::default() };
    for (options, first, copy) in [
        (dry, "new a", "same a"),
        (ImportOptions::default(), "new a", "same a"),
        (ImportOptions::default(), "same a", "same a"),
        (dry, "same a", "same a"),
    ] {
        let import = catalog.clock.command_id();
        assert_eq!(catalog.import_part(import, 1, &[&one], options).await, [first]);
        assert_eq!(catalog.import_part(import, 2, &[&two], options).await, [contradiction(1, "a")]);
        assert_eq!(
            catalog.import_part(import, 3, &[&one, &two], options).await,
            [copy, &contradiction(1, "a")]
        );
    }
    assert_eq!(catalog.head().await, 1);
    // A dry run over several messages finds the slugs that are taken, as the import itself does.
    let import = catalog.clock.command_id();
    let mut tried = Vec::new();
    for (number, line) in (1..).zip(UNTITLED) {
        tried.extend(catalog.import_part(import, number, &[line], dry).await);
    }
    assert_eq!(tried, catalog.import(&UNTITLED).await);
}

#[tokio::test]
async fn the_outcomes_of_a_large_import_are_in_the_order_of_its_lines() {
    let catalog = catalog().await;
    let line = |project: usize, name: &str| {
        format!(r#"{{"slug":"project-{project:04}","name":"{name}","category":"art"}}"#)
    };
    // The last lines go back to projects of the first part, and one between the parts is broken.
    let mut lines: Vec<String> = (0..1_201).map(|project| line(project, "One")).collect();
    lines[500] = "{}".into();
    lines.extend([line(0, "Two"), line(499, "One"), line(501, "Two")]);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();

    let replies = catalog.import(&lines).await;

    let mut wanted: Vec<String> = (0..1_201).map(|project| format!("new project-{project:04}")).collect();
    wanted[500].clone_from(&replies[500]);
    assert!(replies[500].starts_with("rejected"), "{}", replies[500]);
    wanted.extend([
        contradiction(1, "project-0000"),
        "same project-0499".into(),
        contradiction(502, "project-0501"),
    ]);
    assert_eq!(replies, wanted);
    assert_eq!(catalog.head().await, 1_200);
    let exported = catalog.export().await;
    assert_eq!((exported.len(), &exported[0]), (1_200, &line(0, "One")));
}

#[tokio::test]
async fn a_dry_run_reports_the_outcomes_and_appends_nothing() {
    let catalog = catalog().await;
    let (one, two) =
        (r#"{"slug":"a","name":"A","category":"art"}"#, r#"{"slug":"a","name":"B","category":"art"}"#);
    let dry = ImportOptions { dry_run: true, ..ImportOptions::default() };
    let reply = catalog.send(import(&[one, two, one], dry)).await;
    assert_eq!(short(&reply), ["new a", &contradiction(1, "a"), "same a"]);
    assert_eq!(catalog.head().await, 0);
    assert_eq!(catalog.import(&[one, two, one]).await, short(&reply));
}

#[tokio::test]
async fn a_repeated_import_gets_the_first_outcomes() {
    let catalog = catalog().await;
    let (one, two) = (r#"{"slug":"a","name":"A","category":"art"}"#, r#"{"name":"B","category":"art"}"#);
    let message = catalog.message(import(&[one, two], ImportOptions::default()));
    let first = catalog.commands.execute(message.clone()).await;
    assert_eq!(short(&first), ["new a", "new b"]);
    catalog.send(revise("a", json!({"intro": "Later."}))).await;
    catalog.send(revise("b", json!({"studio": "Nord"}))).await;
    assert_eq!(short(&catalog.commands.execute(message).await), short(&first));
    assert_eq!(catalog.head().await, 4);
}
