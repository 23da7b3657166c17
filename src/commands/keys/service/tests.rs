use super::*;
use settings::Sources;

#[test]
fn the_published_address_has_priority() {
    let config = |flags: &[(&str, &str)]| {
        let flags = flags.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Config::read(&Sources { flags, ..Sources::default() }).unwrap()
    };
    let published = |url: Option<&str>| ServiceSettings {
        tiers: "free=200".parse().unwrap(),
        public_url: url.map(str::to_owned),
    };
    let (public, silent) = (published(Some("https://a.example")), published(None));
    let (own, none) = (config(&[("public_url", "https://b.example")]), config(&[]));
    let serves_at = Some("127.0.0.1:4001".to_owned());
    let is = |config, published, serves_at: &Option<String>, expected: Option<&str>| {
        assert_eq!(choose(config, published, serves_at.clone()).as_deref(), expected);
    };
    is(&own, Some(&public), &serves_at, Some("https://a.example"));
    is(&own, Some(&silent), &serves_at, Some("https://b.example"));
    is(&none, Some(&silent), &serves_at, Some("http://127.0.0.1:4001"));
    is(&none, Some(&silent), &None, None);
    is(&own, None, &serves_at, Some("https://b.example"));
    is(&none, None, &serves_at, Some("http://127.0.0.1:4001"));
    is(&none, None, &None, Some("http://127.0.0.1:8080"));
    is(&config(&[("listen", "127.0.0.1:0")]), None, &None, None);
}
