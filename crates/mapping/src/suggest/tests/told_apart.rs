//! What looks like a member of a work, and is about its entry, its room or something else.

use super::measure::{members_of, suggestion};
use crate::row;

/// Returns what each column of a table is for, in its order; `-` for nothing. Cells are separated by semicolons.
fn columns(text: &str) -> Vec<String> {
    let mut lines = text.trim().lines().map(|line| line.trim().split(';').map(str::to_owned));
    let headings: Vec<String> = lines.next().unwrap().collect();
    let records: Vec<_> = lines.map(|cells| row(&headings, cells.collect())).collect();
    let members = members_of(&suggestion("works.csv", &headings, &records));
    let named = |heading: &String| {
        let members = members.get(heading).map(|members| members.iter().cloned().collect::<Vec<_>>());
        format!("{heading} = {}", members.map_or("-".to_owned(), |members| members.join(" ")))
    };
    headings.iter().map(named).collect()
}

#[test]
fn an_address_of_its_own_on_one_site_is_that_of_the_record() {
    let found = columns(
        "No;Title;Type;Besuch;Handle
        1;Quay;chair;https://museum.example/w/quay;https://a.example/1
        2;Stair;chair;https://museum.example/w/stair;https://b.example/2
        3;Net;lamp;https://museum.example/w/net;https://c.example/3",
    );
    assert_eq!(found[3..], ["Besuch = url", "Handle = -"]);
    // One that recurs is not of the record.
    let found = columns(
        "No;Title;Type;Besuch
        1;Quay;chair;https://museum.example/w/quay
        2;Stair;chair;https://museum.example/w/quay
        3;Net;lamp;https://museum.example/w/net",
    );
    assert_eq!(found[3], "Besuch = -");
}

#[test]
fn an_address_of_data_is_taken_only_where_there_is_none_of_a_page() {
    for address in [
        "https://api.museum.example/works/",
        "https://museum.example/api/works/",
        "https://museum.example/v1/works/",
        "https://museum.example/iiif/manifest/",
        "https://museum.example/works.json?id=",
    ] {
        let rows = |page: bool| {
            let row = |(number, title)| {
                let page = if page { format!(";https://museum.example/w/{title}") } else { String::new() };
                format!("{number};{title};chair;{address}{number}{page}\n")
            };
            [(1, "Quay"), (2, "Stair"), (3, "Net")].map(row).concat()
        };
        let found = columns(&format!("No;Title;Type;URL;Besuch\n{}", rows(true)));
        assert_eq!(found[3..], ["URL = -", "Besuch = url"], "{address}");
        let found = columns(&format!("No;Title;Type;URL\n{}", rows(false)));
        assert_eq!(found[3], "URL = url", "{address}");
    }
}

#[test]
fn a_room_is_not_the_place_of_a_work() {
    for rooms in [["Hall 2", "Level 3", "Case B"], ["East Wing", "West Wing", "Basement"]] {
        let [a, b, c] = rooms;
        let found = columns(&format!(
            "No;Title;Type;Location;Made in city
            1;Quay;chair;{a};Bergen
            2;Stair;chair;{b};Oslo
            3;Net;lamp;{c};Bergen"
        ));
        assert_eq!(found[3..], ["Location = -", "Made in city = city"], "{rooms:?}");
    }
    let found = columns(
        "No;Title;Type;Room;Zaal
        1;Quay;chair;Blue;Noord
        2;Stair;chair;Red;Zuid
        3;Net;lamp;Green;Oost",
    );
    assert_eq!(found[3..], ["Room = -", "Zaal = -"]);
    // A house is a place, whatever its name.
    let found = columns(
        "No;Title;Type;Location
        1;Quay;chair;City Hall, Bergen
        2;Stair;chair;Guild Hall, Oslo
        3;Net;lamp;Oslo",
    );
    assert_eq!(found[3], "Location = city");
}

#[test]
fn times_of_entries_are_not_the_year() {
    for heading in
        ["created_at", "modified", "Date added", "Last update", "lastupdate", "Date changed", "Date uploaded"]
    {
        let found = columns(&format!(
            "No;Title;Type;{heading}
            1;Quay;chair;2021-03-04
            2;Stair;chair;2021-03-04
            3;Net;lamp;2022-11-30"
        ));
        let taken = ["year", "published", "provenance.in_archive_since", "details"]
            .map(|member| found[3].contains(member));
        assert_eq!(taken, [false; 4], "{}", found[3]);
    }
    let found = columns(
        "No;Title;Type;Date created;Year
        1;Quay;chair;2021-03-04;1931
        2;Stair;chair;2021-03-04;c. 1940
        3;Net;lamp;2022-11-30;1952",
    );
    assert_eq!(found[3..], ["Date created = -", "Year = details.Date year"]);
    // Days of the last century are those of works.
    let found = columns(
        "No;Title;Type;Date created
        1;Quay;chair;1931-03-04
        2;Stair;chair;1932-03-04
        3;Net;lamp;1951-11-30",
    );
    assert_eq!(found[3], "Date created = details.Date year");
}

#[test]
fn of_two_forms_of_a_name_the_readable_one_is_taken() {
    for [inverted, readable] in
        [["Artist name", "Artist display"], ["Artist", "Display name"], ["Maker", "Maker (readable)"]]
    {
        let found = columns(&format!(
            "No;Title;Type;{inverted};{readable};Copyright
            1;Quay;chair;Pellow, Agnes;Agnes Pellow;© Agnes Pellow
            2;Stair;chair;Korn, Ilse;Ilse Korn;© Ilse Korn
            3;Net;lamp;Pellow, Agnes;Agnes Pellow;© Agnes Pellow"
        ));
        let expected = [
            format!("{inverted} = -"),
            format!("{readable} = studio"),
            "Copyright = details.Rights".to_owned(),
        ];
        assert_eq!(found[3..], expected);
    }
    let found = columns(
        "No;Title;Type;Artist;Copyright
        1;Quay;chair;Pellow, Agnes;© Agnes Pellow
        2;Stair;chair;Korn, Ilse;© Ilse Korn
        3;Net;lamp;Pellow, Agnes;© Agnes Pellow",
    );
    assert_eq!(found[3..], ["Artist = studio", "Copyright = details.Rights"]);
}

#[test]
fn a_credit_is_of_a_picture_where_it_speaks_of_one() {
    let found = columns(
        "No;Title;Type;Photo;Credit
        1;Quay;chair;a.jpg;Photo: Ana Wells
        2;Stair;chair;b.jpg;Courtesy of the Ferry Club
        3;Net;lamp;c.jpg;Photo: Gil Aron",
    );
    assert_eq!(found[4], "Credit = details.Credit pictures.credit");
    let found = columns(
        "No;Title;Type;Photo;Credit
        1;Quay;chair;a.jpg;Gift of Ana Wells
        2;Stair;chair;b.jpg;Ferry Club Fund
        3;Net;lamp;c.jpg;Purchase",
    );
    assert_eq!(found[4], "Credit = details.Credit line pictures.credit");
}

#[test]
fn days_as_numbers_of_a_spreadsheet_are_read() {
    let headings = ["No", "Title", "Type", "Date added"].map(str::to_owned);
    let rows =
        [["1", "Quay", "chair", "44259"], ["2", "Stair", "chair", "44260.5"], ["3", "Net", "lamp", "45001"]];
    let records = rows.map(|cells| row(&headings, cells.map(str::to_owned).to_vec()));
    let toml = suggestion("works.csv", &headings, &records).toml;
    let line = "\"provenance.selected\" = { from = \"Date added\", date = \"excel\" }\n";
    assert!(toml.contains(line), "{toml}");
}
