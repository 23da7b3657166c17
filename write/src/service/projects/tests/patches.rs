//! Imports whose lines say a part of a record: merge patches, and the cells of a sheet.

use schemas::record::PictureSource;

use super::*;

const FULL: &str = r#"{"slug":"pic","name":"Pic","studio":"Nord","city":"Ulm","category":"art","description":"Long.","details":[{"label":"Area","value":"1"},{"label":"Client","value":"x"}],"taste":{"material":"oak","light":"dusk"},"pictures":[{"source":"a.jpg","alt":"A door"},{"source":"b.jpg"}]}"#;

impl WriteSide {
    async fn import_as(&self, lines: &[&str], form: LineForm) -> Vec<LineResult> {
        let options = ImportOptions { lines: form, ..ImportOptions::default() };
        let CommandReply::Imported { lines, .. } = self.send(import(lines, options)).await else { panic!() };
        lines.into_iter().map(|line| line.result).collect()
    }

    /// Imports a line that would name these pictures if their files were there.
    async fn import_without(
        &self,
        text: &str,
        absent_pictures: Vec<PictureSource>,
        form: LineForm,
    ) -> LineResult {
        let line = ImportLine { number: 1, text: text.into(), absent_pictures };
        let options = ImportOptions { lines: form, ..ImportOptions::default() };
        let command = Command::Import { lines: vec![line], options };
        let CommandReply::Imported { lines, .. } = self.send(command).await else { panic!() };
        lines.into_iter().next().unwrap().result
    }
}

fn changed(members: &[&str], removed: &[&str], removed_pictures: &[&str]) -> LineResult {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    LineResult::Changed {
        slug: slug("pic"),
        members: owned(members),
        removed: owned(removed),
        removed_pictures: owned(removed_pictures),
        pictures_kept: false,
        kept_pictures: Vec::new(),
    }
}

fn rejected(field: &str, reason: &str) -> LineResult {
    LineResult::Rejected {
        faults: vec![schemas::import::Fault { field: field.into(), reason: reason.into() }],
    }
}

#[tokio::test]
async fn a_row_changes_only_the_members_that_it_has_cells_for() {
    let catalog = catalog().await;
    catalog.import(&[FULL]).await;
    let row = r#"{"slug":"pic","name":"Pic","category":"art","city":"Bonn"}"#;
    assert_eq!(catalog.import_as(&[row], LineForm::Patch).await, [changed(&["city"], &[], &[])]);
    assert_eq!(catalog.export().await, [FULL.replace("Ulm", "Bonn")]);
    assert_eq!(
        catalog.import_as(&[row], LineForm::Patch).await,
        [LineResult::Same { slug: slug("pic"), pictures_kept: false, kept_pictures: Vec::new() }]
    );
    let emptied = r#"{"slug":"pic","studio":null,"taste":{"light":null},"details":{"Area":null},"pictures":{"1":{"source":"b.jpg"},"all":true}}"#;
    assert_eq!(
        catalog.import_as(&[emptied], LineForm::Patch).await,
        [changed(&["details", "taste.light", "pictures", "studio"], &["taste.light", "studio"], &["a.jpg"])]
    );
    let left = r#"{"slug":"pic","name":"Pic","city":"Bonn","category":"art","description":"Long.","details":[{"label":"Client","value":"x"}],"taste":{"material":"oak"},"pictures":[{"source":"b.jpg"}]}"#;
    assert_eq!(catalog.export().await, [left]);
    let nameless = r#"{"slug":"pic","name":null,"city":"Ulm"}"#;
    assert_eq!(
        catalog.import_as(&[nameless], LineForm::Patch).await,
        [rejected("name", "is absent or blank; every record needs one")]
    );
}

#[tokio::test]
async fn a_row_of_a_replacing_import_is_the_whole_record() {
    let catalog = catalog().await;
    catalog.import(&[FULL]).await;
    let row = r#"{"slug":"pic","name":"Pic","category":"art","city":null,"details":{"Client":"x"}}"#;
    let members = ["details", "studio", "city", "description", "taste.material", "taste.light", "pictures"];
    let removed = ["studio", "city", "description", "taste.material", "taste.light"];
    assert_eq!(
        catalog.import_as(&[row], LineForm::Cells).await,
        [changed(&members, &removed, &["a.jpg", "b.jpg"])]
    );
    let left = r#"{"slug":"pic","name":"Pic","category":"art","details":[{"label":"Client","value":"x"}]}"#;
    assert_eq!(catalog.export().await, [left]);
}

#[tokio::test]
async fn a_row_creates_a_project_and_finds_it_again_by_its_identity() {
    let catalog = catalog().await;
    let row = r#"{"name":"Stair","category":"art","studio":"Nord","year":1984.0,"pictures":{"1":{"source":"a.jpg","alt":null},"all":true}}"#;
    assert_eq!(catalog.import_as(&[row], LineForm::Patch).await, [LineResult::New { slug: slug("stair") }]);
    let made = r#"{"slug":"stair","name":"Stair","studio":"Nord","year":"1984","category":"art","pictures":[{"source":"a.jpg"}]}"#;
    assert_eq!(catalog.export().await, [made]);
    let again = r#"{"name":"Stair","studio":"Nord","year":"1984","intro":"Now."}"#;
    let LineResult::Changed { members, .. } = &catalog.import_as(&[again], LineForm::Patch).await[0] else {
        panic!()
    };
    assert_eq!(members, &["intro"]);
    let other = r#"{"name":"Stair","studio":"Süd"}"#;
    assert_eq!(
        catalog.import_as(&[other], LineForm::Patch).await,
        [rejected("category", "is absent or blank; every record needs one")],
        "another studio, another work"
    );
    catalog.send(withdraw("stair")).await;
    assert_eq!(
        catalog.import_as(&[again], LineForm::Patch).await,
        [rejected("slug", "the project “stair” is withdrawn (sold); restore it first")]
    );
    assert_eq!(
        catalog
            .import_as(&[r#"{"slug":"x","name":"X","category":"art","colour":"red"}"#], LineForm::Patch)
            .await,
        [rejected("colour", "is not a member of an import record; leave it out, or ignore unknown members")]
    );
}

#[tokio::test]
async fn an_export_has_the_supplied_vectors() {
    let catalog = catalog().await;
    let line = |at: &str, model: &str| {
        format!(
            r#"{{"slug":"{at}","name":"{at}","category":"art","vectors":{{"visual":[1.0,2.0]}},"vector_model":"{model}"}}"#
        )
    };
    catalog.import(&[&line("a", "loggia-1"), &line("b", "m"), &line("c", "m")]).await;
    catalog.send(revise("c", json!({"vectors": null}))).await;
    let bare = |at: &str| format!(r#"{{"slug":"{at}","name":"{at}","category":"art"}}"#);
    assert_eq!(catalog.export().await, [bare("a"), line("b", "m"), bare("c")]);
    let all: Vec<String> = export(&catalog.store, ExportedVectors::All)
        .map_ok(|project| project.line)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        all,
        [bare("a"), line("b", "m"), line("c", "m")],
        "what the encoder makes is not taken from a file"
    );
}

#[tokio::test]
async fn pictures_whose_files_are_not_there_stay_where_they_are() {
    let catalog = catalog().await;
    catalog.import(&[FULL]).await;
    let import = async |text: &str, absent: &[&str], form: LineForm| {
        let absent = absent.iter().map(|source| PictureSource::of(*source)).collect();
        catalog.import_without(text, absent, form).await
    };
    let same = LineResult::Same { slug: slug("pic"), pictures_kept: false, kept_pictures: Vec::new() };
    let without = r#"{"slug":"pic","name":"Pic","category":"art","pictures":null}"#;
    assert_eq!(import(without, &["a.jpg", "b.jpg", "c.jpg"], LineForm::Patch).await, same);
    let second = r#"{"slug":"pic","pictures":[{"source":"b.jpg"}]}"#;
    assert_eq!(import(second, &["a.jpg"], LineForm::Patch).await, same);
    let whole =
        FULL.replace(r#"{"source":"a.jpg","alt":"A door"},{"source":"b.jpg"}"#, r#"{"source":"b.jpg"}"#);
    assert_eq!(import(&whole, &["a.jpg"], LineForm::Record).await, same);
    assert_eq!(catalog.export().await, [FULL]);
    // What the file no longer names goes.
    assert_eq!(import(without, &["b.jpg"], LineForm::Patch).await, changed(&["pictures"], &[], &["a.jpg"]));
}

#[tokio::test]
async fn the_texts_of_pictures_whose_files_are_not_there_are_those_of_the_line() {
    let catalog = catalog().await;
    catalog.import(&[FULL]).await;
    let texts = |source: &str, alt: Option<&str>, credit: Option<&str>, rights: Option<&str>| PictureSource {
        source: source.into(),
        alt: alt.map(str::to_owned),
        credit: credit.map(str::to_owned),
        rights: rights.map(str::to_owned),
    };
    let import = async |absent: Vec<PictureSource>| {
        catalog.import_without(r#"{"slug":"pic","pictures":null}"#, absent, LineForm::Patch).await
    };
    let corrected = || {
        vec![
            texts("b.jpg", Some("A hinge"), Some(" Photo: Cafe\u{301} B. "), Some("CC BY 4.0")),
            texts("a.jpg", None, Some("Photo: Ann B."), None),
            texts("c.jpg", Some("None has it"), None, None),
        ]
    };
    assert_eq!(import(corrected()).await, changed(&["pictures"], &[], &[]));
    let pictures = "[{\"source\":\"a.jpg\",\"alt\":\"A door\",\"credit\":\"Photo: Ann B.\"},\
                    {\"source\":\"b.jpg\",\"alt\":\"A hinge\",\"credit\":\"Photo: Caf\u{e9} B.\",\"rights\":\"CC BY 4.0\"}]";
    let before = r#"[{"source":"a.jpg","alt":"A door"},{"source":"b.jpg"}]"#;
    let expected = FULL.replace(before, pictures);
    assert_eq!(catalog.export().await, std::slice::from_ref(&expected));
    // What no record may have is not taken, and what is not given stays.
    let same = LineResult::Same { slug: slug("pic"), pictures_kept: false, kept_pictures: Vec::new() };
    assert_eq!(import(corrected()).await, same);
    let long = "long".repeat(300);
    let kept = vec![texts("a.jpg", Some(&long), None, None), texts("b.jpg", Some(" "), None, None)];
    assert_eq!(import(kept).await, same);
    assert_eq!(catalog.export().await, [expected]);
}
