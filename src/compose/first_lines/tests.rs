use settings::Sources;

use super::*;

fn text(flags: &[(&str, &str)], events: Option<u64>, is_demo: bool) -> String {
    let flags = flags.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let config = Config::read(&Sources { flags, ..Sources::default() }).unwrap();
    let site = config.site.public_url.clone().unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
    let commands = CommandLine::new("loggia".to_owned(), &["--data /srv/shop".to_owned()]);
    let (log, listens_at) = (Log { events, is_demo }, config.server.listen);
    let lines = Lines { config: &config, site: &site, listens_at, log: &log, is_demo, commands: &commands };
    let text = lines.text();
    assert!(text.lines().count() <= 10, "{text}");
    text
}

#[test]
fn an_empty_catalog_is_filled_next() {
    let expected = "\
Site    http://127.0.0.1:8080
REST    http://127.0.0.1:8080/v1
MCP     http://127.0.0.1:8080/mcp
Data    /srv/shop
Events  none yet, in /srv/shop/store
NATS    a private server of this process
Next
  map your own file:     loggia import works.csv --suggest works.toml --data /srv/shop
  create a key:          loggia keys issue --email you@example.org --data /srv/shop
  read how to call it:   http://127.0.0.1:8080/docs";
    assert_eq!(text(&[("data", "/srv/shop")], Some(0), false), expected);
}

#[test]
fn the_demo_is_looked_at_next() {
    let text = text(&[("data", "/srv/shop")], Some(2_600), true);
    let expected = "\
Next
  look around:           http://127.0.0.1:8080/?q=brick+library
  connect an agent:      http://127.0.0.1:8080/connect
  have one of your own:  loggia init my-catalog";
    assert!(text.contains("Events  2,600, in /srv/shop/store\n") && text.ends_with(expected), "{text}");
}

#[test]
fn a_catalog_elsewhere_is_named_without_passwords() {
    let flags = [
        ("public_url", "https://catalog.example.org"),
        ("nats_url", "nats://me:secret@10.0.0.5:4222"),
        ("auth", "off"),
        ("store", "sqlite:/srv/log"),
    ];
    let text = text(&flags, None, false);
    for line in [
        "Site    https://catalog.example.org, listening on 127.0.0.1:8080",
        "REST    https://catalog.example.org/v1, open to every client: auth is off",
        "Events  /srv/log",
        "NATS    nats://***@10.0.0.5:4222",
        "  connect an agent:      https://catalog.example.org/connect",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    assert!(!text.contains("secret"), "{text}");
}
