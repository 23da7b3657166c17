//! Says to systemd how the process is, where a unit of `Type=notify` started it.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use crate::config;

/// Sends one assignment of `sd_notify(3)`, such as `READY=1`. Without a service manager nothing is done.
pub fn notify(state: &str) {
    let Some(socket) = config::notify_socket() else { return };
    if let Err(error) = send(&socket, state) {
        tracing::warn!(%error, "systemd cannot be notified ({state}); is NOTIFY_SOCKET right?");
    }
}

fn send(socket: &str, state: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    match socket.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            sender.send_to_addr(state.as_bytes(), &address)?;
        }
        _ => {
            sender.send_to(state.as_bytes(), Path::new(socket))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_datagram() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        send(path.to_str().unwrap(), "READY=1").unwrap();
        let mut bytes = [0; 32];
        let length = manager.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..length], b"READY=1");
        assert!(send("/no/such/socket", "READY=1").is_err());
    }
}
