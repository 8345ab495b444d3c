use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use netlink::Socket;

use super::*;
use crate::fixtures::{CUBIC_SOCKET, DCTCP_SOCKET};

/// Where `struct inet_diag_msg` has the peer's port.
const PEER_PORT: std::ops::Range<usize> = 6..8;

fn written(payload: &[u8], state: State) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.csv");
    let mut series = Series::create(&path, FORMAT.0, FORMAT.1).unwrap();
    let row = read_connection(payload).unwrap();
    row.write(&mut series, -5, "h1", state).unwrap();
    series.flush().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_connection_is_a_row_of_the_format() {
    let text = written(&CUBIC_SOCKET, State::Open);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# fabriclab-connections-1");
    assert_eq!(
        lines[2],
        "-5,h1,10.1.0.2,49566,10.2.0.2,7000,open,\
         12079496,11943105,0,8346,4261,71,101640,0,0,8250,0,100,527,cubic"
    );
    assert_eq!(lines[1].split(',').count(), lines[2].split(',').count());
}

#[test]
fn marks_are_told_and_a_socket_that_is_gone_has_no_congestion_control() {
    // The last three attributes, 16 + 20 bytes, are what only a dump has.
    let gone = &DCTCP_SOCKET[..DCTCP_SOCKET.len() - 32];
    let text = written(gone, State::Ended);
    let row = text.lines().nth(2).unwrap();
    assert!(
        row.starts_with("-5,h1,10.1.0.2,49570,10.2.0.2,7000,ended,"),
        "{row}"
    );
    assert!(row.ends_with(",8253,747,101,637,"), "{row}");
}

#[test]
fn what_has_no_peer_or_listens_is_no_connection() {
    let mut without_peer = CUBIC_SOCKET.to_vec();
    without_peer[PEER_PORT].fill(0);
    assert_eq!(read_connection(&without_peer), None);
    let info = CUBIC_SOCKET
        .windows(4)
        .position(|bytes| bytes == [252, 0, 2, 0])
        .unwrap();
    let mut listening = CUBIC_SOCKET.to_vec();
    listening[info + 4] = 10;
    assert_eq!(read_connection(&listening), None);
    assert_eq!(read_connection(&CUBIC_SOCKET[..72]), None);
    assert_eq!(read_connection(&[]), None);
}

/// A socket that hears of this process's connections. Without CAP_NET_ADMIN its buffer stays small.
fn hearing() -> Socket {
    let socket = Socket::open(Protocol::SockDiag).unwrap();
    socket.count_losses_silently().unwrap();
    socket.bind().unwrap();
    socket.join(SKNLGRP_INET_TCP_DESTROY).unwrap();
    socket.join(SKNLGRP_INET6_TCP_DESTROY).unwrap();
    socket
}

/// Opens connections to `listener` one after the other, sends `bytes` on each and closes both ends.
fn connect(listener: &TcpListener, connections: usize, bytes: usize) {
    for _ in 0..connections {
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&vec![1; bytes]).unwrap();
        drop(client);
        server.read_to_end(&mut Vec::new()).unwrap();
    }
}

fn ports(row: &ConnectionRow) -> [u16; 2] {
    [row.path.local.port(), row.path.remote.port()]
}

#[test]
fn the_kernel_tells_of_both_ends_once_they_are_gone() {
    let (socket, listener) = (hearing(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    connect(&listener, 3, 1000);
    let mut rows: Vec<ConnectionRow> = Vec::new();
    // The kernel's own thread tells; a loaded machine lets it wait.
    for _ in 0..1000 {
        drain(&socket, &mut Inbox::new(8, MESSAGE_BYTES), |row| {
            rows.extend(ports(&row).contains(&port).then_some(row));
            Ok(())
        })
        .unwrap();
        if rows.len() >= 6 {
            break;
        }
        std::thread::sleep(LAST_WAIT);
    }
    assert_eq!(rows.len(), 6);
    let (server, client): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row.path.local.port() == port);
    assert_eq!((server.len(), client.len()), (3, 3));
    // `bytes_sent` are the data alone; FIN counts as a byte in `bytes_received`.
    assert!(client.iter().all(|row| row.numbers[0] == Some(1000)));
    assert!(server.iter().all(|row| row.numbers[2] == Some(1001)));
}

#[test]
fn what_the_kernel_has_no_room_for_is_counted() {
    let (socket, listener) = (hearing(), TcpListener::bind("127.0.0.1:0").unwrap());
    // A default buffer holds some 200 kilobytes.
    connect(&listener, 1000, 1);
    for _ in 0..1000 {
        if socket.losses().unwrap() > 0 {
            break;
        }
        std::thread::sleep(LAST_WAIT);
    }
    let lost = socket.losses().unwrap();
    assert!(lost > 0);
    let mut told = 0;
    drain(&socket, &mut Inbox::new(32, MESSAGE_BYTES), |_| {
        told += 1;
        Ok(())
    })
    .unwrap();
    assert!(told > 0, "an overrun is no error");
    assert_eq!(
        loss(3, "h1"),
        "connections: 3 sockets of h1 that were closed are missing: they came faster than they were read"
    );
}
