use super::*;
use crate::fixtures::BFIFO;
use crate::switch::fixtures::{GROUP, QDISC, QUEUE};

/// What a port tells of itself and of each class, all in one reading.
fn reading() -> Reading {
    let mut reading = Reading::default();
    reading.take_qdisc(&QDISC);
    reading.take_class(&QUEUE);
    reading.take_class(&GROUP);
    reading
}

#[test]
fn a_port_and_its_pools_are_what_the_kernel_told() {
    let reading = reading();
    assert_eq!(reading.port, Some([25, 42, 0, 0, 1].map(Some)));
    assert_eq!(
        reading.pools,
        [
            Some([100_000, 0, 87_812, 87_812, 3_028, 3_028].map(Some)),
            None,
            Some([7_000, 0, 0, 0, 0, 0].map(Some)),
            None
        ]
    );
}

#[test]
fn queues_and_groups_are_what_the_kernel_told() {
    let reading = reading();
    let queue = [
        59_046, 39, 59_046, 3_028, 2, 42, 0, 0, 0, 0, 0, 0, 25, 0, 1, 949_328, 0,
    ];
    assert_eq!(reading.queues[0], Some(queue.map(Some)));
    assert_eq!(reading.queues[1..], [None; QUEUES - 1]);
    let group = [31_794, 3_028, 31_794, 34_822, 23, 0, 1, 729_312];
    assert_eq!(reading.groups[0], Some(group.map(Some)));
    assert_eq!(reading.groups[1..], [None; QUEUES - 1]);
}

/// `message` with another class's number, and with the words 100, 101, ... as its statistics.
fn counted(message: &[u8], handle: u32, words: u64) -> Vec<u8> {
    let mut other = message[..QDISC_HEADER_BYTES].to_vec();
    other[HANDLE_OFFSET..][..4].copy_from_slice(&handle.to_ne_bytes());
    let own: Vec<u8> = (100..100 + words).flat_map(u64::to_ne_bytes).collect();
    let statistics = attribute(TCA_STATS_APP, &own);
    other.extend(attribute(libc::TCA_KIND, b"switch_port\0"));
    other.extend(attribute(libc::TCA_STATS2, &statistics));
    other
}

fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    let length = 4 + payload.len() as u16;
    [&length.to_ne_bytes(), &kind.to_ne_bytes(), payload].concat()
}

#[test]
fn each_column_has_its_own_word() {
    let mut reading = Reading::default();
    reading.take_qdisc(&counted(&QDISC, 0x1_0000, 31));
    reading.take_class(&counted(&QUEUE, 0x1_0008, 18));
    reading.take_class(&counted(&GROUP, 0x1_0018, 8));
    assert_eq!(reading.port, Some([100, 101, 105, 102, 103].map(Some)));
    assert_eq!(
        reading.pools[3],
        Some([125, 126, 127, 128, 129, 130].map(Some))
    );
    let queue = [
        100, 101, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117,
    ];
    assert_eq!(reading.queues[7], Some(queue.map(Some)));
    let group = [100, 101, 102, 103, 104, 105, 106, 107];
    assert_eq!(reading.groups[7], Some(group.map(Some)));
}

#[test]
fn structures_of_another_kernel_may_be_longer_or_shorter() {
    let mut reading = Reading::default();
    reading.take_class(&counted(&QUEUE, 0x1_0001, 30));
    reading.take_class(&counted(&QUEUE, 0x1_0002, 16));
    assert_eq!(reading.queues[0].map(|queue| queue[16]), Some(Some(117)));
    let short = reading.queues[1].unwrap();
    assert_eq!(short[14..], [Some(115), None, None]);
}

#[test]
fn another_qdisc_and_other_classes_are_not_read() {
    let mut reading = Reading::default();
    reading.take_qdisc(&BFIFO);
    for class in [0, 0x9, 0x10, 0x19, 0xffff] {
        reading.take_class(&counted(&QUEUE, 0x1_0000 + class, 18));
    }
    assert_eq!(reading, Reading::default());
}

#[test]
fn an_answer_that_is_cut_short_is_read_whole_or_not_at_all() {
    let whole = reading();
    for length in 0..QUEUE.len() {
        let mut cut = Reading::default();
        cut.take_class(&QUEUE[..length]);
        assert!(
            cut.queues[0].is_none() || cut.queues[0] == whole.queues[0],
            "{length}"
        );
    }
}

#[test]
fn a_threshold_for_events_is_seen() {
    assert!(reading().has_events);
    let mut reading = Reading::default();
    reading.take_class(&counted(&QUEUE, 0x1_0001, 18));
    assert!(!reading.has_events);
}

/// A record of the kernel's own samples.
fn part(kind: u32, number: u32, words: u64) -> Vec<u8> {
    let heads = [kind, number].into_iter().flat_map(u32::to_ne_bytes);
    heads
        .chain((100..100 + words).flat_map(u64::to_ne_bytes))
        .collect()
}

#[test]
fn what_the_kernel_records_is_what_netlink_tells() {
    let mut told = Reading::default();
    told.take_qdisc(&counted(&QDISC, 0x1_0000, 31));
    told.take_class(&counted(&QUEUE, 0x1_0008, 18));
    told.take_class(&counted(&GROUP, 0x1_0018, 8));
    let mut recorded = Reading::default();
    recorded.take_part(&part(PART_PORT, 0, 31));
    recorded.take_part(&part(PART_QUEUE, 7, 18));
    recorded.take_part(&part(PART_GROUP, 7, 8));
    assert_eq!(recorded, told);
}

#[test]
fn a_part_that_is_gone_has_no_statistics() {
    let mut reading = Reading::default();
    for kind in [PART_PORT, PART_QUEUE, PART_GROUP] {
        reading.take_part(&part(kind, 0, 31));
        reading.take_part(&part(kind, 0, 0));
    }
    assert_eq!(reading, Reading::default());
}

#[test]
fn a_record_that_is_none_is_passed_over() {
    let mut reading = Reading::default();
    for record in [part(PART_QUEUE, 8, 18), part(3, 0, 18), Vec::new()] {
        reading.take_part(&record);
    }
    assert_eq!(reading, Reading::default());
}

#[test]
fn the_numbers_of_parts_are_those_of_the_kernels_header() {
    let header = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../images/machine/kernel/tree/include/uapi/linux/fabriclab_samples.h"
    ));
    for (name, number) in [
        ("PORT", PART_PORT),
        ("QUEUE", PART_QUEUE),
        ("GROUP", PART_GROUP),
    ] {
        let line = format!("\tSAMPLES_PART_{name} = {number},\n");
        assert!(header.contains(&line), "{name}");
    }
}
