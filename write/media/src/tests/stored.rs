//! A stored picture is complete, has all its forms, and does not change.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

use image::{ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use kit::samples::{encoded, in_every_format, scene, with_exif};

use super::*;

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    files(folder).keys().map(|path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()).collect()
}

fn near(pixel: Rgb<u8>, [red, green, blue]: [u8; 3]) -> bool {
    pixel.0.iter().zip([red, green, blue]).all(|(is, should)| is.abs_diff(should) < 24)
}

#[test]
fn a_picture_is_stored_in_its_folder_in_every_form() {
    let (folder, store) = store();
    for ((name, bytes), format) in in_every_format(&scene(1500, 1000)).into_iter().zip([
        PictureFormat::Jpeg,
        PictureFormat::Png,
        PictureFormat::Webp,
        PictureFormat::Webp,
    ]) {
        let picture = store.put(&bytes).unwrap();
        let id = PictureId(Sha256::digest(&bytes).into());
        let found = (picture.id, picture.format, picture.width, picture.height);
        assert_eq!(found, (id, format, 1500, 1000), "{name}");
        assert!((1..=6).contains(&picture.palette.len()), "{:?}", picture.palette);
        let own = folder.path().join(&id.to_string()[..2]).join(id.to_string());
        let expected =
            ["1280.webp", "1500.webp", "320.webp", "640.jpg", "640.webp", "original", "picture.json"];
        assert_eq!(names(&own), expected);
        assert_eq!(store.get(id).unwrap(), Some(picture));
        assert_eq!(store.read(id, Form::Original).unwrap().as_ref(), Some(&bytes));
        assert_eq!(store.read(id, Form::Webp(500)).unwrap(), None);
        for (form, kind, size) in [
            (Form::Webp(320), pictures::Format::Webp, (320, 213)),
            (Form::Webp(640), pictures::Format::Webp, (640, 427)),
            (Form::Jpeg(640), pictures::Format::Jpeg, (640, 427)),
            (Form::Webp(1280), pictures::Format::Webp, (1280, 853)),
            (Form::Webp(1500), pictures::Format::Webp, (1500, 1000)),
        ] {
            let small = pictures::decode(&store.read(id, form).unwrap().unwrap()).unwrap();
            assert_eq!((small.format, small.pixels.dimensions()), (kind, size), "{name} as {form}");
        }
    }
    assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    assert_eq!(store.get(PictureId([0; 32])).unwrap(), None);
    assert_eq!(store.raster(PictureId([0; 32])).unwrap(), None);
}

#[test]
fn a_small_picture_is_not_enlarged() {
    let (folder, store) = store();
    let red = RgbImage::from_pixel(500, 1, Rgb([200, 30, 30]));
    let picture = store.put(&encoded(red, ImageFormat::Png)).unwrap();
    assert_eq!((picture.width, picture.height, picture.palette), (500, 1, vec![Colour([200, 30, 30])]));
    let path = folder.path().join(&picture.id.to_string()[..2]);
    let found: Vec<_> = names(&path).iter().map(|name| name.split_once('/').unwrap().1.to_owned()).collect();
    assert_eq!(found, ["320.webp", "500.jpg", "500.webp", "original", "picture.json"]);
    let raster = store.raster(picture.id).unwrap().unwrap();
    assert_eq!(raster.dimensions(), (320, 1));
    assert!(near(*raster.get_pixel(7, 0), [200, 30, 30]));
}

#[test]
fn exif_orientation_is_applied_and_other_exif_data_is_not_copied() {
    let (folder, store) = store();
    let image = RgbImage::from_fn(400, 200, |x, _| Rgb(if x < 200 { [220, 20, 20] } else { [20, 20, 220] }));
    let bytes = with_exif(&encoded(image, ImageFormat::Jpeg), 6, "41.38 N, 2.17 E");
    let picture = store.put(&bytes).unwrap();
    assert_eq!((picture.width, picture.height), (200, 400));
    let raster = store.raster(picture.id).unwrap().unwrap();
    assert_eq!(raster.dimensions(), (200, 400));
    assert!(near(*raster.get_pixel(100, 50), [220, 20, 20]), "the left side is at the top");
    assert!(near(*raster.get_pixel(100, 350), [20, 20, 220]));
    for (path, bytes) in files(folder.path()) {
        let found =
            [&b"Exif"[..], b"EXIF", b"41.38"].map(|word| bytes.windows(word.len()).any(|part| part == word));
        let expected = if path.ends_with("original") { [true, false, true] } else { [false; 3] };
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn transparent_pixels_are_blended_with_white() {
    let (_folder, store) = store();
    let image =
        RgbaImage::from_fn(90, 30, |x, _| Rgba([0, 0, 0, [0, 128, 255][usize::try_from(x / 30).unwrap()]]));
    for format in [ImageFormat::Png, ImageFormat::WebP] {
        let picture = store.put(&encoded(image.clone(), format)).unwrap();
        let pixels = pictures::decode(&encoded(image.clone(), format)).unwrap().pixels;
        assert_eq!([5, 35, 65].map(|x| pixels.get_pixel(x, 9).0[0]), [255, 127, 0]);
        let raster = store.raster(picture.id).unwrap().unwrap();
        assert!(near(*raster.get_pixel(5, 9), [255; 3]) && near(*raster.get_pixel(80, 9), [0; 3]));
    }
}

#[test]
fn the_same_bytes_give_the_same_picture_and_the_same_files() {
    let bytes = encoded(scene(700, 500), ImageFormat::Jpeg);
    let stored = || {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(folder.path()).unwrap();
        let first = store.put(&bytes).unwrap();
        let before = files(folder.path());
        assert_eq!(store.put(&bytes).unwrap(), first);
        assert_eq!(files(folder.path()), before);
        let named = before
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(folder.path()).unwrap().to_owned(), bytes));
        (first, named.collect::<Vec<_>>())
    };
    assert_eq!(stored(), stored());
}

#[test]
fn four_concurrent_puts_store_one_picture() {
    let (folder, store) = store();
    let bytes = encoded(scene(300, 200), ImageFormat::Png);
    let stored: Vec<Picture> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| store.put(&bytes).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(stored.iter().all(|picture| *picture == stored[0]));
    assert_eq!(names(folder.path()).len(), 4, "{:?}", names(folder.path()));
}

#[test]
fn partial_files_of_a_killed_process_are_removed_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = encoded(scene(300, 200), ImageFormat::Png);
    let id = PictureId(Sha256::digest(&bytes).into());
    let half = folder.path().join("incoming").join(format!("{id}.77.0"));
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("original"), &bytes[..100]).unwrap();
    let upload = folder.path().join("incoming").join(format!("{id}.part"));
    fs::write(&upload, b"begun").unwrap();

    let store = MediaStore::open(folder.path()).unwrap();
    assert_eq!(names(folder.path()), [format!("incoming/{id}.part")]);
    assert_eq!(store.get(id).unwrap(), None);
    let picture = store.put(&bytes).unwrap();
    fs::write(store.path(id, Form::Original).with_file_name("picture.json"), b"{").unwrap();
    let damaged = store.get(id).unwrap_err().to_string();
    assert!(damaged.starts_with("a stored picture is damaged: "), "{damaged}");
    assert!(damaged.ends_with("; remove its folder and send the picture again"), "{damaged}");
    assert_eq!(store.put(&bytes).unwrap(), picture);
    assert_eq!(store.get(id).unwrap(), Some(picture));
    assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 1);
}

#[test]
fn an_unusable_folder_is_named_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("media");
    fs::write(&file, b"").unwrap();
    let error = MediaStore::open(&file).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the media folder cannot be used: {} (Not a directory (os error 20)); something else is there: move it \
             away, or name another folder",
            file.display()
        )
    );

    let store = MediaStore::open(folder.path()).unwrap();
    let bytes = encoded(scene(20, 20), ImageFormat::Png);
    let id = PictureId(Sha256::digest(&bytes).into()).to_string();
    fs::write(folder.path().join(&id[..2]), b"in the way").unwrap();
    let Err(PutError::Store(error)) = store.put(&bytes) else { panic!("it was stored") };
    assert!(error.to_string().ends_with("move it away, or name another folder"), "{error}");
    assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);

    let full = MediaError::unavailable(Path::new("/media"), ErrorKind::StorageFull.into());
    assert_eq!(
        full.to_string(),
        "the media folder cannot be used: /media (no storage space); free some space there"
    );
    let forbidden = MediaError::unavailable(Path::new("/media"), ErrorKind::PermissionDenied.into());
    assert_eq!(
        forbidden.to_string(),
        "the media folder cannot be used: /media (permission denied); let the user that Loggia runs as write there"
    );
}

#[test]
fn real_pictures_are_stored() {
    let Some(entries) = kit::shared_data().and_then(|data| fs::read_dir(data.join("pictures")).ok()) else {
        return kit::skipped(format_args!("there are no real pictures"));
    };
    let (_folder, store) = store();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "webp"));
    paths.sort();
    for path in paths.iter().step_by(10) {
        let picture = store.put(&fs::read(path).unwrap()).unwrap();
        let raster = store.raster(picture.id).unwrap().unwrap();
        assert_eq!(raster.dimensions(), (picture.width.min(320), picture.height_at(picture.width.min(320))));
    }
    assert!(!paths.is_empty());
}
