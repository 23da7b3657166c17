//! Codes of countries, and the columns that have them.

use super::column::Column;
use super::concepts::MAKERS;

/// The codes of ISO 3166-1 of two and three letters with the names of the countries, and UK, which is reserved for the United Kingdom.
const COUNTRIES: &str = "\
    AD AND Andorra;AE ARE United Arab Emirates;AF AFG Afghanistan;AG ATG Antigua and Barbuda;AI AIA Anguilla;AL ALB Albania;\
    AM ARM Armenia;AO AGO Angola;AQ ATA Antarctica;AR ARG Argentina;AS ASM American Samoa;AT AUT Austria;AU AUS Australia;\
    AW ABW Aruba;AX ALA Åland;AZ AZE Azerbaijan;BA BIH Bosnia and Herzegovina;BB BRB Barbados;BD BGD Bangladesh;BE BEL Belgium;\
    BF BFA Burkina Faso;BG BGR Bulgaria;BH BHR Bahrain;BI BDI Burundi;BJ BEN Benin;BL BLM Saint Barthélemy;BM BMU Bermuda;\
    BN BRN Brunei;BO BOL Bolivia;BQ BES Caribbean Netherlands;BR BRA Brazil;BS BHS Bahamas;BT BTN Bhutan;BV BVT Bouvet Island;\
    BW BWA Botswana;BY BLR Belarus;BZ BLZ Belize;CA CAN Canada;CC CCK Cocos Islands;CD COD Democratic Republic of the Congo;\
    CF CAF Central African Republic;CG COG Republic of the Congo;CH CHE Switzerland;CI CIV Ivory Coast;CK COK Cook Islands;\
    CL CHL Chile;CM CMR Cameroon;CN CHN China;CO COL Colombia;CR CRI Costa Rica;CU CUB Cuba;CV CPV Cape Verde;CW CUW Curaçao;\
    CX CXR Christmas Island;CY CYP Cyprus;CZ CZE Czech Republic;DE DEU Germany;DJ DJI Djibouti;DK DNK Denmark;DM DMA Dominica;\
    DO DOM Dominican Republic;DZ DZA Algeria;EC ECU Ecuador;EE EST Estonia;EG EGY Egypt;EH ESH Western Sahara;ER ERI Eritrea;\
    ES ESP Spain;ET ETH Ethiopia;FI FIN Finland;FJ FJI Fiji;FK FLK Falkland Islands;FM FSM Micronesia;FO FRO Faroe Islands;\
    FR FRA France;GA GAB Gabon;GB GBR United Kingdom;GD GRD Grenada;GE GEO Georgia;GF GUF French Guiana;GG GGY Guernsey;\
    GH GHA Ghana;GI GIB Gibraltar;GL GRL Greenland;GM GMB Gambia;GN GIN Guinea;GP GLP Guadeloupe;GQ GNQ Equatorial Guinea;\
    GR GRC Greece;GS SGS South Georgia and the South Sandwich Islands;GT GTM Guatemala;GU GUM Guam;GW GNB Guinea-Bissau;\
    GY GUY Guyana;HK HKG Hong Kong;HM HMD Heard Island and McDonald Islands;HN HND Honduras;HR HRV Croatia;HT HTI Haiti;\
    HU HUN Hungary;ID IDN Indonesia;IE IRL Ireland;IL ISR Israel;IM IMN Isle of Man;IN IND India;\
    IO IOT British Indian Ocean Territory;IQ IRQ Iraq;IR IRN Iran;IS ISL Iceland;IT ITA Italy;JE JEY Jersey;JM JAM Jamaica;\
    JO JOR Jordan;JP JPN Japan;KE KEN Kenya;KG KGZ Kyrgyzstan;KH KHM Cambodia;KI KIR Kiribati;KM COM Comoros;\
    KN KNA Saint Kitts and Nevis;KP PRK North Korea;KR KOR South Korea;KW KWT Kuwait;KY CYM Cayman Islands;KZ KAZ Kazakhstan;\
    LA LAO Laos;LB LBN Lebanon;LC LCA Saint Lucia;LI LIE Liechtenstein;LK LKA Sri Lanka;LR LBR Liberia;LS LSO Lesotho;\
    LT LTU Lithuania;LU LUX Luxembourg;LV LVA Latvia;LY LBY Libya;MA MAR Morocco;MC MCO Monaco;MD MDA Moldova;ME MNE Montenegro;\
    MF MAF Saint Martin;MG MDG Madagascar;MH MHL Marshall Islands;MK MKD North Macedonia;ML MLI Mali;MM MMR Myanmar;\
    MN MNG Mongolia;MO MAC Macao;MP MNP Northern Mariana Islands;MQ MTQ Martinique;MR MRT Mauritania;MS MSR Montserrat;\
    MT MLT Malta;MU MUS Mauritius;MV MDV Maldives;MW MWI Malawi;MX MEX Mexico;MY MYS Malaysia;MZ MOZ Mozambique;NA NAM Namibia;\
    NC NCL New Caledonia;NE NER Niger;NF NFK Norfolk Island;NG NGA Nigeria;NI NIC Nicaragua;NL NLD Netherlands;NO NOR Norway;\
    NP NPL Nepal;NR NRU Nauru;NU NIU Niue;NZ NZL New Zealand;OM OMN Oman;PA PAN Panama;PE PER Peru;PF PYF French Polynesia;\
    PG PNG Papua New Guinea;PH PHL Philippines;PK PAK Pakistan;PL POL Poland;PM SPM Saint Pierre and Miquelon;\
    PN PCN Pitcairn Islands;PR PRI Puerto Rico;PS PSE Palestine;PT PRT Portugal;PW PLW Palau;PY PRY Paraguay;QA QAT Qatar;\
    RE REU Réunion;RO ROU Romania;RS SRB Serbia;RU RUS Russia;RW RWA Rwanda;SA SAU Saudi Arabia;SB SLB Solomon Islands;\
    SC SYC Seychelles;SD SDN Sudan;SE SWE Sweden;SG SGP Singapore;SH SHN Saint Helena;SI SVN Slovenia;\
    SJ SJM Svalbard and Jan Mayen;SK SVK Slovakia;SL SLE Sierra Leone;SM SMR San Marino;SN SEN Senegal;SO SOM Somalia;\
    SR SUR Suriname;SS SSD South Sudan;ST STP São Tomé and Príncipe;SV SLV El Salvador;SX SXM Sint Maarten;SY SYR Syria;\
    SZ SWZ Eswatini;TC TCA Turks and Caicos Islands;TD TCD Chad;TF ATF French Southern Territories;TG TGO Togo;TH THA Thailand;\
    TJ TJK Tajikistan;TK TKL Tokelau;TL TLS Timor-Leste;TM TKM Turkmenistan;TN TUN Tunisia;TO TON Tonga;TR TUR Turkey;\
    TT TTO Trinidad and Tobago;TV TUV Tuvalu;TW TWN Taiwan;TZ TZA Tanzania;UA UKR Ukraine;UG UGA Uganda;UK GBR United Kingdom;\
    UM UMI United States Minor Outlying Islands;US USA United States;UY URY Uruguay;UZ UZB Uzbekistan;VA VAT Vatican City;\
    VC VCT Saint Vincent and the Grenadines;VE VEN Venezuela;VG VGB British Virgin Islands;VI VIR United States Virgin Islands;\
    VN VNM Vietnam;VU VUT Vanuatu;WF WLF Wallis and Futuna;WS WSM Samoa;YE YEM Yemen;YT MYT Mayotte;ZA ZAF South Africa;\
    ZM ZMB Zambia;ZW ZWE Zimbabwe";

/// Words for countries, and for their codes.
const WORDS: [&str; 15] = [
    "country",
    "countries",
    "land",
    "lander",
    "landercode",
    "landescode",
    "laendercode",
    "pays",
    "paese",
    "pais",
    "nation",
    "iso",
    "iso2",
    "iso3",
    "herkunftsland",
];

/// Words for other codes of two or three letters, and for countries of people.
const AGAINST: [&str; 31] = [
    "state",
    "bundesland",
    "stato",
    "estado",
    "province",
    "canton",
    "kanton",
    "language",
    "sprache",
    "langue",
    "lingua",
    "idioma",
    "taal",
    "lang",
    "birth",
    "born",
    "death",
    "died",
    "geburt",
    "naissance",
    "nascita",
    "nacimiento",
    "geboorte",
    "nationality",
    "phone",
    "telephone",
    "publication",
    "publisher",
    "currency",
    "owner",
    "donor",
];

/// Codes of countries that are those of states of the USA too.
const STATES: &str = "AL AR AZ CA CO DE GA ID IL IN KY LA MA MD ME MN MO MS MT NC NE PA SC SD TN VA";

/// The share of texts from which a column is one of codes.
const MOST: f64 = 0.8;

/// Returns the name of the country with this code, in any case; `None` if there is none.
pub(crate) fn name(code: &str) -> Option<&'static str> {
    if !matches!(code.len(), 2 | 3) {
        return None;
    }
    COUNTRIES.split(';').find_map(|entry| {
        let (two, rest) = entry.split_once(' ')?;
        let (three, name) = rest.split_once(' ')?;
        (two.eq_ignore_ascii_case(code) || three.eq_ignore_ascii_case(code)).then_some(name)
    })
}

/// Returns whether a column that names a country has codes rather than names.
pub(crate) fn are_named_codes(column: &Column) -> bool {
    column.has_word(&WORDS) && are_codes(column)
}

/// Returns whether the texts of a column for places are codes of countries.
pub(crate) fn are_codes(column: &Column) -> bool {
    if column.has_word(&AGAINST) || column.has_word(MAKERS) {
        return false;
    }
    let is_state = |text: &str| STATES.split(' ').any(|state| state.eq_ignore_ascii_case(text));
    let says_country = column.has_word(&WORDS) || column.texts().any(|text| !is_state(text));
    says_country
        && column.filled > 0
        && column.share(|text| parts(text).all(|part| name(part).is_some())) >= MOST
}

/// Returns the codes of a text, without blanks around them.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_two_and_three_letters_have_names() {
        for (code, expected) in [
            ("DE", Some("Germany")),
            ("DEU", Some("Germany")),
            ("us", Some("United States")),
            ("UK", Some("United Kingdom")),
            ("gbr", Some("United Kingdom")),
            ("CIV", Some("Ivory Coast")),
            ("NO", Some("Norway")),
            ("ZW", Some("Zimbabwe")),
            ("SUI", None),
            ("Germany", None),
            ("D", None),
            ("É", None),
            ("", None),
        ] {
            assert_eq!(name(code), expected, "{code}");
        }
    }

    #[test]
    fn every_entry_is_two_codes_and_a_name() {
        let is_code =
            |code: &str, length| code.len() == length && code.bytes().all(|byte| byte.is_ascii_uppercase());
        for entry in COUNTRIES.split(';') {
            let mut words = entry.splitn(3, ' ');
            let [two, three, name] = [(); 3].map(|()| words.next().unwrap_or_default());
            assert!(is_code(two, 2) && is_code(three, 3) && name.len() > 2, "{entry}");
        }
        assert_eq!(COUNTRIES.split(';').count(), 250);
    }
}
