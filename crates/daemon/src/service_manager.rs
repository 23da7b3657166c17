//! Notifies systemd of the state of the process, if a unit of `Type=notify` started it.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// Sends one assignment of `sd_notify(3)`, such as `READY=1`, to the socket that the variable `NOTIFY_SOCKET` names: a path, or
/// a name in the abstract namespace that begins with `@`.
///
/// # Errors
///
/// Fails if nothing listens on the socket.
pub fn notify(socket: &str, state: &str) -> io::Result<()> {
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
        notify(path.to_str().unwrap(), "READY=1").unwrap();
        let mut bytes = [0; 32];
        let length = manager.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..length], b"READY=1");
        assert!(notify("/no/such/socket", "READY=1").is_err());
    }
}
