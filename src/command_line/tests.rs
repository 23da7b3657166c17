use std::path::PathBuf;

use settings::Sources;

use super::*;

#[test]
fn options_name_what_is_in_use() {
    let of = |flags: &[(&str, &str)], file: Option<&str>| {
        let flags = flags.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let file = file.map(|text| (PathBuf::from("/srv/my shop/loggia.toml"), text.to_owned()));
        options(&Config::read(&Sources { flags, file, ..Sources::default() }).unwrap())
    };
    let file = "--config '/srv/my shop/loggia.toml'";
    assert_eq!(of(&[], Some("data = '/srv/data'")), [file]);
    assert_eq!(of(&[("data", "/a/./b")], None), ["--data /a/b"]);
    assert_eq!(of(&[("data", "/a")], Some("data = '/srv/data'")), [file, "--data /a"], "the flag is used");
    let here = std::env::current_dir().unwrap().join("data").display().to_string();
    let relative = format!("--data {}", shell_word(&here));
    assert_eq!(of(&[], None), std::slice::from_ref(&relative));
    assert_eq!(of(&[], Some("data = 'data'")), [file.to_owned(), relative], "it depends on the folder");
}

#[test]
fn a_program_is_called_as_it_was() {
    let of = |called: Option<&str>| program(called.map(str::to_owned));
    assert_eq!([of(None), of(Some("loggia"))], ["loggia", "loggia"]);
    assert_eq!(of(Some("/opt/my loggia/loggia")), "'/opt/my loggia/loggia'");
    let here = std::env::current_dir().unwrap().join("target/up/loggia").display().to_string();
    assert_eq!(of(Some("./target/up/loggia")), shell_word(&here));
}

#[test]
fn a_path_is_one_word_of_a_shell() {
    let words = ["/srv/shop/loggia.toml", "/srv/my shop", "/srv/ann's", ""].map(shell_word);
    assert_eq!(words, ["/srv/shop/loggia.toml", "'/srv/my shop'", "'/srv/ann'\\''s'", "''"]);
}
