use super::*;

#[test]
fn a_picture_is_not_its_own_neighbour_and_labels_are_counted() {
    // Two groups of six: each picture has five others of its label, which are nearest.
    let picture = |number: u16| {
        let angle = f32::from(number % 6) * 0.01;
        let (label, turned) = if number < 6 { ("a", angle) } else { ("b", angle + 1.5) };
        (vec![turned.cos(), turned.sin()], label.to_owned())
    };
    let figures = shares(WEIGHTS, &(0..12).map(picture).collect());
    let shown: Vec<_> = figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
    let expected =
        [("weights: same label among 5 in looks", 1.0), ("weights: same label among 10 in looks", 0.5)];
    assert_eq!(shown, expected);
}

#[test]
fn labels_that_cannot_be_read_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let error = || read_labels(folder.path()).unwrap_err().to_string();
    let file = folder.path().join(LABELS);
    let path = file.display();
    assert_eq!(
        error(),
        format!("{path} cannot be read; name a folder of pictures that has it with --pictures")
    );
    std::fs::write(&file, "a.webp\tapples\nb.webp").unwrap();
    assert_eq!(error(), format!("line 2 of {path} is not a file, a tab and a label"));
    std::fs::write(&file, "a.webp\tapples\n").unwrap();
    assert_eq!(error(), format!("{path} names 1 pictures; at least 11 are needed"));
    std::fs::write(&file, "a.webp\tred apples\n".repeat(11)).unwrap();
    let labelled = read_labels(folder.path()).unwrap();
    let first = Labelled { file: folder.path().join("a.webp"), label: "red apples".into() };
    assert_eq!((labelled.len(), &labelled[0]), (11, &first));
}
