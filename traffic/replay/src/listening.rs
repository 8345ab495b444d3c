//! The TCP ports on which this network namespace listens, as /proc/net/tcp and tcp6 tell (proc(5)).

use std::collections::BTreeSet;
use std::io;

const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/// TCP_LISTEN of include/net/tcp_states.h, as it is written there.
const LISTEN: &str = "0A";

pub fn ports() -> io::Result<BTreeSet<u16>> {
    let mut ports = BTreeSet::new();
    for table in TABLES {
        match std::fs::read_to_string(table) {
            Ok(text) => ports.extend(text.lines().skip(1).filter_map(port_of)),
            // A kernel without IPv6 has no second table.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ports)
}

/// The port of a line `sl local_address rem_address st ...` whose socket listens.
fn port_of(line: &str) -> Option<u16> {
    let mut fields = line.split_whitespace().skip(1);
    let local = fields.next()?;
    let state = fields.nth(1)?;
    let (_, port) = local.rsplit_once(':')?;
    (state == LISTEN).then(|| u16::from_str_radix(port, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_told_from_a_connection() {
        let line = "   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000";
        assert_eq!(port_of(line), Some(6379));
        assert_eq!(port_of(&line.replace(" 0A ", " 01 ")), None);
        assert_eq!(port_of("garbage"), None);
    }

    #[test]
    fn an_open_port_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(ports().unwrap().contains(&port));
    }
}
