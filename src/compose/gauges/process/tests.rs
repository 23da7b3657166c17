use super::*;

#[test]
fn the_process_and_its_disk_are_measured() {
    let (folder, mut registry) = (tempfile::tempdir().unwrap(), Registry::default());
    let (_sender, readiness) = watch::channel(Readiness::READY);
    register(&mut registry, "write", readiness, None);
    register_machine(&mut registry, folder.path().into(), Timestamp::UNIX_EPOCH);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let begin = format!("loggia_build_info{{version=\"{}\",commit=\"", VERSION);
    let build = text.lines().find(|line| line.starts_with(&begin)).unwrap();
    assert!(build.ends_with(",role=\"write\"} 1"), "{build}");
    for line in ["loggia_ready 1", "loggia_log_lines_lost_total 0"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    let value = |name: &str| {
        let sample = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        sample.map(|value| value.parse::<f64>().unwrap())
    };
    let (free, size) = (value("loggia_disk_free_bytes").unwrap(), value("loggia_disk_size_bytes").unwrap());
    assert!(0.0 <= free && free <= size && size > 0.0, "{text}");
    assert_eq!(value("process_start_time_seconds"), Some(0.0), "{text}");
    if cfg!(target_os = "linux") {
        for name in ["process_open_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes"] {
            assert!(value(name).is_some_and(|value| value > 0.0), "{name} is not in\n{text}");
        }
        assert!(value("process_cpu_seconds_total").is_some(), "{text}");
    }
}
