use super::*;
use crate::switch::fixtures::{EVENT_BEGINS, EVENT_ENDS};

#[test]
fn an_event_begins_and_ends() {
    let begins = Event {
        interface_index: 5,
        queue: 0,
        start_ns: 20_386_129,
        end_ns: None,
        peak_bytes: 30_280,
        ingress: vec![(3, 19_682), (4, 10_598)],
    };
    assert_eq!(read_event(&EVENT_BEGINS), Some(begins));
    let ends = Event {
        interface_index: 5,
        queue: 0,
        start_ns: 20_386_129,
        end_ns: Some(23_479_857),
        peak_bytes: 59_046,
        ingress: vec![(3, 60_560), (4, 27_252)],
    };
    assert_eq!(read_event(&EVENT_ENDS), Some(ends));
}

#[test]
fn what_is_cut_short_is_no_event_or_one_of_this_queue() {
    for length in 0..EVENT_ENDS.len() {
        let event = read_event(&EVENT_ENDS[..length]);
        assert!(
            event.is_none_or(|event| event.interface_index == 5 && event.start_ns == 20_386_129)
        );
    }
    assert_eq!(read_event(&EVENT_ENDS[..24]), None);
}

#[test]
fn another_command_is_no_event() {
    let mut other = EVENT_ENDS;
    other[0] = 2;
    assert_eq!(read_event(&other), None);
}
