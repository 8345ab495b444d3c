use super::*;

const EPOCH_NS: u64 = 1_000;

fn event(interface_index: u32, queue: u8, start_ns: u64, end_ns: Option<u64>) -> Event {
    Event {
        interface_index,
        queue,
        start_ns,
        end_ns,
        peak_bytes: 500 + start_ns,
        ingress: vec![(0, 60), (7, 12_345)],
    }
}

fn names() -> Names {
    let interfaces = [(5, "eth1"), (6, "eth2"), (7, "eth3")];
    Names {
        ports: [("eth1", "s1:eth1"), ("eth2", "s1:eth2")]
            .map(|(interface, port)| (interface.to_owned(), port.to_owned()))
            .into(),
        interfaces: interfaces
            .map(|(index, name)| (index, name.to_owned()))
            .into(),
    }
}

/// The rows that come of these messages, with those of events that are still on behind them.
fn rows(messages: Vec<Event>) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.csv");
    let mut journal = Journal::create(&path, EPOCH_NS).unwrap();
    let mut open = OpenEvents::default();
    for message in messages {
        journal.take(message, &mut open, &names()).unwrap();
    }
    journal.close(&mut open, &names()).unwrap();
    journal.flush().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().skip(2).map(str::to_owned).collect()
}

#[test]
fn begin_and_end_are_one_row_with_what_the_end_tells() {
    let mut ends = event(5, 3, 4_000, Some(9_000));
    ends.peak_bytes = 80_000;
    assert_eq!(
        rows(vec![event(5, 3, 4_000, None), ends]),
        ["3000,8000,s1:eth1,3,80000,self=60;eth3=12345"]
    );
}

#[test]
fn an_event_that_is_still_on_has_no_end() {
    let messages = vec![
        event(6, 0, 5_000, None),
        event(5, 1, 4_000, None),
        event(5, 0, 400, Some(2_000)),
    ];
    assert_eq!(
        rows(messages),
        [
            "-600,1000,s1:eth1,0,900,self=60;eth3=12345",
            "3000,,s1:eth1,1,4500,self=60;eth3=12345",
            "4000,,s1:eth2,0,5500,self=60;eth3=12345",
        ]
    );
}

#[test]
fn an_event_whose_end_was_lost_has_a_row_of_its_own() {
    let messages = vec![
        event(5, 0, 2_000, None),
        event(5, 0, 4_000, None),
        event(5, 0, 4_000, Some(5_000)),
        event(6, 0, 6_000, Some(7_000)),
    ];
    let times: Vec<String> = rows(messages)
        .iter()
        .map(|row| row.split(",s1:").next().unwrap().to_owned())
        .collect();
    assert_eq!(times, ["1000,", "3000,4000", "5000,6000"]);
}

#[test]
fn ports_that_are_not_sampled_have_no_rows() {
    assert!(rows(vec![event(7, 0, 2_000, Some(3_000))]).is_empty());
    assert!(rows(vec![event(99, 0, 2_000, Some(3_000))]).is_empty());
}

#[test]
fn an_interface_without_a_usable_name_is_told_by_its_number() {
    let mut names = names();
    names.interfaces.insert(8, "a,b".to_owned());
    assert_eq!(ingress_text(&[(8, 1), (9, 2)], &names), "if8=1;if9=2");
    assert!(names.know(&event(5, 0, 0, None)));
    let mut unknown = event(5, 0, 0, None);
    unknown.ingress.push((9, 1));
    assert!(!names.know(&unknown));
    assert!(!names.know(&event(9, 0, 0, None)));
}
