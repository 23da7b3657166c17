use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

/// Reads the settings from these variables.
fn read(variables: &[(&str, &str)]) -> Result<Config> {
    Config::read(&Sources { environment: map(variables), ..Sources::default() })
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[test]
fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
    let file =
        Some(("loggia.toml".into(), "listen = '127.0.0.1:3'\ndata = '/file'\nlog = 'debug'".to_owned()));
    let environment = map(&[("LOGGIA_LISTEN", "127.0.0.1:2"), ("LOGGIA_DATA", "/variable")]);
    let flags = map(&[("listen", "127.0.0.1:1")]);
    let config = Config::read(&Sources { flags, environment, file }).unwrap();
    assert_eq!(config.server.listen.port(), 1);
    assert_eq!(config.server.data, PathBuf::from("/variable"));
    assert_eq!(config.log.filter, LogFilter("debug".to_owned()));
    let sources: Vec<(&str, &str)> = config.resolved.iter().map(|r| (r.name, r.source.as_str())).collect();
    assert_eq!(sources[0], ("data", "variable LOGGIA_DATA"));
    assert_eq!(sources[1], ("listen", "flag"));
    assert_eq!(sources.last().unwrap(), &("log_format", "default"));
    assert_eq!(sources[sources.len() - 2], ("log", "loggia.toml"));
    assert_eq!(sources[2], ("public_url", "unset"));
}

#[test]
fn the_texts_of_the_site_are_single_lines() {
    let read = |name: &str, value: &str| read(&[(name, value)]);
    let name = read("LOGGIA_SITE_NAME", " Casa & Co ").unwrap().site.name;
    assert_eq!(name.as_deref(), Some("Casa & Co"));
    assert_eq!(
        read("LOGGIA_SITE_TAGLINE", "Houses\nand gardens").unwrap_err().to_string(),
        "site_tagline is “Houses\nand gardens” (variable LOGGIA_SITE_TAGLINE), which cannot be used: expected one \
         line of at most 160 characters, and it has 18"
    );
    assert!(read("LOGGIA_SITE_NAME", &"a".repeat(81)).is_err());
    assert!(read("LOGGIA_SITE_ABOUT", &"a".repeat(600)).is_ok());
}

#[test]
fn links_of_the_site_are_urls() {
    let texts = read(&[
        ("LOGGIA_CONTACT", "mail@example.org"),
        ("LOGGIA_IMPRINT_URL", "https://example.org/imprint"),
        ("LOGGIA_TERMS_URL", "http://example.org/terms"),
    ])
    .map(|config| config.site.texts(config.accounts.contact))
    .unwrap();
    assert_eq!(texts.contact.map(|contact| contact.href()).as_deref(), Some("mailto:mail@example.org"));
    assert_eq!(texts.imprint_url.as_deref(), Some("https://example.org/imprint"));
    assert_eq!((texts.privacy_url, texts.terms_url.as_deref()), (None, Some("http://example.org/terms")));
    for wrong in ["mail@example.org", "javascript:alert(1)", "/terms", "https://"] {
        assert_eq!(
            read(&[("LOGGIA_PRIVACY_URL", wrong)]).unwrap_err().to_string(),
            format!(
                "privacy_url is “{wrong}” (variable LOGGIA_PRIVACY_URL); expected the URL of a page, such \
                 as https://example.org/terms"
            )
        );
    }
}

#[test]
fn an_invalid_value_is_reported_with_its_name_and_source() {
    for (name, value, reason) in [
        (
            "LISTEN",
            "here",
            "expected an IP address and a port such as 127.0.0.1:8080; 0.0.0.0:8080 means all addresses of this machine",
        ),
        (
            "STORE",
            "sqlite:",
            if cfg!(feature = "eventstore") {
                "expected sqlite:DIR or esdb://HOST:PORT"
            } else {
                "expected sqlite:DIR"
            },
        ),
        (
            "STORE",
            "esdb://me:secret@here:2113?tslCaFile=/ca.pem",
            if cfg!(feature = "eventstore") {
                "there is no parameter “tslcafile”; the parameters are store, connectionname, defaultdeadline, \
                 discoveryinterval, gossiptimeout, keepaliveinterval, keepalivetimeout, maxdiscoverattempts, nodepreference, \
                 tls, tlscafile, tlsverifycert, usercertfile, userkeyfile"
            } else {
                "this loggia was built without EventStoreDB; start it with `bin/up --features eventstore`, or build it with \
                 bin/release"
            },
        ),
        (
            "MAIL",
            "imap://me:secret@mail.example.org",
            "expected log:, print:, smtp://HOST or smtps://HOST, with USER:PASSWORD@ before the host where the server asks \
             for it",
        ),
        ("BURST_PER_KEY", "many", "expected a whole number such as 20; 0 means no limit"),
        (
            "LOG",
            "inof",
            "“inof” is not a level (did you mean info?); expected a level such as info, or levels of parts such as \
             warn,loggia=debug",
        ),
        ("AUTH", "none", "expected keys or off"),
        ("VECTORS", "on", "expected auto, builtin or off"),
        (
            "VECTORS",
            "/srv/models",
            "folders of models are not read any more: vectors of another model come with the import, and the setting weights \
             names the folder of the weights; expected auto, builtin or off",
        ),
        ("NATS_REPLICAS", "2", "expected 1, 3 or 5"),
        ("TIERS", "free", "“free” is not a tier; write them as free=200, studio=5000"),
    ] {
        let variable = format!("LOGGIA_{name}");
        let (name, shown) = (name.to_lowercase(), value.replace("me:secret", "***"));
        assert_eq!(
            read(&[(&variable, value)]).unwrap_err().to_string(),
            format!("{name} is “{shown}” (variable {variable}), which cannot be used: {reason}")
        );
    }
    let refused = |name: &str, value: &str| read(&[(name, value)]).unwrap_err().to_string();
    assert_eq!(
        refused("LOGGIA_PUBLIC_URL", "catalog"),
        "public_url is “catalog” (variable LOGGIA_PUBLIC_URL); expected a URL such as https://catalog.example.org"
    );
    assert_eq!(
        refused("LOGGIA_MAIL", "smtp://mail.example.org"),
        "mail is “smtp://mail.example.org” (variable LOGGIA_MAIL), and mail_from is not set; set it to whom mails are \
         from, such as mail@example.org"
    );
}

#[test]
fn a_signing_secret_is_never_shown() {
    let read = |secret: &str| read(&[("LOGGIA_STRIPE_SECRET", secret)]);
    let config = read("whsec_first_one,whsec_second_one").unwrap();
    assert!(config.payments.secret.is_some());
    let shown = config.resolved.iter().find(|r| r.name == "stripe_secret").unwrap();
    assert_eq!(shown.value.as_deref(), Some("***"));
    assert!(!format!("{config:?}").contains("whsec_f"));
    assert_eq!(
        read("whsec").unwrap_err().to_string(),
        "stripe_secret is “***” (variable LOGGIA_STRIPE_SECRET), which cannot be used: expected signing secrets such \
         as whsec_…, of at least 8 characters, separated by commas"
    );
}

#[test]
fn the_tier_of_a_price_must_exist() {
    let read = |prices: &str| read(&[("LOGGIA_STRIPE_PRICES", prices)]);
    assert_eq!(read("price_1=studio").unwrap().payments.prices.to_string(), "price_1=studio");
    assert_eq!(
        read("price_1=gold").unwrap_err().to_string(),
        "stripe_prices is “price_1=gold” (variable LOGGIA_STRIPE_PRICES); there is no tier “gold”, the setting tiers has \
         free=200, studio=5000, pro=25000"
    );
}

#[test]
fn an_unknown_name_in_the_file_is_an_error() {
    let sources = Sources { file: Some(("x.toml".into(), "lisen = '1'".into())), ..Sources::default() };
    assert_eq!(
        Config::read(&sources).unwrap_err().to_string(),
        "x.toml sets “lisen”, which is not a setting; did you mean listen? `loggia config` lists them all"
    );
}

#[test]
fn a_password_is_hidden() {
    for (url, expected) in [
        ("nats://me:secret@host:4222", "nats://***@host:4222"),
        ("nats://me:secret@a,nats://me:secret@b", "nats://***@a,nats://***@b"),
    ] {
        let config = read(&[("LOGGIA_NATS_URL", url)]).unwrap();
        assert_eq!(config.nats.url.as_deref(), Some(url));
        let shown = config.resolved.iter().find(|r| r.name == "nats_url").unwrap();
        assert_eq!(shown.value.as_deref(), Some(expected));
    }
}

#[test]
fn all_invalid_settings_are_reported_at_once() {
    let file = Some(("x.toml".into(), "drain = '5ss'\nburst-per-key = 3\nlog_format = 'xml'".to_owned()));
    let environment = map(&[("LOGGIA_LISTEN", ":8080"), ("LOGGIA_LOG", "a=b=c")]);
    let refused = Config::read(&Sources { environment, file, ..Sources::default() }).unwrap_err().to_string();
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(
        lines[0],
        "x.toml sets “burst-per-key”, which is not a setting; did you mean burst_per_key? `loggia config` lists them all"
    );
    let names: Vec<&str> = lines[1..].iter().map(|line| line.split(" is “").next().unwrap()).collect();
    assert_eq!(names, ["listen", "log", "log_format", "drain"]);
}

#[test]
fn a_log_filter_has_levels_of_parts() {
    for right in ["info", "WARN,loggia=debug", "loggia[span]=trace, off", "warn,loggia=info"] {
        right.parse::<LogFilter>().unwrap();
    }
    for wrong in ["verbose", "loggia", "loggia=loud", "info debug"] {
        let reason = wrong.parse::<LogFilter>().unwrap_err();
        assert!(reason.contains("expected a level such as info"), "{wrong}: {reason}");
    }
}

#[test]
fn the_page_of_the_settings_is_what_the_table_says() {
    let mut page = "# Settings\n\nA setting is taken from its flag, else from its variable, else from `loggia.toml` \
                    in the current folder (or the file that\n`--config` names), where it has the name below; else \
                    the default holds. `loggia config` shows the values with their sources,\n`loggia config --check` \
                    looks for what a start would refuse. Secrets have no flag, since every user of a machine can \
                    read\nwhat a program was started with. This page is generated from the files of the sections \
                    below `src/config`.\n"
        .to_owned();
    for setting in SETTINGS.settings() {
        let flag = if setting.hidden {
            "no flag".into()
        } else {
            format!("`--{} {}`", setting.flag(), setting.shape)
        };
        let default =
            setting.default.map_or_else(|| "unset".to_owned(), |default| format!("default `{default}`"));
        page += &format!(
            "\n## `{}`\n\n{}\n\n{flag} · `{}` · {default} · for example `{}`\n",
            setting.name,
            setting.about,
            SETTINGS.variable(setting),
            setting.example
        );
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operating/settings.md");
    #[expect(clippy::disallowed_methods, reason = "a variable says whether to write the page again")]
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == page,
        "docs/operating/settings.md is not what the table says; write it with UPDATE_CONTRACT=1 cargo test --bin loggia \
         the_page_of_the_settings"
    );
}

#[test]
fn every_example_can_be_set() {
    for setting in SETTINGS.settings() {
        let mut environment = map(&[(&SETTINGS.variable(setting), setting.example)]);
        match setting.name {
            "mail" => drop(environment.insert("LOGGIA_MAIL_FROM".into(), "a@b.example".into())),
            "tiers" => drop(environment.insert("LOGGIA_PRICES".into(), "free=0 EUR: Any".into())),
            _ => {}
        }
        let read = Config::read(&Sources { environment, ..Sources::default() });
        assert!(read.is_ok(), "{}: {:#}", setting.name, read.unwrap_err());
    }
}
