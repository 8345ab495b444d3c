use std::collections::HashSet;
use std::mem::offset_of;

use super::*;

const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

#[test]
fn structures_and_requests_are_the_kernels() {
    assert_eq!((size_of::<Connect>(), size_of::<Post>()), (16, 24));
    assert_eq!(
        (offset_of!(Connect, pair), offset_of!(Connect, source_port)),
        (4, 12)
    );
    assert_eq!(
        (
            offset_of!(Post, bytes),
            offset_of!(Post, pair),
            offset_of!(Post, operation)
        ),
        (8, 16, 20)
    );
    assert_eq!((CONNECT, POST), (0x4010_7201, 0x4018_7202));
}

#[test]
fn both_ends_have_the_same_number_and_port() {
    let (one, other) = (
        Connect::of(6, HOSTS[1], HOSTS),
        Connect::of(6, HOSTS[0], HOSTS),
    );
    assert_eq!((one.pair, one.peer_pair, one.peer), (7, 7, [10, 0, 0, 2]));
    assert_eq!(
        Connect {
            peer: one.peer,
            ..other
        },
        one
    );
    assert_ne!(source_port(6, HOSTS), source_port(6, [HOSTS[1], HOSTS[0]]));
}

#[test]
fn ports_of_flows_are_spread() {
    let ports: HashSet<_> = (0..10_000).map(|flow| source_port(flow, HOSTS)).collect();
    assert!(ports.iter().all(|&port| port >= 0xC000));
    // Of 16,384 ports, 10,000 random ones are 7,486 in the mean, with a deviation of about 38.
    assert!((7_300..7_700).contains(&ports.len()), "{}", ports.len());
    for links in [2, 3, 4, 8] {
        let on_first = (0..10_000)
            .filter(|&flow| source_port(flow, HOSTS) % links == 0)
            .count();
        let fair = 10_000 / usize::from(links);
        assert!(on_first.abs_diff(fair) < 200, "{on_first} of {links} links");
    }
}

fn completion(kind: u16, status: u16) -> Completion {
    let mut bytes = [0; COMPLETION_BYTES];
    bytes[..8].copy_from_slice(&5_000_000_123_u64.to_ne_bytes());
    bytes[8..16].copy_from_slice(&4_000_000_000_u64.to_ne_bytes());
    bytes[16..24].copy_from_slice(&99_u64.to_ne_bytes());
    bytes[24..32].copy_from_slice(&4096_u64.to_ne_bytes());
    bytes[32..36].copy_from_slice(&7_u32.to_ne_bytes());
    bytes[36..38].copy_from_slice(&kind.to_ne_bytes());
    bytes[38..40].copy_from_slice(&status.to_ne_bytes());
    for (place, count) in [(40, 3_u32), (44, 1), (48, 20), (52, 9)] {
        bytes[place..place + 4].copy_from_slice(&count.to_ne_bytes());
    }
    Completion::of(&bytes)
}

#[test]
fn a_completion_is_read_as_the_kernel_writes_it() {
    let received = Completion {
        time_ns: 5_000_000_123,
        first_ns: Some(4_000_000_000),
        bytes: 4096,
        flow: 6,
        event: Event::Received,
        counters: Counters {
            sent_again: 3,
            timeouts: 1,
            notifications: 20,
        },
    };
    assert_eq!(completion(1, 0), received);
    assert_eq!(completion(0, 0).event, Event::Sent);
    assert_eq!(completion(2, 0).event, Event::Answered);
    assert_eq!(completion(0, 1).event, Event::Failed(libc::ETIMEDOUT));
    assert_eq!(completion(0, 2).event, Event::Failed(libc::ECONNABORTED));
}
