//! What columns of museums and studios are about, and their usual names in English, German, French, Italian, Spanish and Dutch.

/// What a column is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Concept {
    /// The key of a record.
    Id,
    /// A number that the institution gave.
    Accession,
    Title,
    /// What kind of object it is, which stands for a title where there is none.
    ObjectName,
    Maker,
    /// What stands before the name of a maker, such as “after”.
    Qualifier,
    /// When it was made.
    Date,
    /// When it was acquired.
    Acquired,
    /// When its text was published.
    Published,
    /// When it was chosen or entered.
    Selected,
    City,
    /// A country or a part of one.
    Country,
    Category,
    Department,
    Material,
    Dimensions,
    CreditLine,
    Rights,
    Description,
    Intro,
    Picture,
    PictureText,
    Photographer,
    Url,
    Subject,
    /// A text that is kept as a detail with its own heading.
    Detail,
    /// A part of a person's life, a maker's number or address.
    AboutMaker,
    /// The first or last year of a range.
    Range,
    /// Another place than that where it was made.
    OtherPlace,
    /// A width, a weight.
    Measure,
    /// A key of another record.
    OtherKey,
    /// Remarks of those who keep the records.
    Notes,
    /// What may be internal or personal.
    Private,
    /// How a system keeps it.
    Technical,
}

/// Names of a concept.
pub(crate) struct Names {
    pub(crate) concept: Concept,
    /// Phrases without accents and articles, separated by semicolons.
    pub(crate) phrases: &'static str,
    /// Words that exclude it.
    pub(crate) against: &'static str,
}

const fn names(concept: Concept, phrases: &'static str, against: &'static str) -> Names {
    Names { concept, phrases, against }
}

/// Words for people who make something; a column with one of them and something about a person is about the maker.
pub(crate) const MAKERS: &[&str] = &[
    "artist",
    "artists",
    "maker",
    "makers",
    "creator",
    "creators",
    "author",
    "authors",
    "architect",
    "architects",
    "designer",
    "designers",
    "participants",
    "people",
    "person",
    "persons",
    "constituent",
    "constituents",
    "artista",
    "artisti",
    "artistas",
    "artiste",
    "artistes",
    "auteur",
    "auteurs",
    "autor",
    "autore",
    "autori",
    "autores",
    "kunstler",
    "kunstlerin",
    "kunstenaar",
    "kunstenaars",
    "urheber",
    "urheberin",
    "architekt",
    "architektin",
    "architekten",
    "architecte",
    "architectes",
    "architetto",
    "architetti",
    "arquitecto",
    "arquitectos",
    "maler",
    "createur",
    "createurs",
    "creatore",
    "creatori",
    "creador",
    "creadores",
    "kunstner",
    "kunstnere",
    "konstnar",
    "ontwerper",
    "ontwerpers",
    "contributor",
    "contributors",
    "agent",
    "agents",
    "vervaardiger",
    "ulan",
    "hersteller",
];

/// Words for what is said about a person.
pub(crate) const ABOUT_MAKERS: &[&str] = &[
    "bio",
    "biography",
    "biographie",
    "biografie",
    "biografia",
    "nationality",
    "nationalitat",
    "nationalite",
    "nazionalita",
    "nacionalidad",
    "nationaliteit",
    "gender",
    "birth",
    "birthplace",
    "death",
    "born",
    "died",
    "begin",
    "start",
    "end",
    "suffix",
    "sort",
    "ulan",
    "wikidata",
    "id",
    "ids",
    "url",
    "uri",
    "role",
    "type",
    "date",
    "dates",
    "year",
    "email",
    "geburtsjahr",
    "todesjahr",
    "lebensdaten",
    "geschlecht",
    "naissance",
    "mort",
    "nascita",
    "morte",
    "nacimiento",
    "muerte",
    "geboorte",
    "dood",
    "culture",
    "extent",
    "language",
    "username",
    "benutzername",
    "utilisateur",
    "usuario",
    "utente",
    "gebruikersnaam",
    "mail",
    "login",
    "avatar",
    "user",
    "number",
    "link",
    "website",
    "gnd",
    "viaf",
    "nr",
    "vita",
    "portrait",
    "birthdate",
    "deathdate",
    "birthyear",
    "deathyear",
    "country",
    "city",
    "order",
    "alpha",
    "nickname",
    "resource",
    "telephone",
];

/// The names of all concepts.
pub(crate) const NAMES: &[Names] = {
    use Concept::*;
    &[
        names(
            Id,
            "id;idno;object id;number;no;nr;num;numero;nummer;record id;item id;project id;project no;project nr;project number;work id;\
             work no;projektnummer;projekt nr;signatur;kennung;identifiant;identificativo;codice;clave;codigo;code;key;uuid;guid;\
             lfd nr;objektnummer;objekt nr;objekt id;ref;system number;o id;bestellnummer;bildnummer;archivnummer;id opera;\
             id oeuvre;id obra;werk id;image number;foto nr;photo no;laufnummer",
            "media page gallery owner user parent thumbnail item_set department template set period tms series collection exhibition \
             class location room floor loan phone postal zip type page",
        ),
        names(
            Accession,
            "accession number;accession no;accession;inventory number;inventory;inventory no;inv;inv no;inv nr;object number;object no;\
             reference number;main reference number;identifier;inventarnummer;inventarnr;inventar nr;inventar;inventaire;\
             numero inventaire;no inventaire;n inventaire;inventario;numero inventario;n inventario;inventarisnummer;inventaris nr;\
             objectnummer;catalogue number;catalog number;cote;segnatura;signatura;call number;shelfmark;collection number;\
             zugangsnummer;numero inv;inv number;accession num;num inv;numero registro",
            "media date year",
        ),
        names(
            Title,
            "title;titel;titre;titolo;titulo;name;object title;project;project name;projekt;projet;progetto;proyecto;werk;opera;oeuvre;\
             obra;work;work title;bezeichnung;werktitel;bildtitel;nom;nome;nombre;naam;projektname;projekttitel;title raw;\
             main title;preferred title;naam project;nombre proyecto;nome progetto;nom projet;intitule;denominazione;benaming;\
             titels;titles;long title;projectnaam;designation;bauvorhaben;objekt;title display;entry title",
            "file user place series department type alt alternate image portfolio subject theme style classification material original \
             term category medium date group exhibition collection project_type status id url number no nr page qualifier client \
             datei technique period period_title gallery job language former previous",
        ),
        names(
            ObjectName,
            "object name;object names;objektbezeichnung;objektname;object type;objektart;denomination;denominacion;objectnaam;\
             sachgruppe",
            "id url",
        ),
        names(
            Maker,
            "artist;artists;maker;makers;creator;creators;author;authors;architect;architects;designer;designers;studio;attribution;\
             kunstler;kunstlerin;architekt;architektin;architekten;urheber;urheberin;entwurf;entwerfer;gestalter;buro;planer;\
             artiste;artistes;auteur;auteurs;architecte;architectes;createur;agence;artista;artisti;artistas;autore;autori;autor;\
             autores;architetto;architetti;arquitecto;arquitectos;progettista;progettisti;disenador;estudio;despacho;kunstenaar;\
             kunstenaars;ontwerper;architectenbureau;bureau;vervaardiger;maler;fotograf;fotografin;fotografo;fotograaf;photographe;\
             principal or first maker;people display name;people name;person name;participants person name;artist display name;\
             artist titles;artist title;hersteller;verfasser;dc creator;team;firm;office;practice;full name;cited name;studio team;\
             production creator;kunstner;autorin;scultore;pittore;office name;architekturburo",
            "id bio gender nationality birth death role copyright statement rights photo",
        ),
        names(
            Qualifier,
            "artist prefix;prefix;qualifier;attribution qualifier;creators qualifier;people prefix;artist role;creator role;role;ruolo;rol;rolle;\
             zuschreibung",
            "date gallery id title",
        ),
        names(
            Date,
            "date;dated;date display;display date;date text;object date;creation date;created;completed;completion;completion year;\
             year;year completed;year built;built;jahr;baujahr;datum;datierung;datiert;fertigstellung;fertigstellungsjahr;\
             entstehungszeit;entstehungsjahr;entstehungsdatum;herstellungsjahr;aufnahmedatum;aufnahmejahr;aufgenommen;annee;\
             date creation;datation;date realisation;annee realisation;livraison;epoque;millesime;anno;data;datazione;data creazione;\
             anno realizzazione;realizzazione;cronologia;ano;fecha;fecha creacion;datacion;ano construccion;ano finalizacion;jaar;\
             datering;bouwjaar;jaartal;jaar oplevering;oplevering;date made;date created;production date;production date period;\
             production dates notes;year made;work date;year text;date work;vervaardigingsdatum;entstehung;finished;zeit;dates",
            "acquired acquisition updated update modified birth death begin end start earliest latest accession published publication \
             publish metadata qualifier added upload uploaded entered catalogued exhibition sale import loan copyright artist erwerb \
             erwerbung ankauf zugang post geburt naissance acquisizione adquisicion verwerving raw id deadline purchase edited changed \
             change saved synced imported digitized digitised scanned geandert anderung gewijzigd modifie modification modificato \
             modificado modifica aggiornato aggiornamento actualizado actualizacion mise saisie inserimento erfasst erfassung",
        ),
        names(
            Acquired,
            "acquired;year acquired;date acquired;acquisition year;acquisition date;accession year;accession date;acquisition;erwerb;\
             erwerbungsjahr;erworben;erwerbsdatum;ankauf;ankaufsjahr;zugang;zugangsjahr;zugangsdatum;eingangsjahr;date acquisition;\
             annee acquisition;entree;data acquisizione;anno acquisizione;acquisizione;fecha adquisicion;adquisicion;\
             ano adquisicion;ano ingreso;fecha ingreso;verwerving;verwervingsjaar;verworven;aankoop;accessioned;purchase date;\
             year purchased",
            "method price source method type credit number id von from",
        ),
        names(
            Published,
            "published;date;datum;fecha;data;publish date;publication date;published at;date published;post date;veroffentlicht;veroffentlichung;\
             publie;date publication;pubblicato;data pubblicazione;publicado;fecha publicacion;gepubliceerd;publicatiedatum;pub date",
            "place by publisher",
        ),
        names(
            Selected,
            "created;selected;date added;added;created time;erstellt;created at;ausgewahlt;aufgenommen am",
            "by",
        ),
        names(
            City,
            "city;luogo esecuzione;luogo produzione;luogo realizzazione;lugar produccion;lugar ejecucion;lieu execution;\
             plaats vervaardiging;place;location;origin;place origin;ort;lieu;ville;citta;luogo;ciudad;lugar;stad;plaats;standort;stadt;spatial;\
             entstehungsort;herstellungsort;aufnahmeort;lieu creation;lieu production;place made;production place;production places;\
             localisation;localita;localidad;ubicacion;locatie;places display name;site;emplacement;town;bauort;comune;commune;\
             municipality;luogo creazione;place creation;geography;vervaardigingsplaats;provenienza;herkunft;lugar creacion",
            "gallery room floor birth death current physical storage view type id number shelf artist photo geburt lager depot raum salle \
             discovery find excavation published publication url bin museum \
             actuel actuelle aktuell aktueller attuale actual huidige wing saal zaal stockwerk etage vitrine cabinet rack stanza drawer",
        ),
        names(
            Country,
            "country;herkunftsland;land;pays;paese;pais;nation;state;bundesland;stato;estado",
            "birth artist code id modified phone work url sky",
        ),
        names(
            Category,
            "classification;type;kind;sector;category;categories;kategorien;rubrik;object type;artwork type;artwork type title;work type;gattung;kategorie;art;\
             typ;typologie;klassifikation;objektart;objekttyp;sparte;bereich;bauaufgabe;genre;categorie;domaine;discipline;\
             classification title;categoria;tipo;tipologia;clase;clasificacion;classificazione;settore;ambito;disciplina;soort;\
             objecttype;rubriek;classificatie;nutzung;medienart;dokumenttyp;project type;building type;program;programme;object name;\
             object names name;sachgruppe;objektbezeichnung;denomination;object category;materialart;werkart;funktion",
            "id date acquisition geography credit rights media mime file post picture dimension status type_id title_type resource url",
        ),
        names(
            Department,
            "department;responsible department;department title;abteilung;sammlung;departement;collection;dipartimento;collezione;departamento;coleccion;afdeling;\
             collectie;sammlungsbereich;bestand;division",
            "id abbr current date number",
        ),
        names(
            Material,
            "medium;material;materials;technique;technik;materials technique;material technik;materialien;materiau;materiaux;techniques;\
             tecnica;tecnica materiali;materiali;materiale;materiales;materia;materiaal;techniek;materialen;medium display;\
             matiere;support;mediums;materiau technique;techniques name;media;werkstoff;baustoff;matieres;materia e tecnica;\
             material y tecnica;supporto;soporte",
            "type id class url image social mime files",
        ),
        names(
            Dimensions,
            "dimensions;dimension;measurements;masse;abmessungen;grosse;format;mesures;dimensioni;misure;dimensiones;medidas;afmetingen;\
             formaat;size;mass;formato;maten;hohe x breite;massangabe",
            "image file raw detail details unit",
        ),
        names(
            CreditLine,
            "credit line;credit;creditline;erwerbungsvermerk;provenienzangabe;mention;linea credito;linea di credito;credits;\
             kreditzeile;crediti;creditos;credito;mode acquisition;modo acquisizione;erwerbungsart;verwervingswijze;zugangsart",
            "photo image picture foto number card",
        ),
        names(
            Rights,
            "rights;copyright;license;licence;copyright notice;rights reproduction;share license status;thumbnail copyright;rechte;lizenz;\
             urheberrecht;nutzungsrechte;droits;licenza;diritti;derechos;licencia;rechten;licentie;edm rights;rights holder;\
             rechteinhaber;rechtestatus;copyrightvermerk;image rights",
            "public domain known has",
        ),
        names(
            Description,
            "description;text;notes public;beschreibung;beschrieb;erlauterung;descriptif;descrizione;testo;descripcion;texto;beschrijving;\
             tekst;wall description;digital description;label text;gallery text;content;commentaire;object description;inhalt;\
             long description;bildbeschreibung;texte;body;toelichting;projektbeschreibung;abstract",
            "id provenance provenienz exhibition bibliography meta rights image type short condition",
        ),
        names(
            Intro,
            "intro;auszug;extrait;estratto;uittreksel;summary;short text;short description;excerpt;teaser;kurztext;kurzbeschreibung;zusammenfassung;resume;chapeau;\
             introduction;riassunto;sommario;resumen;entradilla;samenvatting;lead;sintesi;tagline;subtitle;untertitel;extracto;\
             accroche;fun fact;korte beschrijving;descrizione breve",
            "id image",
        ),
        names(
            Picture,
            "image;images;photo;photos;picture;pictures;thumbnail;bild;bilder;cover;foto;fotos;image url;images url;primary image url;\
             thumbnail url;image file;bilddatei;abbildung;dateiname;filename;file name;file;visuel;photographie;immagine;immagini;\
             fichier;imagen;imagenes;afbeelding;afbeeldingen;bestand;bestandsnaam;media url;image id;titelbild;illustration;visuels;\
             web image url;images web url;edm is shown by;image link;picture file;beeld;datei;edmIsShownBy;iiif url;is shown by;\
             featured image;image thumbnail;large image url;hero",
            "alt caption copyright rights license credit title text by photographer width height description status count size \
             has number filesize orientation date",
        ),
        names(
            PictureText,
            "alt;alt text;alternative text;texte alternatif;testo alternativo;texto alternativo;bild alternativtext;image alt text;thumbnail alt text;image caption;caption;bildunterschrift;alternativtext;legende;didascalia;\
             bildlegende;bijschrift;pie foto;assistive text;image alt;alt tekst",
            "titles ids",
        ),
        names(
            Photographer,
            "photographer;photo by;photo credit;photo credits;image credit;image credits;bildnachweis;fotonachweis;credit photo;\
             credits photo;fotografo;fotograaf;fotograf;photographe;credito fotografico;crediti fotografici;foto credit;bildquelle;\
             fotocredit;picture credit;aufnahme;courtesy;courtesy line;credit;credit line;credits;crediti;creditos;kreditzeile;\
             credit photographique;credits photographiques;creditos fotograficos",
            "id",
        ),
        names(
            Url,
            "url;link;permalink;page;uri;web url;frontend url;website;webseite;link resource;object url;source uri;webpage;lien;\
             collegamento;enlace;sito;pagina web;detailseite;web;adresse web;url object;url notice;homepage;guid;rechtlink;page url;\
             is shown at;sitio web;scheda web;project url;source;detail url;online",
            "image thumbnail picture photo wikidata ulan aat api media video rights license artist bild foto manifest iiif tags cover",
        ),
        names(
            Subject,
            "subject;subjects;tags;tag;keywords;keyword;subject titles;schlagworte;schlagworter;stichworter;schlagwort;stichworte;themen;thema;motiv;mots cles;\
             sujet;sujets;themes;soggetto;soggetti;parole chiave;temi;tema;temas;materias;palabras clave;etiquetas;trefwoorden;\
             onderwerp;onderwerpen;iconographie;depicts;iconografia;etiquettes;theme",
            "id ids url uri aat wikidata date",
        ),
        names(
            Detail,
            "culture;period;inscription;inscriptions;inschrift;signature;provenance;provenienz;edition;status;client;bauherr;bauherrschaft;\
             auftraggeber;maitre ouvrage;committente;cliente;opdrachtgever;area;size m2;flache;surface;superficie;oppervlakte;format;\
             series;serie;portfolio;style;stil;iscrizione;inscripcion;opschrift;kultur;epoche;stand;century;jahrhundert;siecle;secolo;\
             siglo;eeuw;scale;massstab;echelle;scala;volume;award;awards;literature;literatur;bibliography;finished on;periode;\
             period name;etat;brand;collaborators;mitarbeit;gross floor area;area m2;m2;fruit;species;genus;language",
            "id url uri aat wikidata date gallery index",
        ),
        names(
            AboutMaker,
            "nationality;gender;birth;birth date;birth year;death date;death year;birth place;artist bio;geburtsjahr;todesjahr;\
             lebensdaten;geschlecht;geburtsort;sexe;genere;sesso;genero;geslacht;nationalite;nazionalita;nacionalidad;nationalitat;\
             geburtsdatum;sterbedatum;geboortejaar;sterfjaar;naissance;lieu naissance;date naissance;data nascita;luogo nascita;\
             fecha nacimiento;role;ruolo;rol;rolle;attribution inverted;alpha sort;begin date;end date;roles;born;died;anno nascita;biographie",
            "object creation production",
        ),
        names(
            Range,
            "date start;date end;date begin;date earliest;date latest;object begin date;object end date;begin year;end year;year start;\
             year end;creation date earliest;creation date latest;decade;start year;jahr von;jahr bis;datierung von;datierung bis;\
             annee debut;annee fin;date debut;date fin;earliest;latest;anno inizio;anno fine;date start year;production date start;\
             production date end;von;bis;da;fecha inicio;fecha fin;datum van;datum tot;date qualifier;date qualifier title;jahr ende;\
             jahr beginn;edm timespan label;year begin;begin jahr;eind jahr;datierung beginn;datierung ende",
            "publish",
        ),
        names(
            OtherPlace,
            "gallery;gallery number;room;room number;saal;zaal;wing;vitrine;floor;on view;current location;geography type;county;region;subregion;locale;locus;excavation;\
             river;storage location;lagerort;raum;depot;find spot;findspot;fundort;repository;museum;institution;data provider;\
             address;strasse;street;adresse;indirizzo;direccion;adres;plz;zip;latitude;longitude;lat;lng;lon;breitengrad;langengrad;\
             coordinates;magazzino;reserve;standplaats;salle;sala;wohnort;lieu decouverte;standort depot;lieu conservation;kanton;\
             province;district;bezirk;continent;physical location;emplacement actuel;localisation actuelle;aktueller standort;\
             ubicazione attuale;ubicacion actual;huidige locatie;collocazione;current location name;placering",
            "",
        ),
        names(
            Measure,
            "width;height;depth;weight;length;diameter;circumference;duration;units;unit;breite;hohe;tiefe;lange;durchmesser;gewicht;\
             largeur;hauteur;profondeur;poids;longueur;diametre;larghezza;altezza;profondita;peso;lunghezza;ancho;alto;alto cm;altura;\
             anchura;profundidad;breedte;hoogte;diepte;lengte;item width;item height;item depth;item diameter;largo;spessore;\
             dimensions raw;dimensions detail;filesize;epaisseur;resolution",
            "",
        ),
        names(
            Notes,
            "notes;note;internal;internal notes;remarks;remark;comments;comment;bemerkung;bemerkungen;notiz;notizen;anmerkung;anmerkungen;\
             kommentar;interne notiz;remarque;remarques;notes internes;annotations;osservazioni;annotazioni;observaciones;notas;\
             opmerking;opmerkingen;todo;intern",
            "public dates",
        ),
        names(
            Private,
            "price;insurance;insurance value;valuation;value;donor;donor name;email;e mail;mail;phone;telephone;telefon;storage;storage place;\
             preis;versicherungswert;versicherung;schatzwert;spender;schenker;lager;prix;valeur assurance;assurance;donateur;prezzo;\
             valore;valore assicurativo;assicurazione;donatore;precio;valor;valor seguro;seguro;donante;prijs;verzekering;\
             verzekerde waarde;schenker naam;telefoon;kaufpreis;budget;cost;costs;kosten;baukosten;contact;kontakt;condition;zustand;\
             vendor;seller;owner;eigentumer;besitzer;proprietaire;proprietario;propietario;eigenaar;lender;leihgeber;ankaufspreis;\
             marktwert;fee;honorar;honoraires;salary;private",
            "",
        ),
        names(
            Technical,
            "updated at;updated;modified;last modified;metadata date;api model;api link;timestamp;score;rank;boost rank;stat;slug;lqip;\
             template;language code;mime type;post type;item type;class;resource class;resource template;owner id;media id;media;\
             primary media;item set;is public;is boosted;is highlight;is loan object;public domain;aat;wikidata;ulan;version;checksum;\
             hash;sort order;order;count;page views;views;index;row;revision;created by;modified by;cree par;modifie par;erstellt von;geandert von;creado por;aangemaakt door;erfasst von;erfasst am;\
             zuletzt geandert;geandert am;gewijzigd;modifie;modificato;modificado;author username;author email;parent;comment status;\
             iiif id;image iiif id;verification level;verification level description;total page views;last update;lastupdate;\
             cataloged;catalogued;entry date;date entered;record created;date changed;last edited;last change;date edited;letzte anderung;\
             derniere modification;mise a jour;date mise a jour;ultima modifica;ultimo aggiornamento;ultima modificacion;ultima actualizacion;date uploaded;\
             upload date;scan date;date saisie;data inserimento;on view;onview;aenderungsdatum;date modified;image width;image height;related;tombstone",
            "",
        ),
    ]
};
