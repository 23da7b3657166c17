use super::*;

#[test]
fn the_name_of_a_file_is_an_example_of_a_name() {
    for (file, name) in
        [("in/Tate Works.toml", "tate-works"), ("works.2026.toml", "works-2026"), ("Ä.toml", "works")]
    {
        assert_eq!(suggested_name(Path::new(file)), name);
    }
}
