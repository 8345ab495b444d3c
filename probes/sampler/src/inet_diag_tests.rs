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
fn a_queue_pair_has_the_columns_that_a_nic_knows() {
    let mut pair = Vec::new();
    for word in [40_000_000_000u64, 123_456, 67_108_864] {
        pair.extend(word.to_ne_bytes());
    }
    for count in [31u32, 7, 2, 1000, 5, u32::MAX / 4, 1, 0] {
        pair.extend(count.to_ne_bytes());
    }
    let mut numbers = [None; NUMBERS];
    numbers[5..7].copy_from_slice(&[Some(67_108), Some(31)]);
    numbers[9..14].copy_from_slice(&[Some(7), Some(2), Some(1000), Some(5), Some(40_000_000_000)]);
    numbers[15] = Some(123_456);
    assert_eq!(numbers_of_pair(&pair), numbers);
    assert!((pair_alpha(&pair).unwrap() - 0.25).abs() < 1e-9);
    pair[48..52].fill(0);
    assert_eq!(pair_alpha(&pair), None, "no control");
}

#[test]
fn dctcp_without_ecn_has_no_alpha() {
    assert_eq!(read_alpha(&[0, 0, 0, 0, 255, 0, 0, 0]), None);
    assert_eq!(
        read_alpha(&[1, 0, 0, 0, 255, 0, 0, 0]),
        Some(255.0 / 1024.0)
    );
}

#[test]
fn what_has_no_tcp_info_is_no_connection() {
    assert!(read_socket(&DCTCP_SOCKET[..DIAG_HEADER_BYTES]).is_none());
    assert!(read_socket(&[]).is_none());
}
