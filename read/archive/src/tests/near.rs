//! The recorded values that are nearest to ones which no project has, and the projects that ranges leave out.

use schemas::picture::{Colour, Picture, PictureFormat, PictureId};

use super::*;

fn house(number: u64, members: Value) -> NumberedEvent {
    let mut record = json!({"name": "X", "category": "art"});
    record.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    selected(number, &format!("p{number:03}"), serde_json::from_value(record).unwrap())
}

async fn archive() -> Archive {
    let taken = |selected: &str| json!({"curated_by": "Ada", "selected": selected});
    Archive::of(&[
        house(1, json!({"city": "Tokyo, Japan", "studio": "Ålto & Co", "year": "2005"})),
        house(2, json!({"city": "TOKYO, japan", "studio": "Alto and Co", "year": "2005"})),
        house(3, json!({"city": "tokyo, Japan", "year": "2012", "provenance": taken("2021-03-04")})),
        house(4, json!({"city": "Ulm；Germany", "provenance": taken("2020-01-01")})),
        house(5, json!({"city": "Lost, Atlantis", "studio": "Altos", "year": "2030"})),
        house(6, json!({"studio": "Altos", "year": "1999"})),
        house(7, json!({})),
        withdrawn(5),
    ])
    .await
}

fn shown(found: Vec<FacetValue>) -> Vec<String> {
    found.iter().map(|FacetValue { value, count }| format!("{value} ({count})")).collect()
}

#[tokio::test]
async fn values_are_counted_together_in_all_their_spellings() {
    let listing = archive().await.reader.listing();
    let near = |kind, text| shown(listing.nearest_values(kind, text, 3));
    assert_eq!(near(ValueKind::City, "Tokyo"), ["TOKYO, japan (3)"], "the first of three spellings");
    assert_eq!(near(ValueKind::City, "tokio japan"), ["TOKYO, japan (3)"]);
    assert_eq!(near(ValueKind::Place, "TOKIO"), ["TOKYO (3)"]);
    assert_eq!(near(ValueKind::Place, "Ulm Germany"), ["Germany (1)", "Ulm (1)"]);
    assert_eq!(near(ValueKind::Studio, "alto"), ["Alto and Co (2)", "Altos (1)"]);
    assert_eq!(
        near(ValueKind::Curator, "Abe"),
        Vec::<String>::new(),
        "three letters are not spelled differently"
    );
    assert_eq!(near(ValueKind::Curator, "Ada Lovelace"), ["Ada (2)"]);
    for (kind, text) in
        [(ValueKind::City, "Atlantis"), (ValueKind::Place, "Atlantis"), (ValueKind::City, " ")]
    {
        assert_eq!(near(kind, text), Vec::<String>::new(), "{text} is not listed any more");
    }
}

#[tokio::test]
async fn a_range_has_the_values_beside_it() {
    let mut archive = archive().await;
    let day = |text: &str| text.parse().ok();
    let (year_from, year_to) = ("2006".parse().ok(), "2011".parse().ok());
    let of_days = |listing: &Listing, from, to| {
        shown(listing.selected_beside(&Filters {
            selected_from: from,
            selected_to: to,
            ..Filters::default()
        }))
    };
    let listing = archive.reader.listing();
    let of_years = |filters: Filters| shown(listing.years_beside(&filters));
    let between = Filters { year_from, year_to, ..Filters::default() };
    assert_eq!(of_years(between), ["2005 (2)", "2012 (1)"]);
    let late = Filters { year_from: "2013".parse().ok(), ..Filters::default() };
    assert_eq!(of_years(late), ["2012 (1)"], "of a withdrawn project is no year");
    let early = Filters { year_to: "0001".parse().ok(), ..Filters::default() };
    assert_eq!(of_years(early), ["1999 (1)"]);
    assert_eq!(of_days(&listing, day("2020-02-01"), day("2021-01-01")), ["2020-01-01 (1)", "2021-03-04 (1)"]);
    assert_eq!(of_days(&listing, day("2022-01-01"), None), ["2021-03-04 (1)"]);
    // Three events a day from the first of January on.
    let added = listing.added_before(day("2020-02-01").unwrap()).unwrap();
    assert_eq!((added.value.as_str(), added.count), ("2020-01-03", 2));
    assert_eq!(listing.added_before(day("2019-01-01").unwrap()), None);

    assert_eq!(listing.nearest_colour(&[Colour([0; 3])]), None);
    let picture = Picture {
        id: PictureId([1; 32]),
        format: PictureFormat::Png,
        width: 9,
        height: 9,
        palette: vec![Colour([200, 30, 30]), Colour([30, 60, 150])],
    };
    let attached = schemas::event::PictureAttached { source: "a.png".into(), picture };
    let pictured = house(8, json!({"pictures": [{"source": "a.png"}]}));
    archive.apply(&[pictured, (8, Event::PictureAttached(attached))]).await;
    let near = archive.reader.listing().nearest_colour(&[Colour([0, 255, 0]), Colour([0, 0, 255])]).unwrap();
    assert_eq!((near.value.as_str(), near.count), ("#1e3c96", 1));
}

#[tokio::test]
async fn projects_without_a_year_or_a_day_are_counted_in_a_set() {
    let listing = archive().await.reader.listing();
    let undated = |filters: &Filters| {
        [Dated::Year, Dated::Selected].map(|dated| listing.undated(filters, dated).iter().collect::<Vec<_>>())
    };
    let tokyo = Filters { places: vec!["Tokyo".into()], ..Filters::default() };
    for _ in 0..2 {
        assert_eq!(undated(&Filters::default()), [vec![4, 7], vec![1, 2, 6, 7]]);
        assert_eq!(undated(&tokyo), [vec![], vec![1, 2]]);
    }
}
