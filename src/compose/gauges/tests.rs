use schemas::hash::Hash;
use schemas::ids::Position;

use super::*;

#[test]
fn the_lag_of_the_relay_and_a_rebuilding_model_are_shown() {
    let (health, mut registry) = (Health::default(), Registry::default());
    let head = LogHead { position: Position(7), hash: Hash::GENESIS, relayed: Position(3) };
    let (_announcing, announced) = watch::channel(Some(head));
    register_log(&mut registry, announced);
    register_health(&mut registry, health.clone());
    register_models(&mut registry, health.clone());
    health.component("catalog rebuild").failed("its file is damaged");
    health.component(ModelKind::Search.component()).failed("its file is damaged");
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    for line in [
        "loggia_log_position 7",
        "loggia_relay_position 3",
        "loggia_relay_lag 4",
        "loggia_component_failing_seconds{component=\"catalog rebuild\"} 0",
        "loggia_model_refresh_failing{model=\"search\"} 1",
        "loggia_model_refresh_failing{model=\"catalog\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}
