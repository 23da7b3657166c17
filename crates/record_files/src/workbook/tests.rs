//! Workbooks are written by the tests: a ZIP archive of a few parts of XML.

use std::io::Write;
use std::path::Path;

use zip::write::SimpleFileOptions;

use super::*;

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Styles: 0 none, 1 a day, 2 a month, 3 a year, 4 three digits.
const STYLES: &str = r#"<numFmts count="4"><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/><numFmt numFmtId="165" formatCode="mmm yyyy"/><numFmt numFmtId="166" formatCode="yyyy"/><numFmt numFmtId="167" formatCode="000"/></numFmts><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs>"#;

/// Returns a cell with a text in it.
pub(crate) fn text_cell(name: &str, text: &str) -> String {
    format!(r#"<c r="{name}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

/// Returns a row of texts from column A on; empty texts are no cells.
pub(crate) fn text_row(number: u32, texts: &[&str]) -> String {
    let cells = texts.iter().enumerate().filter(|(_, text)| !text.is_empty());
    let cells: String = cells
        .map(|(column, text)| text_cell(&format!("{}{number}", crate::place::column_letters(column)), text))
        .collect();
    format!(r#"<row r="{number}">{cells}</row>"#)
}

/// Writes a workbook of sheets, each a name, a state and its rows, and of other parts.
pub(crate) fn write_workbook(path: &Path, sheets: &[(&str, &str, &str)], parts: &[(&str, &str)]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    let mut part = |name: &str, text: &str| {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    };
    let (mut list, mut relations) = (String::new(), String::new());
    for (index, (name, state, rows)) in (1..).zip(sheets) {
        list += &format!(r#"<sheet name="{name}" sheetId="{index}" state="{state}" r:id="rId{index}"/>"#);
        relations += &format!(
            r#"<Relationship Id="rId{index}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{index}.xml"/>"#
        );
        let sheet = format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
        part(&format!("xl/worksheets/sheet{index}.xml"), &sheet);
    }
    let package = "http://schemas.openxmlformats.org/package/2006";
    part("[Content_Types].xml", &format!(r#"<Types xmlns="{package}/content-types"/>"#));
    let root =
        format!(r#"<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>"#);
    part("_rels/.rels", &format!(r#"<Relationships xmlns="{package}/relationships">{root}</Relationships>"#));
    part(
        "xl/_rels/workbook.xml.rels",
        &format!(r#"<Relationships xmlns="{package}/relationships">{relations}</Relationships>"#),
    );
    part(
        "xl/workbook.xml",
        &format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{list}</sheets></workbook>"#),
    );
    part("xl/styles.xml", &format!(r#"<styleSheet xmlns="{MAIN}">{STYLES}</styleSheet>"#));
    for (name, text) in parts {
        part(name, text);
    }
    archive.finish().unwrap();
}

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("works.xlsx")
    }

    fn open(&self, options: WorkbookOptions) -> Result<Sheet, WorkbookFault> {
        Sheet::open(File::open(self.path()).unwrap(), options)
    }

    /// Writes a workbook of visible sheets and opens it.
    fn written(&self, sheets: &[(&str, &str)], options: WorkbookOptions) -> Result<Sheet, WorkbookFault> {
        let sheets: Vec<_> = sheets.iter().map(|(name, rows)| (*name, "visible", *rows)).collect();
        write_workbook(&self.path(), &sheets, &[]);
        self.open(options)
    }
}

/// Returns each row with its number: its cells with bars between them, or what is wrong with it.
fn rows(sheet: Sheet) -> Vec<String> {
    let row = |row: Result<NumberedRow, WorkbookFault>| match row {
        Ok((number, Ok(cells))) => format!("{number} {}", cells.join("|")),
        Ok((number, Err(refusal))) => format!("{number} {}", refusal.reason),
        Err(fault) => fault.to_string(),
    };
    sheet.map(row).collect()
}

fn number(name: &str, style: u32, value: &str) -> String {
    format!(r#"<c r="{name}" s="{style}"><v>{value}</v></c>"#)
}

#[test]
fn headings_are_found_below_a_title_and_cells_are_texts() {
    let fixture = Fixture::new();
    let row = |number: u32, cells: &[String]| format!(r#"<row r="{number}">{}</row>"#, cells.concat());
    let works = [
        text_row(1, &["Works list 2026 (internal)"]),
        text_row(3, &["No.", "Title", "Finished", "Year", "Size", "", "Sold"]),
        row(
            4,
            &[
                number("A4", 4, "7"),
                text_cell("B4", " Boat\n house "),
                number("C4", 1, "41153"),
                number("D4", 3, "41153"),
                number("E4", 0, "71.5"),
                r#"<c r="G4" t="b"><v>1</v></c>"#.into(),
            ],
        ),
        text_row(5, &["", " "]),
        row(
            6,
            &[
                r#"<c r="A6"><f>A4+1</f><v>8</v></c>"#.into(),
                r#"<c r="B6" t="str"><f>T(1)</f><v></v></c>"#.into(),
                number("C6", 2, "41153"),
                r#"<c r="D6" t="e"><v>#N/A</v></c>"#.into(),
            ],
        ),
        text_row(9, &["9", "Kiosk", "", "", "", "", "", " "]),
    ];
    let readme = [text_row(1, &["Studio"]), text_row(2, &["Author", "Ann"]), text_row(3, &["Of", "2026"])];
    let hidden = works.concat();
    write_workbook(
        &fixture.path(),
        &[
            ("Old", "hidden", &hidden),
            ("Read me", "visible", &readme.concat()),
            ("Works", "visible", &hidden),
        ],
        &[],
    );
    let sheet = fixture.open(WorkbookOptions::default()).unwrap();
    assert_eq!(sheet.headings, ["No.", "Title", "Finished", "Year", "Size", "", "Sold"]);
    let note = "works.xlsx has the sheets “Read me” and “Works”; the headings were found on “Works”, row 3.";
    assert_eq!(sheet.note("works.xlsx").as_deref(), Some(note));
    assert_eq!(
        rows(sheet),
        ["4 007|Boat\n house|2012-09-01|2012|71.5||TRUE", "6 8||September 2012|#N/A|||", "9 9|Kiosk|||||"]
    );
}

#[test]
fn what_a_row_cannot_give_is_named_by_its_cell() {
    let fixture = Fixture::new();
    let sheet = [
        text_row(1, &["No.", "Title"]),
        r#"<row r="2"><c r="A2"><f>1+1</f></c><c r="B2" t="str"><f>A2</f><v>x</v></c></row>"#.to_owned(),
        r##"<row r="3"><c r="A3"><v>1</v></c><c r="B3" t="e"><f>A1/0</f><v>#DIV/0!</v></c></row>"##
            .to_owned(),
        text_row(4, &["4", "D", "", "beyond"]),
        text_row(5, &["5", &"x".repeat(crate::MAX_RECORD_BYTES)]),
        text_row(6, &["6", "F"]),
    ];
    let sheet = fixture.written(&[("Works", &sheet.concat())], WorkbookOptions::default()).unwrap();
    assert_eq!(sheet.note("works.xlsx"), None);
    assert_eq!(
        rows(sheet),
        [
            "2 has a formula without a stored value in Works!A2; open and save the file in Excel once",
            "3 has the error #DIV/0! in Works!B3; correct the formula, and save the file again",
            "4 has a text in Works!D4, a column without a heading; give it one, or clear the cell",
            "5 is longer than 1 MiB, the maximum of a record; take out of it what is no text of the record",
            "6 6|F",
        ]
    );
}

#[test]
fn sheet_and_headings_may_be_named() {
    let fixture = Fixture::new();
    let sheet =
        [text_row(1, &["a", "b", "c"]), text_row(2, &["d", "e", "f"]), text_row(4, &["g", "h"])].concat();
    let other = [text_row(1, &["x", "y"]), text_row(2, &["1", "2"])].concat();
    let open = |sheet_name: Option<&str>, headings| {
        let options = WorkbookOptions { sheet: sheet_name.map(str::to_owned), headings };
        fixture.written(&[("Works", &sheet), ("Other", &other)], options)
    };
    let read = |sheet: Sheet| (sheet.headings.join("|"), rows(sheet));
    let row = |text: &str| text.to_owned();
    assert_eq!(read(open(Some("Other"), None).unwrap()), (row("x|y"), vec![row("2 1|2")]));
    assert_eq!(read(open(None, Some(2)).unwrap()), (row("d|e|f"), vec![row("4 g|h|")]));
    let fault = |outcome: Result<Sheet, WorkbookFault>| outcome.unwrap_err().to_string();
    assert_eq!(fault(open(Some("Wroks"), None)), "has no sheet “Wroks”; it has “Works” and “Other”");
    assert_eq!(fault(open(Some("works "), None)), "has no sheet “works ”; the nearest is “Works”");
    assert_eq!(
        fault(open(Some("Other"), Some(9))),
        "has no headings in the sheet “Other”: no row of texts above others; name the sheet and the row of the headings"
    );
}

#[test]
fn a_workbook_that_is_none_says_what_to_do() {
    let fixture = Fixture::new();
    let fault = |bytes: &[u8]| {
        std::fs::write(fixture.path(), bytes).unwrap();
        fixture.open(WorkbookOptions::default()).unwrap_err()
    };
    let compound = [&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..], &[0; 70_000]].concat();
    assert_eq!(fault(&compound), WorkbookFault::OldFormat);
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fault(&[&compound[..], &name].concat()), WorkbookFault::Password);
    assert_eq!(
        WorkbookFault::Password.to_string(),
        "is protected by a password; open it in Excel, remove the password (File, Info, Protect Workbook), and save it"
    );
    let not_one = |why: &str| WorkbookFault::NotAWorkbook(why.to_owned());
    assert_eq!(fault(b"name,city"), not_one("it is no ZIP archive"));
    assert_eq!(fault(b""), not_one("it is no ZIP archive"));
    assert_eq!(fault(b"PK\x03\x04 and nothing"), not_one("its end is missing"));
    assert_eq!(
        fault(b"name,city").to_string(),
        "is not a workbook of Excel, or damaged (it is no ZIP archive); open it in Excel or LibreOffice, and save it as .xlsx or CSV"
    );
    let many = [&b"PK\x03\x04PK\x05\x06\0\0\0\0"[..], &[0xff; 4], &[0; 10]].concat();
    assert_eq!(fault(&many), WorkbookFault::ManyParts);
}

#[test]
fn a_damaged_sheet_is_named_with_its_last_row() {
    let fixture = Fixture::new();
    let sheet = [
        &text_row(1, &["a", "b"])[..],
        &text_row(2, &["1", "2"]),
        r#"<row r="3"><c r="A3" t="?"><v>1</v></c></row>"#,
    ];
    let outcome = fixture.written(&[("Works", &sheet.concat())], WorkbookOptions::default());
    let fault = outcome.map(rows).unwrap_err().to_string();
    assert!(fault.starts_with("is damaged in the sheet “Works” ("), "{fault}");
    assert!(fault.ends_with("; open it in Excel or LibreOffice, and save it as .xlsx or CSV"), "{fault}");
}

#[test]
fn what_unpacks_to_too_much_is_refused_before_it_is_opened() {
    let fixture = Fixture::new();
    let rows = [text_row(1, &["a", "b"]), text_row(2, &["1", "2"])].concat();
    let write = |part: &str, text: &str| {
        write_workbook(&fixture.path(), &[("Works", "visible", &rows)], &[(part, text)])
    };
    let check = |limits| archive::check(&mut File::open(fixture.path()).unwrap(), limits);
    let (small, large) = (10_000, 1 << 20);
    write("xl/sharedStrings.xml", &" ".repeat(2 * small));
    let small = small as u64;
    assert_eq!(check(Limits { sheets: large, shared: small }), Err(WorkbookFault::TooLarge));
    assert_eq!(check(Limits { sheets: small, shared: large }), Ok(()));
    write("xl/worksheets/sheet2.xml", &" ".repeat(20_000));
    assert_eq!(check(Limits { sheets: small, shared: large }), Err(WorkbookFault::TooLarge));
    // A relation may name such a part as a sheet.
    write("xl/media/image1.png", &" ".repeat(20_000));
    assert_eq!(check(Limits { sheets: small, shared: large }), Err(WorkbookFault::TooLarge));
    assert_eq!(check(Limits { sheets: large, shared: small }), Ok(()));
    write("xl/sharedStrings.xml", r#"<sst uniqueCount="99999999999"></sst>"#);
    let fault = check(Limits::default());
    assert_eq!(fault, Err(WorkbookFault::NotAWorkbook("it counts more texts than it has".to_owned())));
    assert_eq!(
        WorkbookFault::TooLarge.to_string(),
        "unpacks to more than is read (1024 MiB of sheets and pictures, 128 MiB of the rest), as ZIP bombs do; if you trust it, save its sheet as \
         CSV, and import that"
    );
}

#[test]
fn the_thread_ends_when_no_more_rows_are_wanted() {
    let fixture = Fixture::new();
    let rows: String = (2..2_000).map(|number| text_row(number, &["1", "2"])).collect();
    let sheet = format!("{}{rows}", text_row(1, &["a", "b"]));
    let mut sheet = fixture.written(&[("Works", &sheet)], WorkbookOptions::default()).unwrap();
    assert_eq!(sheet.next(), Some(Ok((2, Ok(vec!["1".to_owned(), "2".to_owned()])))));
    assert_eq!(sheet.count(), 1_997);
}
