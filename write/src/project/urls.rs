//! Checks the URLs of a record: none may contain a user or a password, since records are public.

use schemas::import::Fault;
use schemas::record::Record;
use schemas::web_address::has_login;

use super::Rejection;

/// Rejects URLs with a user or a password, except those that the record had before: version 0.1 accepted them, and such records
/// stay editable.
pub(super) fn reject_logins(before: Option<&Record>, after: &Record) -> Result<(), Rejection> {
    let known: Vec<&str> = before.into_iter().flat_map(urls).map(|(_, address)| address).collect();
    let new = urls(after).filter(|(_, address)| has_login(address) && !known.contains(address));
    let faults: Vec<Fault> = new.map(|(field, _)| Fault { field, reason: REASON.to_owned() }).collect();
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}

const REASON: &str = "contains a user name or password, which everyone could read; give a URL without";

/// Returns every URL of a record with the member that contains it.
fn urls(record: &Record) -> impl Iterator<Item = (String, &str)> {
    let Record { thumbnail, url, citation_url, pictures, .. } = record;
    let pictures = pictures.iter().enumerate();
    let pictures = pictures.map(|(at, picture)| (format!("pictures[{at}].source"), picture.source.as_str()));
    let others = [("thumbnail", thumbnail), ("url", url), ("citation_url", citation_url)];
    let others =
        others.into_iter().filter_map(|(name, address)| Some((name.to_owned(), address.as_deref()?)));
    others.chain(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(json: &str) -> Record {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_login_is_rejected_if_it_is_new() {
        let with = record(
            r#"{"name":"A","category":"art","url":"https://me@example.org","pictures":[{"source":"a.jpg"},{"source":"https://me:secret@example.org/b.jpg"}]}"#,
        );
        let Err(Rejection::Invalid(faults)) = reject_logins(None, &with) else { panic!("it was taken") };
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["url", "pictures[1].source"]);
        assert!(faults.iter().all(|fault| fault.reason == REASON));
        assert_eq!(reject_logins(Some(&with), &with), Ok(()));
        let moved = record(
            r#"{"name":"B","category":"art","url":"https://me@example.org","pictures":[{"source":"https://me:secret@example.org/b.jpg"}]}"#,
        );
        assert_eq!(reject_logins(Some(&with), &moved), Ok(()), "it is where it was, at another place");
        let plain = record(r#"{"name":"A","category":"art","url":"https://example.org/@me"}"#);
        assert_eq!(reject_logins(None, &plain), Ok(()));
    }
}
