//! The check of a strict import by a mapping: the whole file is read for its faults before a line of it is sent.

use crate::import_file::ImportFile;
use crate::lines::{Line, Lines};
use crate::read_error::ReadError;

/// How many lines that cannot be read are listed.
const LISTED: usize = 20;

/// Reads a file to its end, and returns a sentence for each fault for which a strict import imports nothing: records that cannot be read
/// or of which the mapping makes none, columns that it does not name, paths that no record has, pictures that cannot be used.
///
/// # Errors
///
/// Fails if the file cannot be read to its end, or if it is standard input, which can be read once.
pub fn check(file: &ImportFile) -> Result<Vec<String>, ReadError> {
    if file.is_standard_input() {
        let reason = "--strict with --mapping reads the file twice, which standard input does not allow; save it, and name the file";
        return Err(ReadError::Faulty(reason.to_owned()));
    }
    let mut lines = Lines::open(file)?;
    let (mut faults, mut others) = (Vec::new(), 0);
    while let Some(Line { place, record }) = lines.next()? {
        match record {
            Err(rejection) if !rejection.is_unmapped => {
                let reasons: Vec<&str> = rejection.faults.iter().map(|fault| fault.reason.as_str()).collect();
                match faults.len() < LISTED {
                    true => faults.push(format!("{place} {}.", reasons.join(", "))),
                    false => others += 1,
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    if others > 0 {
        faults.push(format!("{others} more cannot be read."));
    }
    let findings = lines.findings();
    faults.extend(findings.faults);
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use mapping::Mapping;

    use super::*;

    #[test]
    fn every_fault_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("works.ndjson");
        let lines =
            "{\"T\":\"A\",\"K\":\"chair\",\"P\":\"a.tif\",\"X\":1}\n{\"T\":\n{\"T\":\"B\",\"K\":\"Ring\"}\n";
        std::fs::write(&path, lines).unwrap();
        let toml = "[record]\nname = \"T\"\ncity = \"C\"\ncategory = { from = \"K\", table = { chair = \"design\" } }\n";
        let mapping = Some(Mapping::parse("a.toml", &format!("{toml}[[pictures]]\nsource = \"P\"")).unwrap());
        let file = ImportFile { path: path.clone(), mapping, ..ImportFile::default() };
        assert_eq!(
            check(&file).unwrap(),
            [
                format!(
                    "{} line 2 is not JSON: EOF while parsing a value at line 1 column 5.",
                    path.display()
                ),
                "The mapping rejects 1 record: “Ring” is not in the table of category 1.".to_owned(),
                "One path is in neither the mapping nor [ignore]: X.".to_owned(),
                "The path C is in no record.".to_owned(),
            ]
        );
        std::fs::write(&path, "{\"T\":\"A\",\"K\":\"chair\",\"P\":\"a.jpg\",\"C\":\"Ulm\"}\n").unwrap();
        assert_eq!(check(&file).unwrap(), Vec::<String>::new());
        let stream = ImportFile { path: "-".into(), ..file };
        assert!(check(&stream).unwrap_err().to_string().starts_with("--strict with --mapping reads"));
    }
}
