//! The picture files of an import: each is sent once, and its absence takes nothing out of a catalog.

use std::path::PathBuf;

use image::{Rgb, RgbImage};
use kit::{process, samples};
use serde_json::Value;

use crate::service::LOGGIA;

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        Files { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    fn export(&self) -> Vec<Value> {
        process::run(&LOGGIA, &self.data(), &["export"]).json_lines()
    }
}

/// Returns a small picture that differs by its color.
fn picture(color: u8) -> Vec<u8> {
    samples::jpeg(&RgbImage::from_pixel(64, 64, Rgb([color, 0, 0])))
}

#[test]
fn pictures_are_sent_once_and_stay_without_their_files() {
    let files = Files::new();
    let folder = files.folder.path();
    std::fs::create_dir_all(folder.join("front")).unwrap();
    std::fs::create_dir_all(folder.join("back")).unwrap();
    std::fs::write(folder.join("front/1.jpg"), picture(50)).unwrap();
    std::fs::write(folder.join("back/1.jpg"), picture(150)).unwrap();
    files.write("in.csv", "No,Title\n1,A\n");
    let mapping = "name = \"scans\"\n[record]\nid = \"No\"\nname = \"Title\"\ncategory = { value = \"art\" }\n\
                   [[pictures]]\nsource = \"front/{No}.jpg\"\n[[pictures]]\nsource = \"back/{No}.jpg\"\n";
    files.write("in.toml", mapping);
    let (file, mapping) = (files.path("in.csv"), files.path("in.toml"));
    let import = || {
        let args = ["import", &file, "--mapping", &mapping, "--json"];
        let line = process::run(&LOGGIA, &files.data(), &args).success().json_lines().pop().unwrap();
        [
            "new",
            "changed",
            "same",
            "pictures",
            "pictures_same",
            "pictures_without_file",
            "pictures_refused",
            "pictures_removed",
        ]
        .map(|count| line[count].as_u64().unwrap())
    };
    assert_eq!(import(), [1, 0, 0, 2, 0, 0, 0, 0]);
    let exported = files.export();
    assert_eq!(import(), [0, 0, 1, 0, 2, 0, 0, 0]);
    std::fs::write(folder.join("back/1.jpg"), picture(250)).unwrap();
    assert_eq!(import(), [0, 0, 1, 1, 1, 0, 0, 0]);
    // One folder is not there, then neither.
    std::fs::remove_dir_all(folder.join("back")).unwrap();
    assert_eq!(import(), [0, 0, 1, 0, 1, 0, 0, 0]);
    std::fs::remove_dir_all(folder.join("front")).unwrap();
    let output = process::run(&LOGGIA, &files.data(), &["import", &file, "--mapping", &mapping]).success();
    let said = "Pictures: 0 found, 1 of the pattern back/{No}.jpg does not exist (for example back/1.jpg); projects keep those that they have.";
    assert!(output.stdout.contains(said), "{output}");
    // The record has its picture.
    let lacks = "Of 1 record: all without a city, all without a year, all without a text.";
    assert!(output.stderr.contains(lacks), "{output}");
    assert_eq!(files.export(), exported);
}

#[test]
fn the_pictures_of_a_column_stay_without_their_files() {
    let files = Files::new();
    std::fs::write(files.folder.path().join("a.jpg"), picture(50)).unwrap();
    std::fs::write(files.folder.path().join("b.jpg"), picture(150)).unwrap();
    files.write("in.csv", "slug,name,category,pictures\na,A,art,a.jpg | b.jpg\n");
    let file = files.path("in.csv");
    let import = || {
        let args = ["import", &file, "--json"];
        let line = process::run(&LOGGIA, &files.data(), &args).success().json_lines().pop().unwrap();
        ["pictures", "pictures_same", "pictures_without_file", "pictures_refused"]
            .map(|count| line[count].as_u64().unwrap())
    };
    assert_eq!(import(), [2, 0, 0, 0]);
    std::fs::remove_file(files.folder.path().join("b.jpg")).unwrap();
    assert_eq!(import(), [0, 1, 1, 0]);
    // One that the project does not have is said, and only that one.
    files.write("in.csv", "slug,name,category,pictures\na,A,art,a.jpg | b.jpg | c.jpg\n");
    let output = process::run(&LOGGIA, &files.data(), &["import", &file]).success();
    assert!(output.stderr.contains("the picture c.jpg is not attached: There is no file "), "{output}");
    let counts = "1 changed, 0 same, 0 rejected; pictures: 2 there already, 1 not attached in ";
    assert!(output.stdout.contains(counts), "{output}");
    assert!(output.stdout.contains("\nPictures: 1 stays although its file was not found.\n"), "{output}");
    assert!(!output.stderr.contains("b.jpg"), "{output}");
}
