use super::*;

const FLAG_CAPABLE_LOCAL: u32 = 1 << 1;

fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (4 + payload.len() as u16).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// INET_DIAG_ULP_INFO as `tcp_diag_put_ulp` and `subflow_get_info` fill it, without what is not read.
fn ulp(flags: u32, local_id: u8, remote_id: u8) -> Vec<u8> {
    let mut info = attribute(2, &[7; 4]);
    info.extend(attribute(ATTRIBUTE_FLAGS, &flags.to_ne_bytes()));
    info.extend(attribute(ATTRIBUTE_REMOTE_ID, &[remote_id]));
    info.extend(attribute(ATTRIBUTE_LOCAL_ID, &[local_id]));
    let mut bytes = attribute(1, b"mptcp\0");
    bytes.extend(attribute(INET_ULP_INFO_MPTCP, &info));
    bytes
}

/// `struct inet_diag_msg` of a socket from 10.0.0.1:40000 to 10.0.1.1:7001.
fn header() -> Vec<u8> {
    let mut bytes = vec![0; 72];
    bytes[FAMILY_OFFSET] = libc::AF_INET as u8;
    bytes[LOCAL_PORT_OFFSET..][..2].copy_from_slice(&40000u16.to_be_bytes());
    bytes[REMOTE_PORT_OFFSET..][..2].copy_from_slice(&7001u16.to_be_bytes());
    bytes[LOCAL_ADDRESS_OFFSET..][..4].copy_from_slice(&[10, 0, 0, 1]);
    bytes[REMOTE_ADDRESS_OFFSET..][..4].copy_from_slice(&[10, 0, 1, 1]);
    bytes
}

fn read(flags: u32, local_id: u8, remote_id: u8) -> Option<Subflow> {
    Subflow::read(&header(), &ulp(flags, local_id, remote_id))
}

pub fn of_local_address(id: u8) -> Subflow {
    let flags = if id == 0 {
        FLAG_CAPABLE_REMOTE
    } else {
        FLAG_JOIN_REMOTE
    };
    read(flags | FLAG_CONNECTED, id, 0).unwrap()
}

#[test]
fn a_path_is_its_two_ends() {
    let subflow = read(FLAG_CAPABLE_LOCAL, 0, 0).unwrap();
    assert_eq!(subflow.path.to_string(), "10.0.0.1:40000-10.0.1.1:7001");
}

#[test]
fn an_ipv4_connection_of_an_ipv6_socket_is_written_as_ipv4() {
    let mut header = header();
    header[FAMILY_OFFSET] = libc::AF_INET6 as u8;
    let mapped = "::ffff:10.0.0.1".parse::<std::net::Ipv6Addr>().unwrap();
    header[LOCAL_ADDRESS_OFFSET..][..16].copy_from_slice(&mapped.octets());
    header[REMOTE_ADDRESS_OFFSET..][..16].copy_from_slice(&[0xfd; 16]);
    let path = Path::read(&header).unwrap().to_string();
    assert!(path.starts_with("10.0.0.1:40000-[fdfd:"), "{path}");
}

#[test]
fn subflows_that_are_seen_together_are_the_first_one_and_then_those_of_address_identifiers() {
    let first = read(FLAG_CAPABLE_LOCAL | FLAG_CAPABLE_REMOTE, 0, 0);
    let joined = |local, remote| read(FLAG_JOIN_LOCAL, local, remote);
    let mut subflows = [joined(2, 1), joined(1, 3), first, joined(1, 0)];
    subflows.sort();
    assert_eq!(subflows, [first, joined(1, 0), joined(1, 3), joined(2, 1)]);
}

#[test]
fn what_came_to_be_plain_tcp_is_no_subflow() {
    let asked = FLAG_CAPABLE_LOCAL;
    assert!(read(asked, 0, 0).is_some(), "nobody has answered yet");
    assert!(read(asked | FLAG_CONNECTED, 0, 0).is_none());
    assert!(read(asked | FLAG_CONNECTED | FLAG_CAPABLE_REMOTE, 0, 0).is_some());
    assert!(read(FLAG_JOIN_REMOTE | FLAG_CONNECTED, 0, 1).is_some());
    assert!(Subflow::read(&header(), &attribute(1, b"tls\0")).is_none());
}

#[test]
fn a_subflow_keeps_its_number_and_nobody_gets_it_again() {
    let mut numbering = Numbering::default();
    let numbers = |numbering: &mut Numbering, sockets: &[(u32, u64)]| -> Vec<u32> {
        sockets
            .iter()
            .map(|(mark, cookie)| numbering.number(*mark, *cookie))
            .collect()
    };
    assert_eq!(
        numbers(&mut numbering, &[(5, 90), (5, 30), (6, 40)]),
        [0, 1, 0]
    );
    assert_eq!(numbers(&mut numbering, &[(5, 30), (5, 90)]), [1, 0]);
    numbering.forget(30);
    numbering.forget(90);
    assert_eq!(numbers(&mut numbering, &[(5, 7), (6, 40)]), [2, 0]);
}
