use std::time::Duration;

use super::*;

#[tokio::test]
async fn connections_are_queued_until_they_are_accepted() {
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    // The usual length of a queue, 128, would make the next one wait without end.
    let wanted = 400.min(most);
    let mut open = Vec::new();
    for number in 0..wanted {
        let connecting = tokio::net::TcpStream::connect(address);
        let connected = tokio::time::timeout(Duration::from_secs(120), connecting).await;
        open.push(connected.unwrap_or_else(|_| panic!("{number} are open")).unwrap());
    }
    assert_eq!(open.len(), wanted);
}
