//! Files in the columns of others than the shapes: made up, after what is known of archives, museums and studios.

use serde_json::{Map, Value, json};

use super::measure::{check, suggestion};
use crate::row;

fn table(text: &str, delimiter: char) -> (Vec<String>, Vec<Map<String, Value>>) {
    let mut lines =
        text.trim().lines().map(|line| line.trim().split(delimiter).map(str::to_owned).collect::<Vec<_>>());
    let headings = lines.next().unwrap();
    let records = lines.map(|cells| row(&headings, cells)).collect();
    (headings, records)
}

fn compare(shape: &str, text: &str, expected: &str) {
    let (headings, records) = table(text, ';');
    let suggestion = suggestion(&format!("{shape}.csv"), &headings, &records);
    check(shape, &suggestion, "", &expected.replace(" = ", "\t").replace(" =", "\t"));
}

fn compare_json(shape: &str, records: &Value, expected: &str) {
    let records: Vec<_> =
        records.as_array().unwrap().iter().map(|record| record.as_object().unwrap().clone()).collect();
    let suggestion = suggestion(&format!("{shape}.json"), &[], &records);
    check(shape, &suggestion, "", &expected.replace(" = ", "\t").replace(" =", "\t"));
}

#[test]
fn a_german_photo_archive() {
    compare(
        "photo-archive",
        "Signatur;Bildtitel;Fotograf/in;Aufnahmeort;Aufnahmedatum;Bildbeschreibung;Schlagwörter;Technik;Format;Objektart;Dateiname;Rechte;Versicherungswert;Bemerkungen;Standort Depot;Erfasst am
        F 0001/1;Bahnhof von Süden;Wendt, Ilse;Basel;12.03.1934;Blick auf den Bahnhof, links die alte Post.;Bahnhof|Winter;Glasnegativ;9 x 12 cm;Fotografie;F_0001_1.jpg;gemeinfrei;200;prüfen;Schrank 3;2019-03-02
        F 0001/2;Bahnhof von Norden;Wendt, Ilse;Basel;um 1935;Die Halle kurz vor dem Umbau mit Gerüsten.;Bahnhof;Glasnegativ;9 x 12 cm;Fotografie;F_0001_2.jpg;gemeinfrei;200;;Schrank 3;2019-03-02
        F 0002;Markthalle;Keller, Otto;Olten;1951;Die Markthalle am Tag ihrer Eröffnung.;Markt|Halle;Silbergelatine;18 x 24 cm;Fotografie;F_0002.jpg;© Erben Keller;450;;Schrank 4;2019-03-04
        F 0003;Neubau der Schule;;Olten;1950er Jahre;Rohbau der Schule, im Vordergrund ein Kran.;Schule|Baustelle;Silbergelatine;18 x 24 cm;Fotografie;F_0003.jpg;© Erben Keller;450;doppelt?;Schrank 4;2019-03-04",
        "Signatur = id
        Bildtitel = name
        Fotograf/in = studio
        Aufnahmeort = city
        Aufnahmedatum = year details.Date
        Bildbeschreibung = description
        Schlagwörter = taste.subject
        Technik = taste.material
        Format = details.Format
        Objektart = category details.Objektart
        Dateiname = pictures
        Rechte = details.Rights
        Versicherungswert =
        Bemerkungen =
        Standort Depot =
        Erfasst am =",
    );
}

#[test]
fn a_french_museum() {
    compare(
        "musee",
        "N° d'inventaire;Titre;Auteur;Date de création;Technique;Dimensions;Domaine;Lieu de création;Mode d'acquisition;Date d'acquisition;Description;Mots-clés;Image;Lien;Valeur d'assurance;Lieu de naissance
        2001.4.1;Le port la nuit;Marchand, Odile;vers 1880;huile sur toile;H. 40 ; L. 60 cm;Peinture;Nantes;Don Perrin;2001;Une barque rentre au port sous la lune.;port, nuit;https://musee.example/i/1.jpg;https://musee.example/oeuvre/1;5000;Brest
        2001.4.2;Étude de mains;Marchand, Odile;1881;fusain sur papier;H. 20 cm;Dessin;Nantes;Don Perrin;2001;Deux mains, l'une fermée et l'autre ouverte.;mains;https://musee.example/i/2.jpg;https://musee.example/oeuvre/2;800;Brest
        1998.1.7;Fauteuil bas;Atelier Roux;1932;hêtre, cuir;H. 70 cm;Mobilier;Paris;Achat;1998;Un fauteuil pour la salle de lecture.;siège;;https://musee.example/oeuvre/3;1500;
        1998.1.9;Sans titre;;s.d.;bronze;H. 12 cm;Sculpture;;Achat;1998;;;https://musee.example/i/4.jpg;https://musee.example/oeuvre/4;900;"
            // Semicolons within a cell.
            .replace(" ; L", ", L")
            .as_str(),
        "N° d'inventaire = id
        Titre = name
        Auteur = studio
        Date de création = year details.Date
        Technique = taste.material
        Dimensions = details.Dimensions
        Domaine = category details.Domaine
        Lieu de création = city
        Mode d'acquisition = details.Credit line
        Date d'acquisition = provenance.in_archive_since
        Description = description
        Mots-clés = taste.subject
        Image = pictures
        Lien = url
        Valeur d'assurance =
        Lieu de naissance =",
    );
}

#[test]
fn an_italian_studio() {
    compare(
        "progetti",
        "Codice;Nome progetto;Progettisti;Luogo;Anno;Tipologia;Superficie;Materiali;Committente;Descrizione breve;Foto;Crediti fotografici;Note interne;Budget
        P01;Casa sul lago;Studio Berti;Como;2011;Residenziale;220;legno, pietra;privato;Una casa tra il bosco e l'acqua.;foto/p01.jpg;A. Neri;da rivedere;400000
        P02;Biblioteca civica;Studio Berti, Lena Corsi;Lecco;2015-2018;Biblioteca;1800;cemento;Comune di Lecco;Tre sale intorno a un cortile.;foto/p02.jpg;A. Neri;;2300000
        P03;Negozio Aurora;Studio Berti;Milano;2019;Interni;90;ottone, vetro;Aurora srl;Un negozio stretto e alto.;foto/p03.jpg;P. Sala;;80000",
        "Codice = id
        Nome progetto = name
        Progettisti = studio
        Luogo = city
        Anno = year details.Date
        Tipologia = category details.Tipologia
        Superficie = details.Superficie
        Materiali = taste.material
        Committente = details.Committente
        Descrizione breve = intro
        Foto = pictures
        Crediti fotografici = pictures.credit details.Crediti fotografici
        Note interne =
        Budget =",
    );
}

#[test]
fn a_spanish_collection() {
    compare(
        "coleccion",
        "Número de inventario;Título;Autor;Fecha;Técnica;Medidas;Clasificación;País;Línea de crédito;Año de adquisición;Imagen;Donante
        CE-001;Patio con sombra;Ruiz Vega, Inés;ca. 1925;óleo sobre lienzo;60 x 50 cm;Pintura;España;Donación Vega, 1971;1971;img/ce001.jpg;M. Vega
        CE-002;Cabeza;Ruiz Vega, Inés;1927;bronce;30 cm;Escultura;España;Donación Vega, 1971;1971;img/ce002.jpg;M. Vega
        CE-003;Calle de noche;Anónimo;s.f.;gelatina de plata;24 x 18 cm;Fotografía;México;Compra, 1984;1984;img/ce003.jpg;",
        "Número de inventario = id
        Título = name
        Autor = studio
        Fecha = year details.Date
        Técnica = taste.material
        Medidas = details.Dimensions
        Clasificación = category details.Clasificación
        País = city
        Línea de crédito = details.Credit line
        Año de adquisición = provenance.in_archive_since
        Imagen = pictures
        Donante =",
    );
}

#[test]
fn a_dutch_museum() {
    compare(
        "museum",
        "Objectnummer;Titel;Vervaardiger;Datering;Datum van;Datum tot;Materiaal;Afmetingen;Objecttype;Plaats;Verwerving;Trefwoorden;Afbeelding;Rechten;Standplaats;Geboortejaar
        BK-1;Stoel met armleuningen;Visser, Truus;ca. 1930;1928;1932;eikenhout, leer;h 80 cm;Meubel;Utrecht;1951;stoelen;https://m.example/bk-1.jpg;CC BY 4.0;D3;1901
        BK-2;Kop van een vrouw;Onbekend;19e eeuw;1800;1900;terracotta;h 22 cm;Beeldhouwwerk;Gent;1960;koppen;https://m.example/bk-2.jpg;CC0;D4;
        BK-3;Gezicht op de Maas;Jansen, Piet;1911;1911;1911;olieverf op doek;40 x 60 cm;Schilderij;Rotterdam;1960;rivieren;https://m.example/bk-3.jpg;CC0;D4;1870",
        "Objectnummer = id
        Titel = name
        Vervaardiger = studio
        Datering = year details.Date
        Datum van =
        Datum tot =
        Materiaal = taste.material
        Afmetingen = details.Dimensions
        Objecttype = category details.Objecttype
        Plaats = city
        Verwerving = provenance.in_archive_since
        Trefwoorden = taste.subject
        Afbeelding = pictures
        Rechten = details.Rights
        Standplaats =
        Geboortejaar =",
    );
}

#[test]
fn a_wordpress_export() {
    compare(
        "wordpress",
        "ID;Title;Content;Excerpt;Date;Post Type;Permalink;Image URL;Image Alt Text;Categories;Tags;Status;Author Username;Slug;Architect;Year;Location
        11;Stair House;<p>A house around one stair.</p>;One stair.;2021-04-01 10:22:11;post;https://w.example/stair-house;https://w.example/u/1.jpg|https://w.example/u/2.jpg;The stair;House;stairs|oak;publish;admin;stair-house;Ilka Brandt;2020;Zürich
        12;Bar 11;<p>One room and one counter.</p>;One counter.;2021-04-02 11:22:11;post;https://w.example/bar-11;https://w.example/u/3.jpg;;Interior;terrazzo;publish;admin;bar-11;Officina B.;1958;Milano
        14;Dune Chapel;<p>A chapel of sand.</p>;Of sand.;2021-04-05 09:05:00;post;https://w.example/dune-chapel;https://w.example/u/4.jpg;The door;Sacred;concrete;publish;admin;dune-chapel;Jon Ås;2017;Skagen",
        "ID = id
        Title = name
        Content = description
        Excerpt = intro
        Date =
        Post Type =
        Permalink = url
        Image URL = pictures
        Image Alt Text = pictures.alt
        Categories = category details.Categories
        Tags = taste.subject
        Status =
        Author Username =
        Slug =
        Architect = studio
        Year = year details.Date
        Location = city",
    );
}

#[test]
fn a_list_of_projects() {
    compare(
        "projects",
        "project_name;architect;year;country;city;publication_date;project_id;category;area
        Wave House ;Studio Lund;2014;Norway;Bergen;2015-02-03;900101;Houses;210
        Night School ;Okafor Partners;2016;Nigeria;Lagos;2017-05-09;900102;Schools;3200
        Thin Library ;Studio Lund;2019;Norway;Oslo;2020-01-12;900103;Library;5400
        Box Office ;Marta Quay;2012;Poland;Łódź;2013-11-30;900104;Offices;880",
        "project_name = name
        architect = studio
        year = year details.Date
        country = city
        city = city
        publication_date = published
        project_id = id
        category = category details.Category
        area = details.Area",
    );
}

#[test]
fn watercolours_without_a_title() {
    let (mut headings, mut records) = table(
        ";authors;fruit;image;subjects;year
        0;Quill, Ellen Isham, 1873-1955;apples;https://u.example/1.jpg;Malus domestica , Pyrus;1912
        0;Moss, Deborah, 1850-1930;pears;https://u.example/2.jpg;Pyrus communis;1913
        0;Moss, Deborah, 1850-1930;plums;https://u.example/3.jpg;Prunus;1914",
        ';',
    );
    headings[0].clear();
    let suggestion = suggestion("fruit.csv", &headings, &records);
    assert_eq!(suggestion.missing.len(), 2, "{:?}", suggestion.missing);
    assert!(
        suggestion.missing[0].starts_with("No column is for name: none is called"),
        "{}",
        suggestion.missing[0]
    );
    assert!(suggestion.missing[1].starts_with("No column is for category"), "{}", suggestion.missing[1]);
    let toml = suggestion.toml;
    assert!(toml.contains("invert = true"), "{toml}");
    assert!(toml.contains("source = \"image\""), "{toml}");
    assert!(crate::Mapping::parse("fruit.toml", &toml).is_err());
    records.clear();
    assert_eq!(super::measure::suggestion("fruit.csv", &headings, &records).missing.len(), 2);
}

#[test]
fn an_answer_of_a_university_museum() {
    let record = |id: i64, title: &str, dated: &str, classification: &str, person: &str| {
        json!({
            "objectid": id, "objectnumber": format!("1920.{id}"), "accessionyear": 1920, "title": title, "dated": dated, "datebegin": -430,
            "dateend": -400, "century": "5th century BCE", "classification": classification, "medium": "Terracotta", "culture": "Greek",
            "people": [{"displayname": person, "role": "Artist", "prefix": null, "gender": "female", "birthplace": "Athens", "personid": id + 7}],
            "dimensions": format!("{id} x 12 cm"), "creditline": "Gift of L. Reyer", "copyright": null, "description": format!("A jar with {id} herons in a row."),
            "url": format!("https://harvard.example/collections/object/{id}"), "primaryimageurl": format!("https://nrs.example/urn-3:HUAM:{id}"),
            "lastupdate": "2024-01-01T04:01:02-0500", "totalpageviews": 12 + id, "imagecount": 2, "verificationlevel": 3, "department": "Department of Ancient Art",
            "division": "Asian and Mediterranean Art", "rank": id * 3,
        })
    };
    compare_json(
        "university",
        &json!([
            record(101, "Jar with Herons", "late 5th century BCE", "Vessels", "Unidentified Artist"),
            record(102, "Harbour", "1893", "Paintings", "Mina Halloran"),
            record(103, "Stair", "c. 1920", "Photographs", "Ilse Korn"),
            record(104, "Quay", "1921-1922", "Prints", "Ilse Korn"),
        ]),
        "objectid = id
        objectnumber = details.Accession number
        accessionyear = provenance.in_archive_since
        title = name
        dated = year details.Date
        datebegin =
        dateend =
        classification = category details.Classification
        medium = taste.material
        people[].displayname = studio
        people[].role =
        people[].gender =
        people[].birthplace =
        people[].personid =
        dimensions = details.Dimensions
        description = description
        url = url
        primaryimageurl = pictures
        lastupdate =
        totalpageviews =
        imagecount =
        verificationlevel =
        rank =",
    );
}

#[test]
fn an_answer_with_lists_and_times() {
    let record = |number: &str, title: &str, name: &str, kind: &str, period: &str| {
        json!({
            "id": format!("{number}_object"), "object_number": number, "titles": [{"title": title, "language": "dansk"}], "artist": [name],
            "production": [{"creator": name, "creator_forename": "X", "creator_role": "painter", "creator_date_of_birth": "1850-01-01T00:00:00.000Z", "creator_nationality": "dansk"}],
            "production_date": [{"start": "1890-01-01T00:00:00.000Z", "end": "1891-12-31T00:00:00.000Z", "period": period}],
            "object_names": [{"name": kind}], "techniques": ["olie", "lærred"], "dimensions": [{"part": "netto", "type": "bredde", "unit": "millimeter", "value": "300"}],
            "image_thumbnail": format!("https://iiif.example/{number}/full/!1024,/0/default.jpg"), "image_iiif_id": format!("https://iiif.example/{number}"),
            "public_domain": true, "rights": "https://creativecommons.example/zero/1.0/", "frontend_url": format!("https://open.example/artwork/image/{number}"),
            "created": "2020-03-21T10:38:47Z", "modified": "2023-03-21T10:38:47Z",
        })
    };
    compare_json(
        "national-gallery",
        &json!([
            record("KMS1", "Havn", "Anna Holm", "maleri", "ca. 1890"),
            record("KMS2", "Strand", "Anna Holm", "maleri", "1890-1891"),
            record("KKS9", "Studie", "Peder Lund", "tegning", "1891"),
        ]),
        "object_number = id
        id =
        titles[].title = name
        artist = studio
        production[].creator_role =
        production[].creator_nationality =
        production[].creator_date_of_birth =
        production_date[].start =
        production_date[].end =
        production_date[].period = year details.Date
        object_names[].name = category details.Object names
        techniques = taste.material
        image_thumbnail = pictures
        rights = details.Rights
        frontend_url = url
        public_domain =
        modified =",
    );
}

#[test]
fn records_with_years_of_nines() {
    let record = |id: i64, title: &str, date: &str, kind: &str| {
        json!({
            "title": title, "creation_date": date, "creation_date_earliest": "1900-01-01", "creation_date_latest": "1901-01-01", "medium": "watercolor on\npaper",
            "accession_number": format!("19.{id}"), "id": format!("cmoa:things/{id}"), "credit_line": format!("Fund {id}"), "date_acquired": "1919-04-01", "department": "Fine Arts",
            "physical_location": "Not on View", "item_width": 10.5, "item_height": 12.25, "web_url": format!("https://carnegie.example/objects/{id}"),
            "provenance_text": format!("Collection {id}"), "classification": kind, "image_url": format!("https://carnegie.example/i/{id}.jpg"),
            "creator": [{"full_name": "Halloran, Mina", "cited_name": "Mina Halloran", "role": "artist", "nationality": "American", "birth_date": "1880-01-01", "artist_id": "cmoa:parties/1"}],
        })
    };
    compare_json(
        "carnegie",
        &json!([
            record(1, "Harbour", "c. 9999", "paintings"),
            record(2, "Stair", "1901", "photographs"),
            record(3, "Quay", "19th century", "prints"),
            record(4, "Bridge", "9999", "prints"),
        ]),
        "title = name
        creation_date = year details.Date
        creation_date_earliest =
        creation_date_latest =
        medium = taste.material
        accession_number = details.Accession number
        id = id
        credit_line = details.Credit line
        date_acquired = provenance.in_archive_since
        physical_location =
        item_width =
        item_height =
        web_url = url
        provenance_text = details.Provenance text
        classification = category details.Classification
        image_url = pictures
        creator[].cited_name = studio
        creator[].role =
        creator[].nationality =
        creator[].birth_date =
        creator[].artist_id =",
    );
}

#[test]
fn the_objects_of_a_national_gallery() {
    compare(
        "gallery",
        "objectid;uuid;accessioned;accessionnum;title;displaydate;beginyear;endyear;visualbrowsertimespan;medium;dimensions;inscription;attributioninverted;attribution;provenancetext;creditline;classification;subclassification;parentid;isvirtual;departmentabbr;lastdetectedmodification;wikidataid;customprinturl
        1;aa-1;1;1937.1.1;Saint with a Book;c. 1480;1478;1482;1401 to 1500;oil on panel;overall: 30 x 20 cm;lower left: L;Korn, Ilse;Ilse Korn;(Art market, Wien);Mellon Fund;Painting;;;0;DCRS;2023-01-01 11:12:13.5;Q1;
        2;aa-2;1;1937.1.2;Harbour;1851;1851;1851;1851 to 1875;etching;plate: 12 x 9 cm;;Halloran, Mina;Mina Halloran;;Rosenwald Fund;Print;;1;0;DG-P;2023-01-01 11:12:13.5;;
        3;aa-3;1;1937.1.3;Standing Figure;1880/1890;1880;1890;1876 to 1900;bronze;height: 40 cm;;French 19th Century;French 19th Century;(Sale, Paris);Mellon Fund;Sculpture;;;0;DCRS;2023-01-01 11:12:13.5;;",
        "objectid = id
        uuid =
        accessionnum = details.Accession number
        title = name
        displaydate = year details.Date
        beginyear =
        endyear =
        medium = taste.material
        dimensions = details.Dimensions
        attributioninverted =
        attribution = studio
        creditline = details.Credit line
        classification = category details.Classification
        parentid =
        isvirtual =
        lastdetectedmodification =
        wikidataid =
        customprinturl =",
    );
}

#[test]
fn an_answer_of_an_old_api() {
    let record = |number: &str, title: &str, maker: &str| {
        json!({
            "id": format!("nl-{number}"), "objectNumber": number, "title": title, "longTitle": format!("{title}, {maker}, 1667"), "hasImage": true,
            "principalOrFirstMaker": maker, "webImage": {"guid": "a1b2", "width": 2500, "height": 2034, "url": format!("https://lh3.example/{number}=s0")},
            "headerImage": {"guid": "c3d4", "width": 1920, "height": 460, "url": format!("https://lh3.example/{number}=h0")},
            "productionPlaces": ["Amsterdam"], "links": {"self": format!("http://api.example/{number}"), "web": format!("http://museum.example/nl/collectie/{number}")},
            "showImage": true, "permitDownload": true,
        })
    };
    let records = json!([
        record("SK-1", "Harbour", "Mina Halloran"),
        record("SK-2", "Stair", "Ilse Korn"),
        record("SK-3", "Quay", "Ilse Korn")
    ]);
    compare_json(
        "old-api",
        &records,
        "id =
        objectNumber = id
        title = name
        principalOrFirstMaker = studio
        webImage.url = pictures
        webImage.width =
        headerImage.url =
        productionPlaces = city
        links.web = url
        links.self =
        showImage =",
    );
}

#[test]
fn an_answer_in_which_every_member_is_a_list() {
    let record = |number: u32, title: &str, maker: &str, kind: &str| {
        json!({
            "id": format!("/90402/SK_{number}"), "guid": format!("https://www.europeana.example/item/90402/SK_{number}"), "title": [title], "dcCreator": [maker],
            "type": kind, "year": ["1667"], "edmIsShownBy": [format!("https://lh3.example/{number}.jpg")], "edmPreview": [format!("https://api.example/thumbnail/{number}")],
            "dataProvider": ["Museum"], "rights": ["http://rightsstatements.example/InC/1.0/"], "dcDescription": [format!("A view of harbour {number} with seven boats.")],
            "completeness": 10, "timestamp_created": "2014-06-25T08:12:11.122Z", "score": 7.1,
        })
    };
    compare_json(
        "lists",
        &json!([
            record(1, "Harbour", "Mina Halloran", "IMAGE"),
            record(2, "Stair", "Ilse Korn", "IMAGE"),
            record(3, "Quay", "Ilse Korn", "IMAGE")
        ]),
        "id = id
        guid = url
        title = name
        dcCreator = studio
        year = year details.Date
        edmIsShownBy = pictures
        edmPreview =
        dataProvider =
        rights = details.Rights
        dcDescription = description
        completeness =
        timestamp_created =
        score =",
    );
}
