use clap::Parser;
use mapping::Mapping;

use super::*;
use crate::cli::{Cli, Command};

fn file(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn records_are_spread_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..12_001).map(|number| format!("{number};Work {number}\n")).collect();
    let file = file(folder.path(), "works.csv", &format!("id;title\n{rows}"));
    let (source, _) = open(&file, SourceOptions::default()).unwrap();
    let headings = source.headings().to_vec();
    let spread = spread(source, &headings).unwrap();
    let ids: Vec<&str> = spread.records.iter().map(|record| record["id"].as_str().unwrap()).collect();
    assert_eq!((spread.read, spread.unread, ids.len()), (12_001, 0, 3_001));
    assert_eq!((&ids[..3], ids.last()), (&["0", "4", "8"][..], Some(&"12000")));
}

#[test]
fn the_records_of_a_json_file_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        folder.path(),
        "works.json",
        r#"{"info": {"total": 2}, "data": [{"title": "A"}, {"title": "B"}]}"#,
    );
    let (source, options) = open(&file, SourceOptions::default()).unwrap();
    assert_eq!(options.records.map(|path| path.to_string()).as_deref(), Some("data"));
    assert_eq!(spread(source, &[]).unwrap().records.len(), 2);
}

/// Runs the command with these arguments, and returns its status.
fn suggested(args: &[&str]) -> Result<String> {
    let all = ["loggia", "import"].iter().chain(args);
    let Command::Import(args) = Cli::try_parse_from(all).unwrap().command else { panic!("another command") };
    run(&args, Output::new("loggia", true)).map(|status| format!("{status:?}"))
}

#[test]
fn a_suggestion_is_a_mapping_or_its_status_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "A 1;Netze;Pellow, Agnes;um 1890;Gemälde\nA 2;Hafen;Pellow, Agnes;1891;Foto\n";
    let whole =
        file(folder.path(), "works.csv", &format!("Inv.-Nr.;Titel;Künstler;Datierung;Gattung\n{rows}"));
    let toml = folder.path().join("works.toml");
    let status = suggested(&["--suggest", whole.to_str().unwrap(), toml.to_str().unwrap()]).unwrap();
    assert_eq!(status, format!("{:?}", ExitCode::SUCCESS));
    let text = std::fs::read_to_string(&toml).unwrap();
    assert_eq!(Mapping::parse("works.toml", &text).unwrap().name.as_deref(), Some("works"));
    // The file may stand before the option too.
    assert!(suggested(&[whole.to_str().unwrap(), "--suggest", toml.to_str().unwrap()]).is_err());
    let partial = file(folder.path(), "names.csv", "Name;Ort\nNetze;Zürich\nHafen;Basel\n");
    assert_eq!(
        suggested(&["--suggest", partial.to_str().unwrap()]).unwrap(),
        format!("{:?}", ExitCode::FAILURE)
    );
    let empty = file(folder.path(), "empty.csv", "Name;Ort\n");
    let refused = suggested(&["--suggest", empty.to_str().unwrap()]).unwrap_err().to_string();
    let said = "has no record that can be read; a mapping needs one to see what its columns are";
    assert_eq!(refused, format!("{} {said}", empty.display()));
}

#[test]
fn pictures_are_looked_for_below_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("scans")).unwrap();
    std::fs::write(folder.path().join("scans/net.jpg"), "").unwrap();
    let works = file(folder.path(), "works.csv", "Title;Type;Photo\nNet;chair;net.jpg\n");
    let toml = folder.path().join("works.toml");
    suggested(&["--suggest", works.to_str().unwrap(), toml.to_str().unwrap()]).unwrap();
    let text = std::fs::read_to_string(&toml).unwrap();
    assert!(text.contains("; the file it names is in scans\nsource = \"scans/{Photo}\"\n"), "{text}");
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "works.toml", "mine");
    let suggestion =
        Suggestion { toml: "theirs".into(), missing: Vec::new(), notes: Vec::new(), used: (1, 1) };
    let refused = write(&suggestion, Some(&file), 1, Output::new("loggia", true)).unwrap_err();
    let said = format!("{} exists and stays as it is; name another file, or remove it", file.display());
    assert_eq!((refused.to_string(), std::fs::read_to_string(&file).unwrap()), (said, "mine".to_owned()));
}
