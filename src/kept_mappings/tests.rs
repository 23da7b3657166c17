use settings::Sources;

use super::*;

const TEXT: &str = "name = \"tate\"\n[record]\nname = \"Title\"\ncategory = { value = \"art\" }\n";

fn config(folder: &Path) -> Config {
    let flags = [("data".to_owned(), folder.display().to_string())].into();
    Config::read(&Sources { flags, ..Sources::default() }).unwrap()
}

fn keep(config: &Config, name: &str) -> SourceName {
    let name: SourceName = name.parse().unwrap();
    let added_at = Timestamp::from_second(0).unwrap();
    let mapping = KeptMapping { text: TEXT.into(), added_at, last_file: None };
    let mut kept = read(config).unwrap();
    kept.mappings.insert(name.clone(), mapping);
    write(config, &kept).unwrap();
    name
}

#[test]
fn a_kept_mapping_is_found_by_its_name_and_a_file_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder.path().join("data"));
    let missing = |name: &str| find(&config, Path::new(name)).unwrap_err().to_string();
    assert_eq!(
        missing("moma"),
        "there is no mapping moma, neither kept nor as a file here; no mapping is kept; add one with loggia mappings add \
         FILE.toml"
    );
    keep(&config, "tate");
    assert_eq!(
        missing("moma"),
        "there is no mapping moma, neither kept nor as a file here; the kept mapping is tate"
    );
    let kept = find(&config, Path::new("tate")).unwrap();
    let expected = NamedMapping {
        shown: "the mapping tate".into(),
        text: TEXT.into(),
        kept: Some(("tate".parse().unwrap(), None)),
    };
    assert_eq!(kept, expected);
    let path = folder.path().join("tate.toml");
    std::fs::write(&path, format!("\u{feff}{TEXT}")).unwrap();
    let shown = path.display().to_string();
    assert_eq!(find(&config, &path).unwrap(), NamedMapping { shown, text: TEXT.into(), kept: None });
    std::fs::write(&path, b"name = \"Z\xfcrich\"").unwrap();
    let error = format!("{:#}", find(&config, &path).unwrap_err());
    assert!(error.ends_with("tate.toml cannot be read: it is not UTF-8; save it as UTF-8"), "{error}");
}

#[test]
fn the_columns_of_the_last_file_are_known_to_the_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder.path().join("data"));
    let name = keep(&config, "tate");
    remember_file(&config, &name, Path::new("in/works.csv"), &["Title".into(), "Artist".into()]).unwrap();
    let last = read(&config).unwrap().mappings[&name].last_file.clone().unwrap();
    assert_eq!(
        (&*last.name, &last.columns[..]),
        ("works.csv", &["Title".to_owned(), "Artist".to_owned()][..])
    );
    let (_, found) = find(&config, Path::new("tate")).unwrap().kept.unwrap();
    assert_eq!(found, Some(last));
    remember_file(&config, &"moma".parse().unwrap(), Path::new("a.csv"), &[]).unwrap();
    assert_eq!(read(&config).unwrap().mappings.len(), 1, "one that is not kept stays so");
}
