//! Answers of museums' services, with invented records.

use serde_json::{Value, json};

use crate::suggest::tests::measure::{check, suggestion};

fn compare(shape: &str, records: Vec<Value>, expected: &str) {
    let records: Vec<_> = records.iter().map(|record| record.as_object().unwrap().clone()).collect();
    let suggestion = suggestion(&format!("{shape}.json"), &[], &records);
    check(shape, &suggestion, "", &expected.replace(" = ", "\t").replace(" =", "\t"));
}

#[test]
fn an_answer_of_a_danish_museum() {
    let works = "
        KMS1001;Vinter ved fjorden;Ane Holm;1884;1884-01-01T00:00:00.000Z;1884-12-31T00:00:00.000Z;Maleri;Olie på lærred;true
        KMS1002;Pige ved vindue;Ane Holm;ca. 1886;1884-01-01T00:00:00.000Z;1888-12-31T00:00:00.000Z;Maleri;Olie på lærred;true
        KKS1960-12;Uden titel;Bent Krag;1955-1960;1955-01-01T00:00:00.000Z;1960-12-31T00:00:00.000Z;Akvarel;Vandfarve;false
        KKS1961-3;Studie af en hest;Ukendt;1700-1799;1700-01-01T00:00:00.000Z;1799-12-31T00:00:00.000Z;Tegning;Blyant;true
        KMS77;Stående figur;Ida Vang;1931;1931-01-01T00:00:00.000Z;1931-12-31T00:00:00.000Z;Skulptur;Bronze;false
        KKSgb1/4;Havn;Bent Krag;1962;1962-01-01T00:00:00.000Z;1962-12-31T00:00:00.000Z;Foto;Gelatinesølv;false";
    let records = works.trim().lines().map(|line| {
        let work: Vec<&str> = line.trim().split(';').collect();
        let [number, title, artist, period, start, end, kind, technique, free] = work[..] else { panic!("{line}") };
        json!({
            "id": format!("117_{number}_object"), "created": "2020-03-21T10:00:00Z", "modified": "2024-01-02T10:00:00Z",
            "object_number": number, "responsible_department": "Samling og forskning",
            "titles": [{"title": title, "type": "museumstitel", "language": "dansk"}],
            "artist": [artist],
            "production": [{"creator": artist, "creator_forename": artist.split(' ').next(), "creator_date_of_birth": "1850-01-01T00:00:00.000Z",
                "creator_nationality": "dansk", "creator_gender": "FEMALE", "creator_role": null}],
            "production_date": [{"start": start, "end": end, "period": period}],
            "production_dates_notes": [format!("Værkdatering: {period}")],
            "object_names": [{"name": kind}], "techniques": [technique],
            "dimensions": [{"part": "Netto", "type": "højde", "unit": "centimeter", "value": "40"}],
            "image_thumbnail": format!("https://iip.smk.example/{number}/!1024,/0/default.jpg"), "image_native": format!("https://api.smk.example/{number}.tif"),
            "image_iiif_id": format!("https://iip.smk.example/{number}"), "has_image": true, "image_width": 4000, "image_height": 3000,
            "public_domain": free == "true", "rights": "https://creativecommons.example/zero/1.0/", "on_display": false, "current_location_name": "Sal 210",
            "acquisition_date": "1901-01-01T00:00:00.000Z", "credit_line": [format!("Gave {number}")],
            "frontend_url": format!("https://open.smk.example/artwork/image/{number}"), "enrichment_url": "https://enrichment.example/",
            "object_url": format!("https://api.smk.example/art/?object_number={number}")
        })
    });
    compare(
        "smk",
        records.collect(),
        "object_number = id
        titles[].title = name
        artist = studio
        production_date[].period = year details.Date
        production_date[].start =
        production_date[].end =
        object_names[].name = category details.Object names
        techniques = taste.material
        image_thumbnail = pictures
        rights = details.Rights
        acquisition_date = provenance.in_archive_since
        credit_line = details.Credit line
        frontend_url = url
        responsible_department = details.Department
        created =
        modified =
        production[].creator_nationality =
        production[].creator_date_of_birth =
        production[].creator_gender =
        current_location_name =
        image_native =",
    );
}

#[test]
fn an_answer_of_a_university() {
    let works = "
        299843;1943.1;Head of a Bearded God;late 5th century BCE;-430;-400;5th century BCE;Sculpture;Marble;Greek;;Athens
        299844;1943.2;Ewer;19th century;1800;1899;19th century;Vessels;Silver;British;Ned Farrow;London
        310012;P1998.44;Stairwell, Dessau;1926;1926;1926;20th century;Photographs;Gelatin silver print;German;Lu Brandt;Dessau
        310013;P1998.45;Balconies, Dessau;c. 1927;1922;1932;20th century;Photographs;Gelatin silver print;German;Lu Brandt;Dessau
        321500;BR49.12;Tubular Chair;1928;1928;1928;20th century;Furniture;Steel, canvas;German;Otto Rehm;Berlin
        330001;2001.7;Untitled (Grid);1971;1971;1971;20th century;Prints;Screenprint;American;Ada Wills;New York";
    let records = works.trim().lines().map(|line| {
        let work: Vec<&str> = line.trim().split(';').collect();
        let [id, number, title, dated, begin, end, century, class, medium, culture, maker, place] = work[..] else { panic!("{line}") };
        let [id, begin, end] = [id, begin, end].map(|number| number.parse::<i64>().unwrap());
        let people = if maker.is_empty() {
            json!([])
        } else {
            json!([{"role": "Artist", "birthplace": "Ulm", "gender": "unknown", "displaydate": "1890 - 1950", "prefix": null, "culture": culture,
                "displayname": maker, "alphasort": "x", "name": maker, "personid": id + 7, "deathplace": "", "displayorder": 1}])
        };
        let mut record = json!({
            "copyright": null, "contextualtextcount": 0, "creditline": format!("University Museums, Gift {number}"), "accesslevel": 1,
            "dateoflastpageview": "2024-11-01", "classificationid": 30, "division": "Modern", "markscount": 0, "totaluniquepageviews": id / 1000,
            "contact": "am@museum.example", "rank": id - 5, "id": id, "state": null, "period": "", "objectnumber": number,
            "images": [{"baseimageurl": format!("https://nrs.example/urn/{id}"), "alttext": null, "copyright": "President and Fellows", "width": 1024}],
            "worktypes": [{"worktypeid": "1", "worktype": class.to_lowercase()}], "accessionyear": 1943, "classification": class
        });
        let rest = json!({
            "primaryimageurl": format!("https://nrs.example/urn/{id}.jpg"), "style": null, "lastupdate": "2024-11-02T03:00:00-0500",
            "commentary": null, "technique": null, "description": "", "medium": medium, "title": title, "accessionmethod": "Gift",
            "colors": [{"color": "#afafaf", "percent": 0.4}], "provenance": null, "dated": dated, "datebegin": begin, "dateend": end, "century": century,
            "department": "Department of Modern Art", "people": people, "url": format!("https://harvard.example/collections/object/{id}"),
            "places": [{"placeid": 4, "displayname": place, "type": "Creation Place", "confidence": null}],
            "culture": culture, "objectid": id, "dimensions": "20 x 10 cm", "verificationlevel": 4
        });
        record.as_object_mut().unwrap().append(&mut rest.as_object().unwrap().clone());
        record
    });
    compare(
        "university",
        records.collect(),
        "objectid = id
        objectnumber = details.Accession number
        title = name
        dated = year details.Date
        datebegin =
        dateend =
        classification = category details.Classification
        medium = taste.material
        culture = details.Culture
        people[].displayname = studio
        people[].name =
        people[].birthplace =
        people[].displaydate =
        people[].gender =
        places[].displayname = city
        dimensions = details.Dimensions
        creditline = details.Credit line
        department = details.Department
        accessionyear = provenance.in_archive_since
        url = url
        primaryimageurl = pictures
        contact =
        rank =
        lastupdate =
        dateoflastpageview =",
    );
}

#[test]
fn an_answer_of_an_aggregator() {
    let works = [
        (
            "/90402/SK_1",
            "Gezicht op de haven",
            "Hendrik Mols",
            Some("1653"),
            "schilderij",
            "Rijksdienst",
            "nl",
        ),
        (
            "/90402/SK_2",
            "Stilleven met citroen",
            "Hendrik Mols",
            Some("1655"),
            "schilderij",
            "Rijksdienst",
            "nl",
        ),
        ("/2048128/77", "Kirche in Ulm", "Anna Lenz", Some("1905"), "Fotografie", "Fotothek", "de"),
        ("/2048128/78", "Markt in Ulm", "Anna Lenz", None, "Fotografie", "Fotothek", "de"),
        ("/91627/K9", "Stol", "Sven Ek", Some("1949"), "furniture", "Design Archive", "sv"),
        ("/91627/K10", "Fåtölj", "Sven Ek", Some("1951"), "furniture", "Design Archive", "sv"),
    ];
    let records = works.map(|(id, title, maker, year, kind, provider, language)| {
        let mut record = json!({
            "id": id, "guid": format!("https://www.europeana.example/item{id}?utm_source=api"), "link": format!("https://api.europeana.example/record{id}.json"),
            "title": [title], "dcTitleLangAware": {language: [title]}, "dcCreator": [maker], "dcDescription": [format!("{title}, {kind} van {maker}.")],
            "edmIsShownBy": [format!("https://img.example/full{id}.jpg")], "edmIsShownAt": [format!("https://provider.example{id}")],
            "edmPreview": [format!("https://api.europeana.example/thumbnail?uri=x{id}")], "dataProvider": [provider], "provider": ["Aggregator"],
            "rights": ["http://creativecommons.example/by/4.0/"], "type": "IMAGE", "language": [language], "country": ["Germany"],
            "completeness": 10, "score": 3.2, "index": 0, "timestamp": 1_600_000_000_000_u64, "timestamp_update_epoch": 1_600_000_000_001_u64,
            "dcType": [kind], "europeanaCollectionName": ["90402_M"], "previewNoDistribute": false
        });
        if let Some(year) = year {
            record["year"] = json!([year]);
        }
        record
    });
    compare(
        "aggregator",
        records.to_vec(),
        "id = id
        guid = url
        title = name
        dcCreator = studio
        year = year details.Date
        dcDescription = description
        edmIsShownBy = pictures
        rights = details.Rights
        dcType = category details.Type
        timestamp =
        timestamp_update_epoch =
        score =
        completeness =
        link =",
    );
}
