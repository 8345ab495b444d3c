use super::*;
use crate::fixtures::DCTCP_SOCKET;
use netlink::{u16_at, u32_at};

/// Runs a filter program as `inet_diag_bc_run` of `net/ipv4/inet_diag.c` does.
fn accepts(program: &[u8], mark: u32) -> bool {
    let mut at = 0;
    while at < program.len() {
        let condition = program[at] == INET_DIAG_BC_MARK_COND;
        let goes_on = condition
            && mark & u32_at(program, at + 8).unwrap() == u32_at(program, at + 4).unwrap();
        let distance = if goes_on {
            u16::from(program[at + 1])
        } else {
            u16_at(program, at + 2).unwrap()
        };
        assert!(
            distance >= JUMP_BYTES && distance % 4 == 0,
            "the kernel refuses such a jump"
        );
        at += usize::from(distance);
    }
    at == program.len()
}

#[test]
fn the_filter_accepts_any_mark_but_none() {
    let program = marked_at_all();
    assert!(!accepts(&program, 0));
    assert!([1, 42, u32::MAX]
        .iter()
        .all(|mark| accepts(&program, *mark)));
}

#[test]
fn the_filter_accepts_the_marks_that_are_asked_for() {
    for count in [1, 2, 3, MAX_FLOWS_IN_KERNEL as u32] {
        let marks: Vec<u32> = (0..count).map(|flow| flow * 3 + 1).collect();
        let program = marked_with_one_of(&marks);
        let accepted: Vec<u32> = (0..count * 3 + 3)
            .filter(|mark| accepts(&program, *mark))
            .collect();
        assert_eq!(accepted, marks);
    }
}

#[test]
fn one_flow_more_than_the_kernel_filters_is_filtered_here() {
    let marks: Vec<u32> = (1..=MAX_FLOWS_IN_KERNEL as u32 + 1).collect();
    assert_eq!(build_request(Some(&marks)), build_request(None));
    assert_ne!(build_request(Some(&marks[1..])), build_request(None));
}

fn socket(mark: u32, cookie: u64) -> DiagnosedSocket {
    DiagnosedSocket {
        mark,
        cookie,
        ..read_socket(&DCTCP_SOCKET).unwrap()
    }
}

fn kept(sockets: &[(u32, u64)], marks: Option<&[u32]>) -> Vec<(u32, u64)> {
    let mut sockets: Vec<_> = sockets
        .iter()
        .map(|(mark, cookie)| socket(*mark, *cookie))
        .collect();
    keep_wanted(&mut sockets, marks);
    sockets
        .iter()
        .map(|socket| (socket.mark, socket.cookie))
        .collect()
}

#[test]
fn the_oldest_socket_of_a_flow_is_kept_and_flows_are_in_order() {
    assert_eq!(
        kept(&[(5, 9), (2, 4), (5, 3), (0, 1)], None),
        [(2, 4), (5, 3)]
    );
    assert_eq!(
        kept(&[(5, 9), (2, 4), (7, 3)], Some(&[2, 7])),
        [(2, 4), (7, 3)]
    );
}

/// The rows that follow samples of these sockets, each `time:flow`, with `/subflow` where it has one, and `!` where it
/// is gone.
fn rows_of(samples: &[Vec<DiagnosedSocket>]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tcp.csv");
    let mut series = Series::create(&path, FORMAT.0, FORMAT.1).unwrap();
    let netlink = Socket::open(Protocol::SockDiag).unwrap();
    let mut node = Node {
        name: "h1".to_owned(),
        netns: None,
        socket: netlink,
        numbering: Numbering::default(),
        written: BTreeMap::new(),
    };
    for (time, sockets) in samples.iter().enumerate() {
        let mut sockets = sockets.clone();
        keep_wanted(&mut sockets, None);
        node.number_subflows(&mut sockets);
        let last = time + 1 == samples.len();
        node.write_rows(&sockets, time as u64, last, &mut series)
            .unwrap();
    }
    series.flush().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let columns = text.lines().nth(1).unwrap().split(',').count();
    text.lines()
        .skip(2)
        .map(|row| describe_row(row, columns))
        .collect()
}

fn describe_row(row: &str, columns: usize) -> String {
    let fields: Vec<&str> = row.split(',').collect();
    assert_eq!(fields.len(), columns, "{row}");
    let gone = if fields[5].is_empty() { "!" } else { "" };
    let subflow = match fields[3] {
        "" => String::new(),
        number => format!("/{number}"),
    };
    assert_eq!(fields[4].is_empty(), subflow.is_empty() || gone == "!");
    format!("{}:{}{subflow}{gone}", fields[0], fields[2])
}

fn plain(marks: &[u32]) -> Vec<DiagnosedSocket> {
    marks.iter().map(|mark| socket(*mark, 1)).collect()
}

#[test]
fn a_row_holds_until_the_next_one() {
    let sample = || plain(&[1]);
    assert_eq!(rows_of(&[sample(), sample(), sample()]), ["0:0", "2:0"]);
}

#[test]
fn a_connection_that_is_gone_has_one_row_of_empty_values() {
    assert_eq!(
        rows_of(&[plain(&[1, 2]), plain(&[2]), plain(&[2]), plain(&[1])]),
        ["0:0", "0:1", "1:0!", "3:0", "3:1!"]
    );
}

/// Subflows of one flow, each its address identifier and cookie.
fn subflows(mark: u32, ids: &[(u8, u64)]) -> Vec<DiagnosedSocket> {
    ids.iter()
        .map(|(id, cookie)| DiagnosedSocket {
            subflow: Some(crate::subflow::fixture(*id)),
            ..socket(mark, *cookie)
        })
        .collect()
}

#[test]
fn every_subflow_has_rows_of_its_own() {
    let mut both = subflows(1, &[(2, 11), (0, 12), (1, 13)]);
    both.extend(plain(&[3]));
    let without_the_second = || subflows(1, &[(0, 12), (2, 11)]);
    let with_a_new_one = subflows(1, &[(1, 20), (0, 12), (2, 11)]);
    assert_eq!(
        rows_of(&[
            both,
            without_the_second(),
            without_the_second(),
            with_a_new_one
        ]),
        ["0:0/0", "0:0/1", "0:0/2", "0:2", "1:0/1!", "1:2!", "3:0/0", "3:0/2", "3:0/3"]
    );
}

#[test]
fn a_connection_that_falls_back_goes_on_as_plain_tcp() {
    assert_eq!(
        rows_of(&[subflows(1, &[(0, 1)]), plain(&[1]), plain(&[1])]),
        ["0:0/0", "1:0", "1:0/0!", "2:0"]
    );
}
