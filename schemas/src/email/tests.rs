use super::*;

/// Accepted addresses with their normalised forms.
const GOOD: &[(&str, &str)] = &[
    ("ada@example.org", "ada@example.org"),
    ("  ada@example.org\n", "ada@example.org"),
    ("Ada@EXAMPLE.Org", "Ada@example.org"),
    ("ada+loggia@example.org", "ada+loggia@example.org"),
    ("a.b.c@sub.example.co.uk", "a.b.c@sub.example.co.uk"),
    ("x@a.bc", "x@a.bc"),
    ("o'brien@example.org", "o'brien@example.org"),
    ("#!$%&'*+-/=?^_`{}|~@example.org", "#!$%&'*+-/=?^_`{}|~@example.org"),
    ("łucja@przykład.pl", "łucja@przykład.pl"),
    ("zu\u{308}rich@example.ch", "zürich@example.ch"),
    ("用户@例子.公司", "用户@例子.公司"),
    ("अजय@डाटा.भारत", "अजय@डाटा.भारत"),
    ("user@xn--bcher-kva.example", "user@xn--bcher-kva.example"),
    ("1234567890@example.org", "1234567890@example.org"),
    ("ada@123.example", "ada@123.example"),
    ("ADA@BÜRO.DE", "ADA@büro.de"),
];

/// Rejected addresses with the reasons.
const BAD: &[(&str, &str)] = &[
    ("", "it has no @"),
    ("ada", "it has no @"),
    ("@example.org", "there is nothing before the @"),
    ("ada@", "the domain after the @ has no dot"),
    ("ada@localhost", "the domain after the @ has no dot"),
    ("ada@@example.org", "a character before the @ is not allowed"),
    ("a@b@example.org", "a character before the @ is not allowed"),
    ("ada @example.org", "it has blanks or control characters"),
    ("ada@exam ple.org", "it has blanks or control characters"),
    ("ada@example.org\r\nBcc: all@example.org", "it has blanks or control characters"),
    ("ada\u{0}@example.org", "it has blanks or control characters"),
    ("ada\u{202e}@example.org", "it has blanks or control characters"),
    ("ada\u{200b}@example.org", "it has blanks or control characters"),
    ("\"ada pelt\"@example.org", "it has blanks or control characters"),
    ("\"ada\"@example.org", "a character before the @ is not allowed"),
    ("ada(comment)@example.org", "a character before the @ is not allowed"),
    ("<ada@example.org>", "a character before the @ is not allowed"),
    ("ada,bob@example.org", "a character before the @ is not allowed"),
    (".ada@example.org", "a dot is first, last or doubled before the @"),
    ("ada.@example.org", "a dot is first, last or doubled before the @"),
    ("a..b@example.org", "a dot is first, last or doubled before the @"),
    ("ada@.org", "the text after the @ is not a domain"),
    ("ada@example..org", "the text after the @ is not a domain"),
    ("ada@-example.org", "the text after the @ is not a domain"),
    ("ada@example.org.", "the text after the @ is not a domain"),
    ("ada@exa_mple.org", "the text after the @ is not a domain"),
    ("ada@127.0.0.1", "the text after the @ is not a domain"),
    ("ada@[127.0.0.1]", "the text after the @ is not a domain"),
    ("ada@example.org;drop", "the text after the @ is not a domain"),
    ("ada@exa%6dple.org", "the text after the @ is not a domain"),
];

#[test]
fn unusual_valid_addresses_are_accepted() {
    for (text, expected) in GOOD {
        assert_eq!(text.parse::<Email>().unwrap().as_str(), *expected, "{text:?}");
    }
}

#[test]
fn invalid_addresses_are_rejected_with_a_reason() {
    for (text, reason) in BAD {
        assert_eq!(text.parse::<Email>(), Err(InvalidEmail(reason)), "{text:?}");
    }
    let long = format!("{}@example.org", "a".repeat(300));
    assert_eq!(long.parse::<Email>(), Err(InvalidEmail("there are more than 64 bytes before the @")));
    let long = format!("ada@{}.org", ["a"; 130].join("."));
    assert_eq!(long.parse::<Email>(), Err(InvalidEmail("it has more than 254 bytes")));
    assert!(GOOD.len() + BAD.len() + 2 >= 40);
}

#[test]
fn case_does_not_distinguish_addresses() {
    let (one, other): (Email, Email) =
        ("Ada@Example.org".parse().unwrap(), "aDA@eXample.ORG".parse().unwrap());
    assert_eq!(one.folded(), other.folded());
    assert_ne!(one.folded(), "ada+x@example.org".parse::<Email>().unwrap().folded());
}

#[test]
fn debug_output_hides_the_address() {
    assert_eq!(format!("{:?}", "ada@example.org".parse::<Email>().unwrap()), "Email(…)");
}

#[test]
fn both_forms_of_an_internationalised_domain_are_one_address() {
    let [unicode, ascii]: [Email; 2] =
        ["Bo@München.example", "bo@xn--mnchen-3ya.example"].map(|text| text.parse().unwrap());
    assert_eq!([unicode.folded(), ascii.folded()], ["bo@xn--mnchen-3ya.example"; 2]);
    assert_eq!(
        unicode.spellings(),
        ["bo@münchen.example", "bo@xn--mnchen-3ya.example", "bo@münchen.example"]
    );
    assert_eq!(ascii.spellings(), ["bo@xn--mnchen-3ya.example", "bo@münchen.example"]);
    let plain: Email = "Ada@example.org".parse().unwrap();
    assert_eq!(
        (plain.folded(), plain.spellings()),
        ("ada@example.org".into(), vec!["ada@example.org".into()])
    );
    assert_eq!(unicode.as_str(), "Bo@münchen.example", "mail is sent as it was written");
}
