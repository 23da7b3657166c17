use super::*;

#[test]
fn connections_leave_the_process_its_own_files() {
    let of = |files| connections(files, 10_000).map_err(|error| error.to_string());
    assert_eq!([512, 1_024, 10_256, 1 << 20].map(of), [Ok(256), Ok(768), Ok(10_000), Ok(10_000)]);
    let error = of(511).unwrap_err();
    assert!(error.starts_with("this process may have 511 files open, and needs 512;"), "{error}");
}
