//! What is checked of a workbook before it is opened: that it is one, and that unpacking it takes neither memory nor time without
//! bounds.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::result::ZipError;

use super::WorkbookFault;

/// The most bytes that the sheets and pictures of a workbook unpack to: 1 GiB. Sheets are read row by row.
pub const MAX_SHEET_BYTES: u64 = 1 << 30;

/// The most bytes that the other parts of a workbook unpack to: 128 MiB. The shared texts among them are held in
/// memory.
pub const MAX_SHARED_BYTES: u64 = 1 << 27;

/// The most parts of a workbook. The table of them is held in memory.
pub const MAX_PARTS: u64 = 20_000;

/// The beginning of a compound file: a workbook of Excel 97 to 2003, or an encrypted one of today.
const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// The number of bytes of a compound file in which the name of an encrypted part is looked for.
const COMPOUND_SEARCH: u64 = 1 << 26;

/// The length of the record that ends an archive, and the longest comment after it, in bytes.
const END_RECORD: u64 = 22;
const END_COMMENT: u64 = 0xffff;

/// The size of the buffer into which parts are unpacked.
const CHUNK: usize = 1 << 16;

/// Limits on what a workbook unpacks to, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) sheets: u64,
    pub(crate) shared: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sheets: MAX_SHEET_BYTES, shared: MAX_SHARED_BYTES }
    }
}

/// Checks a workbook, and goes back to its beginning. All parts are unpacked and counted, since the sizes that an archive names need
/// not be true.
///
/// # Errors
///
/// Fails if the file is not a workbook that may be opened.
pub(crate) fn check(file: &mut File, limits: Limits) -> Result<(), WorkbookFault> {
    let mut start = Vec::new();
    file.take(COMPOUND_FILE.len() as u64).read_to_end(&mut start)?;
    if start == COMPOUND_FILE {
        return Err(compound_file(file)?);
    }
    if !start.starts_with(b"PK") {
        return Err(WorkbookFault::NotAWorkbook("it is no ZIP archive".to_owned()));
    }
    check_part_count(file)?;
    file.seek(SeekFrom::Start(0))?;
    let mut archive = ZipArchive::new(BufReader::new(&*file)).map_err(fault)?;
    if archive.index_for_name("[Content_Types].xml").is_none() {
        return Err(WorkbookFault::NotAWorkbook("it has no [Content_Types].xml".to_owned()));
    }
    let (mut sheets, mut shared) = (limits.sheets, limits.shared);
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).map_err(fault)?;
        let name = part.name().map_err(fault)?.to_ascii_lowercase();
        // A relation may name any part as a sheet, so all that is not held in memory counts as one, pictures too.
        let is_xml = name.ends_with(".xml") || name.ends_with(".rels");
        let is_sheet = name.contains("worksheets/") && !name.ends_with("sharedstrings.xml");
        let left = if is_sheet || !is_xml { &mut sheets } else { &mut shared };
        *left = check_part(&mut part, *left)?;
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(())
}

/// Returns why a compound file is not read.
fn compound_file(file: &mut File) -> io::Result<WorkbookFault> {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (mut window, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    let mut rest = file.take(COMPOUND_SEARCH);
    loop {
        let length = rest.read(&mut chunk)?;
        if length == 0 {
            return Ok(WorkbookFault::OldFormat);
        }
        window.extend_from_slice(&chunk[..length]);
        if memchr::memmem::find(&window, &name).is_some() {
            return Ok(WorkbookFault::Password);
        }
        window.drain(..window.len().saturating_sub(name.len()));
    }
}

/// Checks the number of parts that the end of the archive names, before a table of them is made.
fn check_part_count(file: &mut File) -> Result<(), WorkbookFault> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(END_RECORD + END_COMMENT)))?;
    let mut end = Vec::new();
    file.take(END_RECORD + END_COMMENT).read_to_end(&mut end)?;
    let Some(at) = memchr::memmem::rfind(&end, b"PK\x05\x06") else {
        return Err(WorkbookFault::NotAWorkbook("its end is missing".to_owned()));
    };
    // More parts than the field of two bytes can hold are written elsewhere, and this field has all bits set.
    let count =
        end.get(at + 10..at + 12).map_or(0, |bytes| u64::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    if count > MAX_PARTS {
        return Err(WorkbookFault::ManyParts);
    }
    Ok(())
}

/// Unpacks a part, and returns what is left of the bytes that parts may unpack to.
fn check_part(part: &mut impl Read, left: u64) -> Result<u64, WorkbookFault> {
    const COUNT: &[u8] = b"uniqueCount";
    let (mut unpacked, mut counted, mut window) = (0, 0, Vec::new());
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = part.read(&mut chunk).map_err(damaged)?;
        unpacked += length as u64;
        if unpacked > left {
            return Err(WorkbookFault::TooLarge);
        }
        window.extend_from_slice(&chunk[..length]);
        for at in memchr::memmem::find_iter(&window, COUNT) {
            let value = window[at + COUNT.len()..].iter().skip_while(|byte| b" \t\r\n=\"'".contains(byte));
            let digits: String =
                value.take(20).map_while(|byte| byte.is_ascii_digit().then_some(char::from(*byte))).collect();
            counted = counted.max(digits.parse().unwrap_or(0));
        }
        if length == 0 {
            break;
        }
        // A count at the end is looked at again with what follows.
        window.drain(..window.len().saturating_sub(COUNT.len() + 32));
    }
    // Memory is reserved for so many shared texts; each takes five bytes at least.
    if counted > unpacked {
        return Err(WorkbookFault::NotAWorkbook("it counts more texts than it has".to_owned()));
    }
    Ok(left - unpacked)
}

fn fault(error: ZipError) -> WorkbookFault {
    match error {
        ZipError::Io(error) => damaged(error),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => WorkbookFault::Password,
        error => WorkbookFault::NotAWorkbook(error.to_string()),
    }
}

fn damaged(error: io::Error) -> WorkbookFault {
    WorkbookFault::NotAWorkbook(error.to_string())
}
