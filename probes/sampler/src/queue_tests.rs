use super::*;
use crate::fixtures::{BFIFO, CODEL, FQ_CODEL, NETEM, RED_DROPPING, RED_ECN, TBF};
use netlink::{messages, Reply};

/// What `fabriclab` tells of these kinds.
fn counters() -> MarkCounters {
    let at = |at, bytes| Counter {
        at,
        bytes,
        within: Vec::new(),
    };
    let four = |offsets: &[usize]| {
        let each = offsets.iter();
        each.map(|offset| at(*offset, CounterBytes::Four)).collect()
    };
    HashMap::from([
        ("bfifo".to_owned(), Vec::new()),
        ("red".to_owned(), four(&[12])),
        ("codel".to_owned(), four(&[24, 32])),
        ("fq_codel".to_owned(), four(&[12, 28])),
        ("switch_port".to_owned(), vec![at(0, CounterBytes::Eight)]),
    ])
}

/// What `tc -s qdisc` showed: bytes, packets, drops, marks, sent bytes, sent packets, overlimits.
fn assert_reads(answer: &[u8], shown: [u64; VALUES]) {
    assert_eq!(read_queue(answer, &counters()), Some(shown.map(Some)));
}

#[test]
fn red_counts_its_marks() {
    assert_reads(&RED_ECN, [24224, 16, 0, 750, 12498828, 8258, 750]);
}

#[test]
fn red_counts_an_early_drop_once() {
    // tc: early 55, pdrop 0, dropped 55.
    assert_reads(&RED_DROPPING, [15140, 10, 55, 0, 12498612, 8258, 55]);
}

#[test]
fn codel_and_fq_codel_count_their_marks() {
    assert_reads(&CODEL, [10598, 7, 0, 670, 12491596, 8256, 0]);
    assert_reads(&FQ_CODEL, [16654, 11, 0, 680, 12497522, 8257, 0]);
}

#[test]
fn qdiscs_that_cannot_mark_have_no_marks() {
    assert_reads(&BFIFO, [18168, 12, 71, 0, 12493734, 8255, 0]);
}

#[test]
fn what_holds_other_qdiscs_does_not_know_their_marks() {
    for holder in [&NETEM[..], &TBF[..]] {
        assert_eq!(read_queue(holder, &counters()).unwrap()[MARKS], None);
    }
}

#[test]
fn the_marks_of_the_qdiscs_below_are_the_ports() {
    let marked = |count| Some([Some(9), Some(9), Some(9), count, Some(9), Some(9), Some(9)]);
    let sum = |parts: &[Option<Values<VALUES>>]| {
        let mut values = [Some(1); VALUES];
        values[MARKS] = None;
        QueueQuery::add_parts(&mut values, &mut parts.iter().copied());
        assert_eq!(values[..MARKS], [Some(1); MARKS], "all else is its own");
        values[MARKS]
    };
    assert_eq!(sum(&[marked(Some(1100)), marked(Some(2))]), Some(1102));
    assert_eq!(sum(&[]), Some(0), "nothing below it marks");
    assert_eq!(sum(&[marked(Some(1100)), marked(None)]), None);
    assert_eq!(
        sum(&[marked(Some(1100)), None]),
        None,
        "one of them is gone"
    );
}

#[test]
fn a_qdisc_that_we_do_not_know_has_unknown_marks() {
    assert_eq!(marks(&counters(), b"gred", &[0; 64]), None);
}

#[test]
fn counters_of_a_kernel_with_shorter_statistics_are_unknown_and_not_zero() {
    assert_eq!(marks(&counters(), b"codel", &[1; 28]), None);
    assert_eq!(marks(&counters(), b"red", &[]), None);
}

/// An attribute of netlink: its length, its number, what it holds, which fills whole words here.
fn attribute(number: u16, content: &[u8]) -> Vec<u8> {
    let length = (content.len() + 4) as u16;
    [&length.to_ne_bytes(), &number.to_ne_bytes(), content].concat()
}

#[test]
fn marks_in_nested_attributes_are_added_over_all_of_a_level() {
    let counter = Counter {
        at: 0,
        bytes: CounterBytes::Four,
        within: vec![Some(10), None, Some(8)],
    };
    let counters = HashMap::from([("cake".to_owned(), vec![counter])]);
    let tin = |number, marks: u32| {
        let sent = attribute(2, &77u32.to_ne_bytes());
        let marked = attribute(8, &marks.to_ne_bytes());
        attribute(number, &[sent, marked].concat())
    };
    let memory = attribute(3, &5u32.to_ne_bytes());
    let tins = attribute(10, &[tin(1, 3), tin(2, 40)].concat());
    let own = [memory.clone(), tins].concat();
    assert_eq!(marks(&counters, b"cake", &own), Some(43));
    assert_eq!(marks(&counters, b"cake", &memory), None);
}

#[test]
fn an_answer_that_is_cut_short_is_read_whole_or_not_at_all() {
    let counters = counters();
    let whole = read_queue(&RED_ECN, &counters);
    let read: Vec<_> = (0..RED_ECN.len())
        .map(|length| read_queue(&RED_ECN[..length], &counters))
        .collect();
    assert!(read
        .iter()
        .all(|values| values.is_none() || *values == whole));
    assert_eq!(read[RED_ECN.len() / 2], None);
}

#[test]
fn a_request_names_interface_and_handle_and_asks_for_an_echo() {
    let mut buffer = Vec::new();
    let handle = Handle::try_from("1f:".to_owned()).unwrap();
    let marks = Rc::new(counters());
    QueueQuery { handle, marks }.request(7, 3, &mut buffer);
    let message = messages(&buffer).next().unwrap().unwrap();
    assert_eq!((message.kind, message.sequence), (libc::RTM_GETQDISC, 3));
    assert_eq!(message.reply(), Reply::Data(&qdisc_header(7, 0x1f_0000)));
    let flags = u32_at(&buffer, 4).unwrap() >> 16;
    assert_eq!(flags as i32, libc::NLM_F_REQUEST | libc::NLM_F_ECHO);
}

#[test]
fn a_switch_port_counts_its_marks_in_64_bits() {
    assert_reads(
        &crate::switch::fixtures::QDISC,
        [59_046, 39, 42, 25, 3_028, 2, 25],
    );
    assert_eq!(
        marks(&counters(), b"switch_port", &(1u64 << 40).to_ne_bytes()),
        Some(1 << 40)
    );
}
