//! External ids in imports: exact strings, each with a slug of its own.

use super::*;

fn line(id: &str, name: &str) -> String {
    format!(r#"{{"id":"{id}","name":"{name}","category":"art"}}"#)
}

/// The slug of an id whose first slug another id has: that one with a checksum.
fn marked(id: &str) -> String {
    schemas::external_id::ExternalId { id: id.into(), source: None }.slugs()[1].to_string()
}

#[tokio::test]
async fn ids_that_differ_by_case_or_accent_are_different_projects() {
    for (slug, ids) in [
        ("0015e00000abcde", ["0015e00000abcDE", "0015e00000abcDe", "0015e00000ABCde"]),
        ("a7", ["A7", "\u{c4}7", "a7"]),
        ("a-1", ["A.1", "A-1", "A  1"]),
    ] {
        let catalog = catalog().await;
        let lines = ids.map(|id| line(id, "Vase"));
        let lines = lines.each_ref().map(String::as_str);
        let slugs = [slug.to_owned(), marked(ids[1]), marked(ids[2])];
        let options = ImportOptions { dry_run: true, ..ImportOptions::default() };
        let new = slugs.each_ref().map(|slug| format!("new {slug}"));
        assert_eq!(short(&catalog.send(import(&lines, options)).await), new, "in a dry run");
        assert_eq!(catalog.import(&lines).await, new);
        let (head, same) = (catalog.head().await, slugs.each_ref().map(|slug| format!("same {slug}")));
        assert_eq!(catalog.import(&lines).await, same, "the same file again");
        let backwards = [lines[2], lines[1], lines[0]];
        assert_eq!(catalog.import(&backwards).await, [&*same[2], &*same[1], &*same[0]], "in another order");
        assert_eq!(catalog.head().await, head);
        for (id, slug) in ids.into_iter().zip(slugs) {
            let changed = format!("changed {slug} name");
            assert_eq!(catalog.import(&[&line(id, &format!("{id}!"))]).await, [changed], "alone");
        }
    }
}

#[tokio::test]
async fn an_id_finds_its_project_in_every_form_of_a_line_and_under_a_new_slug() {
    let catalog = catalog().await;
    assert_eq!(catalog.import(&[&line("A.1", "Vase")]).await, ["new a-1"]);
    let second = marked("a.1");
    for (lines, expected) in [(LineForm::Cells, "new"), (LineForm::Patch, "same")] {
        let options = ImportOptions { lines, ..ImportOptions::default() };
        let reply = catalog.send(import(&[line("a.1", "Bowl").as_str()], options)).await;
        assert_eq!(short(&reply), [format!("{expected} {second}")], "{lines:?}");
    }
    assert_eq!(catalog.import(&[&line("a.1", "Bowl")]).await, [format!("same {second}")]);
    catalog.send(rename("a-1", "vase")).await;
    catalog.send(rename(&second, "bowl")).await;
    assert_eq!(
        catalog.import(&[&line("a.1", "Dish"), &line("A.1", "Jug"), &line("A 1", "Cup")]).await,
        ["changed bowl name", "changed vase name", &format!("new {}", marked("A 1"))]
    );
}

#[tokio::test]
async fn a_project_without_an_id_is_known_by_its_slug() {
    let catalog = catalog().await;
    // As a log has it that was written before ids were recorded.
    catalog.import(&[r#"{"slug":"c-1","name":"Cup","category":"art"}"#]).await;
    assert_eq!(catalog.import(&[&line("C.1", "Mug")]).await, ["changed c-1 name"]);
    // The second id of one import is another project, now and in the next imports.
    let second = marked("c.1");
    let both = [line("C.1", "Cup"), line("c.1", "Bowl")];
    let both = both.each_ref().map(String::as_str);
    let dry = ImportOptions { dry_run: true, ..ImportOptions::default() };
    let new = ["changed c-1 name".to_owned(), format!("new {second}")];
    assert_eq!(short(&catalog.send(import(&both, dry)).await), new);
    assert_eq!(catalog.import(&both).await, new);
    assert_eq!(catalog.import(&both).await, ["same c-1".to_owned(), format!("same {second}")]);
    assert_eq!(catalog.import(&[both[1]]).await, [format!("same {second}")], "alone");
    // An export has slugs, and the ids that are recorded: imported elsewhere, each id finds its project.
    let exported = catalog.export().await;
    let other = super::catalog().await;
    let exported: Vec<&str> = exported.iter().map(String::as_str).collect();
    other.import(&exported).await;
    assert_eq!(other.import(&both).await, ["same c-1".to_owned(), format!("same {second}")]);
}

#[tokio::test]
async fn the_lines_of_one_import_know_each_others_ids_in_all_messages() {
    let catalog = catalog().await;
    catalog.import(&[r#"{"slug":"c-1","name":"Cup","category":"art"}"#]).await;
    let import_of = |lines: &[&str], first: u64| {
        let lines =
            (first..).zip(lines).map(|(number, text)| ImportLine::new(number, (*text).into())).collect();
        let options = ImportOptions { dry_run: true, ..ImportOptions::default() };
        Command::Import { lines, options }
    };
    let first = catalog.message(import_of(&[&line("C.1", "Mug"), &line("D.1", "Dish")], 1));
    let mut second = catalog.message(import_of(&[&line("c.1", "Bowl"), &line("d.1", "Jug")], 3));
    second.correlation = first.correlation;
    catalog.commands.execute(first).await;
    let CommandReply::Imported { lines, .. } = catalog.commands.execute(second).await else { panic!() };
    let slugs: Vec<String> = lines
        .into_iter()
        .map(|line| match line.result {
            LineResult::New { slug } => slug.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(slugs, [marked("c.1"), marked("d.1")]);
}

#[tokio::test]
async fn an_id_whose_slugs_all_belong_to_other_ids_is_rejected_with_their_names() {
    let catalog = catalog().await;
    let second = marked("\u{c4}7");
    // Another id makes the slug that ends with the checksum.
    catalog.import(&[&line("A7", "Vase"), &line(&second, "Bowl")]).await;
    let reason = format!(
        "rejected id: is “\u{c4}7”, and the slugs that it makes belong to other projects (a7 to the one with the id “A7”, \
         {second} to the one with the id “{second}”); give a slug instead"
    );
    assert_eq!(catalog.import(&[&line("\u{c4}7", "Cup")]).await, [reason]);
}

#[tokio::test]
async fn numbers_are_ids_by_their_text() {
    let catalog = catalog().await;
    let numbered = |id: &str| format!(r#"{{"id":{id},"name":"A","category":"art"}}"#);
    assert_eq!(
        catalog.import(&[&numbered("123456789012345678901"), &numbered("123456789012345678902")]).await,
        ["new 123456789012345678901", "new 123456789012345678902"]
    );
    let lines = [numbered("7"), numbered("\"7\""), numbered("7.0")];
    assert_eq!(
        catalog.import(&lines.each_ref().map(String::as_str)).await,
        [
            "new 7",
            "same 7",
            "rejected id: is a number with a fraction or an exponent, which programs write in more than one way; write the \
             id as a text, in quotes"
        ]
    );
}

#[tokio::test]
async fn years_that_are_placeholders_are_rejected_and_those_of_older_records_stay() {
    let catalog = WriteSide::start().await;
    let with = |members: &str| format!(r#"{{"slug":"a","name":"A","category":"art",{members}}}"#);
    let expected =
        |field: &str, year: &str| format!("rejected {field}: is “{year}”; expected a year from 0001 to 2047");
    for year in ["0000", "2048"] {
        assert_eq!(catalog.import(&[&with(&format!(r#""year":"{year}""#))]).await, [expected("year", year)]);
    }
    assert_eq!(catalog.import(&[&with(r#""year":2047"#)]).await, ["new a"]);
    refused(
        &catalog.send(revise("a", json!({"year": 2048}))).await,
        FailureKind::Rejected,
        "year is “2048”; expected a year from 0001 to 2047",
    );
    let since = with(r#""year":2047,"provenance":{"in_archive_since":2048}"#);
    assert_eq!(catalog.import(&[&since]).await, [expected("provenance.in_archive_since", "2048")]);
    // The clock is set back: the record has a year that is not taken any more.
    catalog.clock.advance(jiff::SignedDuration::from_hours(-24 * 366));
    assert_eq!(catalog.send(revise("a", json!({"intro": "Now."}))).await, done("a", 2, 2));
    assert_eq!(catalog.import(&[&with(r#""year":2047"#)]).await, ["changed a intro"]);
}
