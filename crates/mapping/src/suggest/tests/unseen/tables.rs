//! Tables: headings of museums and studios, with invented rows; `;` stands between cells, a line is a record.

use serde_json::{Map, Value};

use crate::row;
use crate::suggest::tests::measure::{check, suggestion};

fn table(shape: &str, text: &str) -> (Vec<String>, Vec<Map<String, Value>>) {
    let mut lines =
        text.trim().lines().map(|line| line.trim().split(';').map(str::to_owned).collect::<Vec<_>>());
    let headings = lines.next().unwrap();
    let records = lines.map(|cells| {
        assert_eq!(cells.len(), headings.len(), "{shape}: {cells:?}");
        row(&headings, cells)
    });
    let records = records.collect();
    (headings, records)
}

fn compare(shape: &str, text: &str, expected: &str) {
    let (headings, records) = table(shape, text);
    let suggestion = suggestion(&format!("{shape}.csv"), &headings, &records);
    check(shape, &suggestion, "", &expected.replace(" = ", "\t").replace(" =", "\t"));
}

#[test]
fn a_table_of_carnegie() {
    compare(
        "carnegie-table",
        "title;creation_date;creation_date_earliest;creation_date_latest;medium;accession_number;id;credit_line;date_acquired;department;physical_location;web_url;provenance_text;classification;image_url;full_name;cited_name;role;nationality;birth_date;death_date;birth_place
        Wharf at Low Tide;c. 1911;1911-01-01;1911-12-31;oil on canvas;11.4;cma:things/0a11;Gift of the Ferry Club;1911-04-02;Fine Arts;Gallery 8;http://cmoa.example/things/0a11;the artist, to 1911;paintings;http://cmoa.example/i/0a11.jpg;Edda Quill;Quill, Edda;artist;American;1870-03-01;1941-02-11;Erie
        Wharf (study);1910;1910-01-01;1910-12-31;graphite on paper;11.5;cma:things/0a12;Gift of the Ferry Club;1911-04-02;Fine Arts;Not on View;http://cmoa.example/things/0a12;the artist, to 1911;drawings and watercolors;http://cmoa.example/i/0a12.jpg;Edda Quill;Quill, Edda;artist;American;1870-03-01;1941-02-11;Erie
        Side Chair;1952, printed 1960;1952-01-01;1960-12-31;plywood, steel;60.12.3;cma:things/0b01;Women's Fund;1960-11-20;Decorative Arts;Gallery 2;http://cmoa.example/things/0b01;;furniture;http://cmoa.example/i/0b01.jpg;Holt & Sons|Ray Ostend;Holt & Sons|Ostend, Ray;attributed manufacturer|designer;American|Danish;|1911-05-05;|1980-01-01;|Aarhus
        Edo Screen;Edo period (1615-1868), c. 1700;1615-01-01;1868-12-31;ink on paper;71.9;cma:things/0b02;Bequest of R. Tarn;1971-02-01;Fine Arts;Not on View;http://cmoa.example/things/0b02;R. Tarn;paintings;;unknown Japanese;unknown Japanese;artist;Japanese;;;
        Mill Workers;1938;1938-01-01;1938-12-31;gelatin silver print;2001.3.1;cma:things/0b03;Second Century Fund;2001-06-12;Photography;Not on View;http://cmoa.example/things/0b03;;photographs;http://cmoa.example/i/0b03.jpg;Teenie Lorne;Lorne, Teenie;photographer;American;1908-01-01;1998-01-01;Pittsburgh
        Mill Gate;1939;1939-01-01;1939-12-31;gelatin silver print;2001.3.2;cma:things/0b04;Second Century Fund;2001-06-12;Photography;Not on View;http://cmoa.example/things/0b04;;photographs;http://cmoa.example/i/0b04.jpg;Teenie Lorne;Lorne, Teenie;photographer;American;1908-01-01;1998-01-01;Pittsburgh
        Vase;19th century;1800-01-01;1899-12-31;glass;17.2;cma:things/0b05;Museum purchase;1917-01-09;Decorative Arts;Gallery 3;http://cmoa.example/things/0b05;;containers;http://cmoa.example/i/0b05.jpg;;;;;;;
        Untitled;;;;oil on board;85.1;cma:things/0b06;Museum purchase;1985-10-01;Fine Arts;Not on View;http://cmoa.example/things/0b06;;paintings;http://cmoa.example/i/0b06.jpg;Mara Innis;Innis, Mara;artist;Canadian;1930-01-01;;Halifax",
        "title = name
        creation_date = year details.Date
        creation_date_earliest =
        creation_date_latest =
        medium = taste.material
        accession_number = details.Accession number
        id = id
        credit_line = details.Credit line
        date_acquired = provenance.in_archive_since
        department = details.Department
        physical_location =
        web_url = url
        provenance_text = details.Provenance text
        classification = category details.Classification
        image_url = pictures
        full_name = studio
        cited_name =
        role = studio
        nationality =
        birth_date =
        death_date =
        birth_place =",
    );
}

#[test]
fn a_college_museum() {
    compare(
        "college",
        "id;accession_number;object_name;title;maker;maker_birthdate;maker_deathdate;maker_role;maker_nationality;culture;period;creation_date;creation_date_earliest;creation_date_latest;medium;dimensions;classification;credit_line;filename;on_view
        101;1955.11;print;Winter Road;Lund, Tova;1901;1980;artist;Norwegian;;;1934;1934;1934;woodcut on paper;20 x 30 cm;PRINTS;Gift of the class of 1930;1955_11.jpg;0
        102;1955.12;print;Summer Road;Lund, Tova;1901;1980;artist;Norwegian;;;ca. 1935;1930;1940;woodcut on paper;20 x 30 cm;PRINTS;Gift of the class of 1930;1955_12.jpg;0
        207;70.3;vessel;Jar with Lid;;0;0;;;Korean;Joseon;18th century;1700;1799;porcelain;H. 12 cm;CERAMICS;Museum purchase;70_3.jpg;1
        311;2004.1.1;photograph;Elm Street;Osei, Kwame;1950;0;photographer;American;;;1976;1976;1976;gelatin silver print;8 x 10 in.;PHOTOGRAPHS;Gift of the artist;2004_1_1.jpg;0
        312;2004.1.2;photograph;Elm Street, Night;Osei, Kwame;1950;0;photographer;American;;;1976-78;1976;1978;gelatin silver print;8 x 10 in.;PHOTOGRAPHS;Gift of the artist;2004_1_2.jpg;0
        400;SL.9;painting;Portrait of a Dean;Unknown;0;0;artist;;;;n.d.;0;0;oil on canvas;70 x 60 cm;PAINTINGS;College purchase;SL_9.jpg;1
        401;SL.10;painting;Portrait of a Trustee;Hale, Ruth;1880;1950;artist;American;;;1921;1921;1921;oil on canvas;70 x 60 cm;PAINTINGS;College purchase;SL_10.jpg;0
        402;86.2;sculpture;Kneeling Figure;Abt, Jo;1922;1999;artist;German;;;1961;1961;1961;bronze;H. 50 cm;SCULPTURE;Museum purchase;86_2.jpg;0",
        "id = id
        accession_number = details.Accession number
        title = name
        maker = studio
        maker_birthdate =
        maker_deathdate =
        maker_nationality =
        culture = details.Culture
        period = details.Period
        creation_date = year details.Date
        creation_date_earliest =
        creation_date_latest =
        medium = taste.material
        dimensions = details.Dimensions
        classification = category details.Classification
        credit_line = details.Credit line
        filename = pictures
        on_view =",
    );
}

#[test]
fn a_german_site() {
    compare(
        "beitraege",
        "ID;Titel;Inhalt;Auszug;Datum;Beitragstyp;Permalink;Bild-URL;Bildtitel;Bildunterschrift;Bildbeschreibung;Bild-Alternativtext;Kategorien;Schlagwörter;Architekt;Standort;Baujahr;Status;Autor-ID;Autor-Benutzername;Autor-E-Mail;Slug;Reihenfolge;Kommentarstatus
        811;Haus am Hang;<p>Ein Haus aus Holz und Stein, das den Hang hinabsteigt. [gallery ids=\"1,2\"]</p><p>Vier Zimmer öffnen sich zum Tal, die Küche liegt am Berg und hat ein Fenster zur Straße, aus dem man die ganze Siedlung sieht.</p>;Holz und Stein am Hang.;2021-03-04 09:12:00;projekt;https://stein.example/haus-am-hang/;https://stein.example/w/hang.jpg;hang;Foto: Ulla Brand;;Haus von Süden;Wohnhaus;Holz|Hang;Stein Sauer;Chur;2020;publish;2;usauer;u@stein.example;haus-am-hang;0;closed
        812;Atelier Nord;<p>Ein Atelier unter einem Sheddach mit hohem Licht.</p><p>Der Beton blieb roh, die Türen sind aus Eiche, und der Boden ist geschliffener Estrich, der die Wärme im Winter hält und im Sommer kühlt.</p>;Ein Atelier unter Sheds.;2021-05-11 10:00:00;projekt;https://stein.example/atelier-nord/;https://stein.example/w/nord.jpg;nord;Foto: Ulla Brand;;Innenraum mit Oberlicht;Gewerbe;Beton;Stein Sauer;Zürich;2018-2019;publish;2;usauer;u@stein.example;atelier-nord;0;closed
        813;Laden für Papier;<p>Regale aus Buche, eine lange Theke und sonst nichts.</p><p>Die Decke wurde entfernt, damit das alte Gewölbe wieder zu sehen ist, und das Licht kommt aus Leuchten, die auf den Regalen stehen.</p>;Ein kleiner Laden.;2022-01-20 08:30:00;projekt;https://stein.example/laden/;https://stein.example/w/laden.jpg;laden;;;Theke und Regale;Innenraum;Buche|Laden;Stein Sauer;Basel;2021;publish;3;tstein;t@stein.example;laden;0;closed
        820;Kapelle;<p>Eine Kapelle aus Stampflehm, die nur durch ein Loch im Dach beleuchtet wird.</p><p>Vierzig Menschen haben Platz, die Bänke stehen im Kreis, und an der Nordwand sitzt der Eingang, der im Sommer offen bleibt.</p>;Lehm und Licht.;2023-06-02 12:00:00;projekt;https://stein.example/kapelle/;https://stein.example/w/kapelle.jpg;kapelle;Foto: Jan Ott;;Kapelle im Schnee;Kirche;Lehm;Stein Sauer mit Ida Rohr;Davos;2022;publish;3;tstein;t@stein.example;kapelle;0;closed
        821;Brücke am Bach;<p>Ein Steg aus zwei Stämmen und einem Geländer aus Stahl.</p><p>Er wurde an einem Tag gesetzt, und seither führt der Schulweg über ihn, was die Kinder des Dorfes jeden Tag eine Viertelstunde spart.</p>;Ein Steg.;2023-08-09 07:45:00;projekt;https://stein.example/bruecke/;https://stein.example/w/bruecke.jpg;bruecke;Foto: Jan Ott;;;Brücke;Holz|Stahl;Stein Sauer;Chur;um 2023;draft;2;usauer;u@stein.example;bruecke;0;closed",
        "ID = id
        Titel = name
        Inhalt = description
        Auszug = intro
        Datum = published
        Beitragstyp =
        Permalink = url
        Bild-URL = pictures
        Bildtitel =
        Bild-Alternativtext = pictures.alt
        Kategorien = category details.Kategorien
        Schlagwörter = taste.subject
        Architekt = studio
        Standort = city
        Baujahr = year details.Date
        Status =
        Autor-ID =
        Autor-Benutzername =
        Autor-E-Mail =
        Slug =
        Reihenfolge =
        Kommentarstatus =",
    );
}

#[test]
fn an_art_center() {
    compare(
        "art-center",
        "Object ID;Accession Number;Artist;Artist Nationality;Artist Born;Title;Creation Date;Object Type;Medium;Dimensions;Edition;Inscriptions;Credit;Copyright;Location;On View;Object Details URL;Image File;Image Credit;Last Modified
        5001;1948.21;Lena Fisk;American;1905;Blue Yard;1947;Paintings;oil on canvas;30 x 40 in.;;signed lower left;Gift of the T. B. Fund, 1948;© Estate of Lena Fisk;Gallery 3;Yes;https://center.example/objects/5001;1948.21.jpg;Photo: Gil Aron;2024-02-01
        5002;1961.4;Tomas Arvo;Estonian;1920;Stacked;1960-1961;Sculpture;steel, paint;70 x 20 x 20 in.;;;Purchased with a matching grant, 1961;© Tomas Arvo;Garden;Yes;https://center.example/objects/5002;1961.4.jpg;Photo: Gil Aron;2024-02-01
        5003;1988.310;Mi Sook;Korean;1949;Loop;1987;Video;video (color, sound);12 minutes;2/5;;Purchase, 1988;© Mi Sook;Storage B;No;https://center.example/objects/5003;1988.310.tif;;2024-02-01
        5004;1989.1;Mi Sook;Korean;1949;Loop (poster);c. 1988;Posters;offset lithograph;24 x 36 in.;100;;Purchase, 1989;© Mi Sook;Storage B;No;https://center.example/objects/5004;1989.1.jpg;Photo: Ana Wells;2024-02-03
        5005;2002.77;Ike Orr;American;1960;Highway, Dawn;1999, printed 2002;Photographs;chromogenic print;40 x 50 in.;3/8;signed on verso;T. B. Fund, 2002;© Ike Orr;Storage A;No;https://center.example/objects/5005;2002.77.jpg;Photo: Ana Wells;2024-02-03
        5006;2002.78;Ike Orr;American;1960;Highway, Noon;2000;Photographs;chromogenic print;40 x 50 in.;4/8;signed on verso;T. B. Fund, 2002;© Ike Orr;Storage A;No;https://center.example/objects/5006;2002.78.jpg;Photo: Ana Wells;2024-02-03
        5007;2010.5;Unknown;;;Stool;n.d.;Furniture;birch;18 in.;;;Gift of a friend, 2010;;Storage A;No;https://center.example/objects/5007;2010.5.jpg;;2024-02-05",
        "Object ID = id
        Accession Number = details.Accession number
        Artist = studio
        Artist Nationality =
        Artist Born =
        Title = name
        Creation Date = year details.Date
        Object Type = category details.Object Type
        Medium = taste.material
        Dimensions = details.Dimensions
        Edition = details.Edition
        Inscriptions = details.Inscriptions
        Credit = details.Credit line
        Copyright = details.Rights
        Location =
        On View =
        Object Details URL = url
        Image File = pictures
        Image Credit = pictures.credit details.Image Credit
        Last Modified =",
    );
}

#[test]
fn a_french_list_for_collective_access() {
    compare(
        "objets",
        "idno;Type d'objet;Titre principal;Autre titre;Créateur;Rôle du créateur;Datation;Lieu de production;Matériaux;Mesures;Description physique;Mention de crédit;Droits;Sujets;Emplacement actuel;État de conservation;Fichier média;Créé par;Modifié le;Valeur
        MA.2011.0001;affiche;Salon des arts ménagers;;Delorme, Yvette;graphiste;1953;Lyon;lithographie sur papier;120 x 80 cm;Une femme ouvre un four rouge devant un mur jaune, le titre court en diagonale sur toute la largeur.;Don famille Delorme, 2011;© Delorme;four|cuisine;Réserve 2;bon;ma_2011_0001.jpg;admin;2020-01-02;300
        MA.2011.0002;affiche;Foire de printemps;Printemps;Delorme, Yvette;graphiste;vers 1955;Lyon;lithographie sur papier;120 x 80 cm;Trois fleurs noires sur fond blanc, chacune portant une lettre du nom de la ville, sans autre ornement.;Don famille Delorme, 2011;© Delorme;fleurs;Réserve 2;bon;ma_2011_0002.jpg;admin;2020-01-02;300
        MA.2012.0007;chaise;Chaise pliante;;Atelier Perret;fabricant;[1960];Saint-Étienne;acier|toile;H. 80 cm;Un siège de toile bleue tendue entre deux tubes d'acier peint, qui se replie en une seule fois vers l'avant.;Achat, 2012;;siège;Réserve 1;moyen;ma_2012_0007.jpg;clara;2021-05-06;150
        MA.2012.0008;lampe;Lampe d'atelier;;Atelier Perret;fabricant;1960-1970;Saint-Étienne;acier;H. 40 cm;Un bras articulé en deux parties porte un abat-jour émaillé vert dont l'intérieur est resté blanc.;Achat, 2012;;lumière;Réserve 1;bon;ma_2012_0008.jpg;clara;2021-05-06;90
        MA.2015.0003;photographie;Quai sous la neige;;Roche, Paul;photographe;1962;Lyon;tirage argentique;30 x 24 cm;Le quai est vide, un chien traverse, et la rive opposée disparaît dans la brume au-dessus de l'eau.;Don de l'auteur, 2015;© Paul Roche;neige|quai;Réserve 3;bon;ma_2015_0003.jpg;clara;2021-05-07;200
        MA.2015.0004;photographie;Quai en été;;Roche, Paul;photographe;s.d.;Lyon;tirage argentique;30 x 24 cm;Des enfants plongent depuis l'escalier tandis qu'un homme lit son journal, assis sur une bitte d'amarrage.;Don de l'auteur, 2015;© Paul Roche;été|quai;Réserve 3;bon;ma_2015_0004.jpg;clara;2021-05-07;200",
        "idno = id
        Type d'objet = category details.Type d'objet
        Titre principal = name
        Créateur = studio
        Rôle du créateur =
        Datation = year details.Date
        Lieu de production = city
        Matériaux = taste.material
        Mesures = details.Dimensions
        Description physique = description
        Mention de crédit = details.Credit line
        Droits = details.Rights
        Sujets = taste.subject
        Emplacement actuel =
        Fichier média = pictures
        Créé par =
        Modifié le =
        Valeur =",
    );
}

#[test]
fn a_list_with_places_in_titles() {
    compare(
        "raw-projects",
        "project_id;title;architects;location;year;area;publication_date;category;photographs;manufacturers;url
        1001234;Split House / Tal Oren Studio ;Tal Oren Studio ;Haifa, Israel ;2018;240 m²;2019-02-11;Houses;Ana Silva ;Velux, Hansgrohe;https://daily.example/1001234/split-house
        1001235;Market Hall / Noma Works;Noma Works;Lagos, Nigeria;2020;3100 m²;2021-05-20;Market;Femi Ade;Saint-Gobain;https://daily.example/1001235/market-hall
        1001236;Reading Room / Atelier Kiri ;Atelier Kiri;Kyoto, Japan;2017;80 m²;2018-09-01;Library;;;https://daily.example/1001236/reading-room
        1001237;Row of Nine / Tal Oren Studio;Tal Oren Studio;Tel Aviv, Israel;2021;1900 m²;2022-01-15;Apartments;Ana Silva;Velux;https://daily.example/1001237/row-of-nine
        1001238;School in Rufisque / Noma Works;Noma Works;Rufisque, Senegal;;900 m²;2022-03-30;Schools;Femi Ade;;https://daily.example/1001238/school",
        "project_id = id
        title = name
        architects = studio
        location = city
        year = year details.Date
        area = details.Area
        publication_date = published
        category = category details.Category
        url = url",
    );
}

#[test]
fn watercolours_with_subjects() {
    let text = "index;authors;date_created;fruit;image;subjects;year;specimen;artist_notes
        0;Schell, Ida May, 1873-1955;1911;apple;POM00000001.png;apples , red;1911;50001;
        0;Schell, Ida May, 1873-1955;1912-03-02;pear;POM00000002.png;pears , yellow;1912;50002;
        0;Newall, Amanda, 1870-1943;ca. 1905;apple;POM00000003.png;apples , green;1905;50003;
        0;Newall, Amanda, 1870-1943;undated;fig;POM00000004.png;figs;;50004;
        0;Newall, Amanda, 1870-1943;1906;plum;POM00000005.png;plums;1906;50005;";
    let (headings, records) = table("watercolours", text);
    let suggestion = suggestion("watercolours.csv", &headings, &records);
    // A name is not guessed: the fruit is not a title.
    assert_eq!(suggestion.missing.len(), 2, "{:?}", suggestion.missing);
    for line in [
        "year = \"date_created\"",
        "source = \"image\"",
        "\"taste.subject\" = \"subjects\"",
        "Fruit = \"fruit\"",
    ] {
        assert!(suggestion.toml.contains(line), "{line}\n{}", suggestion.toml);
    }
    assert!(!suggestion.toml.contains("\nid = "), "{}", suggestion.toml);
}

#[test]
fn an_italian_catalogue() {
    compare(
        "catalogo",
        "ID scheda;Numero inventario;Titolo dell'opera;Autore;Ruolo;Datazione;Anno da;Anno a;Tecnica;Dimensioni;Tipo di opera;Luogo di esecuzione;Collocazione;Provenienza;Modalità di acquisizione;Anno di acquisizione;Descrizione;Parole chiave;URL immagine;Didascalia;Fotografo;URL scheda;Ultima modifica
        1;INV 0012;Barche al molo;Ferri, Lucia;pittore;1890 circa;1885;1895;olio su tela;40 x 60 cm;dipinto;Genova;Sala 3;eredi Ferri;dono;1950;Tre barche legate al molo nella luce della sera.;mare|barche;https://museo.example/i/1.jpg;Veduta d'insieme;Studio Luce;https://museo.example/schede/1;2020-01-01
        2;INV 0013;Ritratto della madre;Ferri, Lucia;pittore;1892;1892;1892;olio su tela;50 x 40 cm;dipinto;Genova;Deposito;eredi Ferri;dono;1950;La madre seduta davanti alla finestra aperta.;ritratto;https://museo.example/i/2.jpg;;Studio Luce;https://museo.example/schede/2;2020-01-01
        3;INV 0101;Sedia da giardino;Manifattura Colli;produttore;1930-1935;1930;1935;ferro;90 x 40 cm;arredo;Torino;Deposito;;acquisto;1981;Una sedia leggera in ferro verniciato di bianco.;giardino;https://museo.example/i/3.jpg;;P. Riva;https://museo.example/schede/3;2020-02-01
        4;INV 0102;Studio di nuvole;Anonimo;;s.d.;;;acquerello;20 x 30 cm;disegno;;Sala 1;;acquisto;1982;Nuvole bianche sopra una linea di colline scure.;cielo;https://museo.example/i/4.jpg;;P. Riva;https://museo.example/schede/4;2020-02-01
        5;INV 0200;Via del porto;Sassi, Aldo;fotografo;1955;1955;1955;stampa ai sali d'argento;18 x 24 cm;fotografia;Genova;Deposito;;dono;2001;La via del porto al mattino con due carri.;città;https://museo.example/i/5.jpg;;;https://museo.example/schede/5;2020-02-01",
        "ID scheda = id
        Numero inventario = details.Accession number
        Titolo dell'opera = name
        Autore = studio
        Ruolo =
        Datazione = year details.Date
        Anno da =
        Anno a =
        Tecnica = taste.material
        Dimensioni = details.Dimensions
        Tipo di opera = category details.Tipo di opera
        Luogo di esecuzione = city
        Collocazione =
        Provenienza = details.Provenienza
        Anno di acquisizione = provenance.in_archive_since
        Descrizione = description
        Parole chiave = taste.subject
        URL immagine = pictures
        Didascalia = pictures.alt
        Fotografo = pictures.credit details.Fotografo
        URL scheda = url
        Ultima modifica =",
    );
}
