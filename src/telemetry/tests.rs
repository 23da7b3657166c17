use super::*;

fn shown(filter: &str) -> String {
    filtered(&LogFilter(filter.to_owned())).unwrap().to_string()
}

#[test]
fn clients_are_logged_only_if_the_filter_wants_them() {
    assert!(shown("info").contains("kurrentdb=off"), "{}", shown("info"));
    assert!(shown("debug,sqlx=warn").contains("kurrentdb=off"));
    assert!(!shown("info,kurrentdb=debug").contains("kurrentdb=off"));
    assert!(shown("info,kurrentdb=debug").contains("tantivy=error"));
    assert!(!shown("tantivy=debug").contains("tantivy=error"));
    assert!(shown("info").contains("async_nats=warn"));
    assert!(!shown("trace").contains("async_nats=warn"));
}

#[test]
fn the_packages_of_loggia_have_its_level() {
    let parts = shown("warn,loggia=info,api=debug");
    assert!(parts.contains("write=info") && parts.contains("api=debug"), "{parts}");
    assert!(!parts.contains("api=info"), "{parts}");
}

#[test]
fn every_package_that_logs_is_named() {
    let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let paths = members.iter().filter_map(|member| member.as_str());
    let names = paths.filter(|path| !path.starts_with("tests")).filter_map(|path| path.rsplit('/').next());
    let unnamed: Vec<&str> = names.filter(|name| !PACKAGES.contains(name)).collect();
    assert_eq!(unnamed, [""; 0]);
}
