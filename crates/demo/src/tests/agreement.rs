//! The parts of a record agree with one another, and its English is correct.

use super::super::DEMO_SEED;
use super::super::catalog::Catalog;
use super::super::places::COUNTRIES;
use super::super::slugs;
use super::super::wording::takes_an;
use super::{DEMO, readable, text};

#[test]
fn description_taste_and_details_name_the_material() {
    let mut catalog = Catalog::new(DEMO_SEED);
    for index in 0..DEMO.len() {
        let record = catalog.next().unwrap();
        let facts = catalog.facts(&["material", "hue", "kind"]);
        assert_eq!(record, DEMO[index]);
        let [material, hue, kind] = facts.as_slice() else { panic!("three facts") };
        let (material, hue, kind) =
            (material.as_deref().unwrap(), hue.as_deref().unwrap(), kind.as_deref().unwrap());
        if let Some(description) = text(&record, "description") {
            let description = description.to_lowercase();
            let plural = format!("{material}s");
            let named = description.contains(&material.to_lowercase())
                || (material.ends_with("collodion") && description.contains("collodion"))
                || (material == "slide projection" && description.contains("slides"));
            assert!(named || description.contains(&plural), "{material} ({kind}) is not in: {description}");
        }
        if let Some(color) = record["taste"].get("color") {
            assert!(color.as_str().unwrap().starts_with(hue), "{color} and {hue}");
        }
        let first = &record["details"][0];
        assert!(["Materials", "Medium", "Proofed on"].contains(&first["label"].as_str().unwrap()), "{first}");
    }
}

#[test]
fn a_missing_city_or_year_is_not_in_the_texts() {
    let mut catalog = Catalog::new(DEMO_SEED);
    for _ in 0..DEMO.len() {
        let record = catalog.next().unwrap();
        let (city, year) = catalog.place_and_year.unwrap();
        let all = readable(&record);
        if !record.contains_key("city") {
            assert!(!all.contains(city), "{city} in {all}");
        }
        if !record.contains_key("year") && record["category"] != "art" {
            assert!(!all.contains(&year.to_string()), "{year} in {all}");
        }
    }
}

#[test]
fn articles_and_spaces_are_correct() {
    for record in DEMO.iter() {
        let all = readable(record);
        assert!(!all.contains(['{', '}', '|', '[', ']', '~', '#', '%']), "{all}");
        for wrong in ["  ", " ,", " .", "..", ",,", ". .", " ; ", " one years"] {
            assert!(!all.contains(wrong), "{wrong:?} in {all}");
        }
        let words: Vec<&str> = all.split([' ', '\n']).collect();
        let doubled = words
            .windows(2)
            .find(|pair| pair[0] == pair[1] && ["a", "an", "the", "of", "in"].contains(&pair[0]));
        assert_eq!(doubled, None, "in {all}");
        for pair in words.windows(2).filter(|pair| pair[1].starts_with(char::is_alphanumeric)) {
            match pair[0] {
                "a" | "A" => assert!(!takes_an(pair[1]), "{pair:?} in {all}"),
                "an" | "An" => assert!(takes_an(pair[1]), "{pair:?} in {all}"),
                _ => {}
            }
        }
        for member in ["intro", "description"] {
            for paragraph in text(record, member).into_iter().flat_map(|text| text.split("\n\n")) {
                let first = paragraph.chars().next().unwrap();
                assert!(first.is_uppercase() || first.is_numeric(), "{paragraph}");
                assert!(paragraph.ends_with(['.', '”']), "{paragraph}");
            }
        }
    }
}

/// Family names of well-known people of the field.
const KNOWN: &str = "\
    Aalto, Abramović, Albers, Ando, Araki, Asplund, Barragán, Becher, Botta, Breuer, Castiglioni, Chipperfield, Eames, \
    Eggleston, Foster, Fujimoto, Gehry, Gropius, Gursky, Hadid, Herzog, Holl, Ishigami, Ito, Jacobsen, Judd, Kahlo, Kuma, \
    Kundoo, Lacaton, Legorreta, Lewerentz, Magistretti, Mendes da Rocha, Meuron, Moneo, Moriyama, Munari, Murcutt, \
    Niemeyer, Noguchi, Nouvel, Olgiati, Pawson, Piano, Ponti, Prouvé, Radić, Rams, Sanaa, Sander, Scarpa, Sejima, Siza, \
    Souto, Struth, Sugimoto, Utzon, Wegner, Zumthor";

#[test]
fn invented_people_have_no_well_known_names() {
    for country in COUNTRIES.iter() {
        for name in country.surnames.iter().chain(&country.women_surnames).chain(&country.words) {
            let is_known = |known| *name == known || name.split([' ', '-']).any(|part| part == known);
            assert!(!KNOWN.split(", ").any(is_known), "{name}");
        }
    }
}

#[test]
fn slugs_keep_every_letter_of_names() {
    for record in DEMO.iter() {
        let name = text(record, "name").unwrap();
        for word in name.split_whitespace() {
            let latin =
                word.chars().filter(|letter| letter.is_alphanumeric() && *letter < '\u{3000}').count();
            let slug = slugs::slug(word);
            assert!(slug.replace('-', "").len() >= latin, "{word} becomes {slug}");
        }
    }
}
