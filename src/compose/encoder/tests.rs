//! The encoder that settings and files give.

use settings::Sources;

use super::*;

#[test]
fn weights_of_a_release_are_used_until_the_data_folder_or_the_settings_have_others() {
    let folder = tempfile::tempdir().unwrap();
    let [data, released, own] =
        ["data", "usr/share/loggia/weights", "data/weights"].map(|path| folder.path().join(path));
    let read = |more: &[(&str, &str)]| {
        let data = ("LOGGIA_DATA", data.to_str().unwrap());
        let environment = std::iter::once(data).chain(more.iter().copied());
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Config::read(&Sources { environment, ..Sources::default() }).unwrap()
    };
    let (unset, set) = (read(&[]), read(&[("LOGGIA_WEIGHTS", "/srv/weights")]));
    let program = folder.path().join("usr/bin/loggia");
    assert_eq!(weights_near(&unset, &program), own, "there are none at all");
    std::fs::create_dir_all(&released).unwrap();
    assert_eq!(weights_near(&unset, &program), released);
    assert_eq!(weights_near(&unset, Path::new("")), own);
    assert_eq!(own_weights_folder(&unset), own, "nothing is put into the folders of a release");
    std::fs::create_dir_all(&own).unwrap();
    assert_eq!(weights_near(&unset, &program), own);
    for folder in [weights_near(&set, &program), own_weights_folder(&set)] {
        assert_eq!(folder, Path::new("/srv/weights"));
    }
}

#[tokio::test]
async fn damaged_weights_are_replaced_by_the_built_in_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let of = async |vectors: &str| {
        let environment = [("LOGGIA_DATA", folder.path().to_str().unwrap()), ("LOGGIA_VECTORS", vectors)];
        let environment =
            environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let config = Config::read(&Sources { environment, ..Sources::default() }).unwrap();
        assert_eq!(weights_folder(&config), folder.path().join("weights"));
        let opened = open_encoder(&config).await.unwrap();
        opened.map(|open| (open.encoder.name().to_owned(), open.fault.map(|fault| fault.to_string())))
    };
    let built_in = Some(("loggia-1".to_owned(), None));
    let text_model = async || {
        let environment = [("LOGGIA_DATA".to_owned(), folder.path().to_str().unwrap().to_owned())].into();
        let config = Config::read(&Sources { environment, ..Sources::default() }).unwrap();
        open_text_model(&config).await.unwrap()
    };
    assert!(text_model().await.is_none());
    assert_eq!(of("off").await, None);
    assert_eq!(of("auto").await, built_in, "there are no weights");
    std::fs::create_dir(folder.path().join("weights")).unwrap();
    let file = folder.path().join("weights/potion-base-8m.i8");
    std::fs::write(&file, "no weights").unwrap();
    assert_eq!(of("builtin").await, built_in);
    let (name, fault) = of("auto").await.unwrap();
    let fault = fault.unwrap();
    assert!(fault.starts_with(&format!("{} has 10 of ", file.display())), "{fault}");
    assert_eq!(name, "loggia-1");
    assert!(text_model().await.is_none(), "a damaged model does not prevent a start");
}
