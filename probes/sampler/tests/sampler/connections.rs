//! Takes down real connections of this host's kernel.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::lab::{can, is_inside, stop, wait_for, Lab};

/// Connects to a new listener, and sends 5000 bytes.
fn connect(address: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(address).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[1; 5000]).unwrap();
    server.read_exact(&mut [0; 5000]).unwrap();
    (client, server)
}

#[test]
fn connections_have_a_row_when_they_end_and_the_others_at_the_end() {
    if !is_inside("connections::connections_have_a_row_when_they_end_and_the_others_at_the_end")
        || !can("ip link set lo up")
    {
        return;
    }
    let lab = Lab::new();
    let sampler = lab.start(r#""connections": {"output": "DIR/c.csv", "nodes": [{"name": "n"}]}"#);
    wait_for("c.csv", || lab.path("c.csv").exists());
    let (client, server) = connect("127.0.0.1:0");
    let open = connect("[::1]:0");
    drop(client);
    drop(server);
    lab.wait_for_rows("c.csv", |rows| rows.len() == 2);
    let summary = stop(sampler);
    let ports = open.0.local_addr().unwrap().port();
    drop(open);

    assert!(summary.starts_with("samples 0 late 0"), "{summary}");
    let rows = lab.rows("c.csv");
    let column =
        |number: usize| -> Vec<&str> { rows.iter().map(|row| row[number].as_str()).collect() };
    assert_eq!(column(6), ["ended", "ended", "open", "open"]);
    assert_eq!(column(2), ["127.0.0.1", "127.0.0.1", "::1", "::1"]);
    assert!(rows[..2].iter().all(|row| row[20].is_empty()), "{rows:?}");
    assert!(rows[2..].iter().all(|row| !row[20].is_empty()), "{rows:?}");
    for pair in rows.chunks(2) {
        let mut sent: Vec<&str> = pair.iter().map(|row| row[7].as_str()).collect();
        sent.sort_unstable();
        assert_eq!(sent, ["0", "5000"]);
    }
    assert!(rows[2..].iter().any(|row| row[3] == ports.to_string()));
    let times: Vec<i64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}
