use super::*;
use crate::fixtures::{CUBIC_SOCKET, DCTCP_SOCKET};
use std::mem::size_of;

#[test]
fn a_dctcp_sender_is_as_ss_showed_it() {
    let socket = read_socket(&DCTCP_SOCKET).unwrap();
    assert_eq!(socket.mark, 42);
    let connection = socket.connection;
    let shown = [
        32,
        31,
        637,
        93,
        101,
        201_000,
        32,
        0,
        0,
        0,
        0,
        8253,
        747,
        697_492_120,
        438_636_832,
        11_948_001,
    ];
    assert_eq!(connection.numbers, shown.map(Some));
    assert_eq!(
        (
            connection.state(),
            connection.ca_state(),
            connection.congestion()
        ),
        ("established", "open", "dctcp")
    );
    assert_eq!(connection.alpha(), Some(88.0 / 1024.0));
}

#[test]
fn a_cubic_sender_has_no_alpha() {
    let socket = read_socket(&CUBIC_SOCKET).unwrap();
    let shown = [
        24,
        23,
        527,
        45,
        100,
        201_000,
        24,
        0,
        0,
        71,
        0,
        8250,
        0,
        632_453_456,
        478_512_904,
        11_943_105,
    ];
    assert_eq!(socket.connection.numbers, shown.map(Some));
    assert_eq!(socket.connection.congestion(), "cubic");
    assert_eq!(socket.connection.alpha(), None);
}

#[test]
fn the_structure_is_as_long_as_the_kernels() {
    let mut length = 0;
    for (attribute, value) in attributes(&CUBIC_SOCKET[DIAG_HEADER_BYTES..]) {
        if attribute == INET_DIAG_INFO {
            length = value.len();
        }
    }
    assert_eq!(length, size_of::<TcpInfo>());
}

#[test]
fn an_older_kernels_shorter_structure_leaves_the_rest_absent() {
    let info = vec![1; offset_of!(TcpInfo, total_rto)];
    let numbers = numbers(&info);
    assert_eq!(numbers[10], None, "timeouts came with Linux 6.7");
    assert_eq!(numbers.iter().filter(|number| number.is_none()).count(), 1);
}

#[test]
fn infinite_unknown_and_unlimited_are_absent() {
    let mut info = vec![0; size_of::<TcpInfo>()];
    info[offset_of!(TcpInfo, snd_ssthresh)..][..4].copy_from_slice(&0x7fff_ffff_u32.to_ne_bytes());
    info[offset_of!(TcpInfo, min_rtt)..][..4].copy_from_slice(&u32::MAX.to_ne_bytes());
    info[offset_of!(TcpInfo, pacing_rate)..][..8].copy_from_slice(&u64::MAX.to_ne_bytes());
    let numbers = numbers(&info);
    assert_eq!((numbers[1], numbers[4], numbers[13]), (None, None, None));
    assert_eq!((numbers[0], numbers[14]), (Some(0), Some(0)));
}

#[test]
fn dctcp_without_ecn_has_no_alpha() {
    assert_eq!(read_alpha(&[0, 0, 0, 0, 255, 0, 0, 0]), None);
    assert_eq!(read_alpha(&[1, 0, 0, 0, 255, 0, 0, 0]), Some(255));
}

#[test]
fn what_has_no_tcp_info_is_no_connection() {
    assert!(read_socket(&DCTCP_SOCKET[..DIAG_HEADER_BYTES]).is_none());
    assert!(read_socket(&[]).is_none());
}
