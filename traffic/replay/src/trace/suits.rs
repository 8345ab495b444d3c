//! What of a row goes with what: the rules of connections, of iperf3, of RoCE and of Homa.

use super::flow::{Extent, Mode};
use super::row::{self, Details, Outline, COLUMNS};
use super::services::Transport;
use crate::hosts::Family;
use crate::problems::Problems;
use crate::table::Row;

/// A queue pair has the number of its flow plus one, in 24 bits, of which the largest means multicast (InfiniBand
/// Architecture Specification, volume 1, 3.5.10).
const MAX_ROCE_FLOW: u32 = (1 << 24) - 3;

/// HOMA_MAX_MESSAGE_LENGTH of Homa's module for Linux.
pub const MAX_HOMA_BYTES: u64 = 1_000_000;

/// Judges a row whose values are right one by one.
pub fn is_all_right(
    row: &Row<'_>,
    outline: &Outline,
    details: &Details,
    problems: &mut Problems,
) -> bool {
    may_have_connection(row, outline, details, problems)
        & suits_iperf3(row, outline, details, problems)
        & suits_roce(row, outline, details, problems)
        & suits_homa(row, outline, details, problems)
}

fn may_have_connection(
    row: &Row<'_>,
    outline: &Outline,
    details: &Details,
    problems: &mut Problems,
) -> bool {
    let written = row.text(row::CONNECTION);
    let right = match (details.extent, outline.transport) {
        _ if written.is_empty() => return true,
        (Extent::UntilNs(_), _) => {
            "a long flow ends with its connection; must be empty where stop_ns is given"
        }
        (_, Transport::Roce) if outline.mode != Some(Mode::Push) => {
            "only pushes share a queue pair; must be empty where transport is roce and mode is not push"
        }
        (_, Transport::Homa) => "Homa has no connections; must be empty where transport is homa",
        (_, Transport::Mptcp) => {
            "a flow over MPTCP has a connection of its own; must be empty where transport is mptcp"
        }
        _ => return true,
    };
    problems.wrong(row.line, "connection", written, right);
    false
}

/// An iperf3 flow has a time at each end.
fn suits_iperf3(
    row: &Row<'_>,
    outline: &Outline,
    details: &Details,
    problems: &mut Problems,
) -> bool {
    if outline.mode.is_some() {
        return true;
    }
    let wrong = if matches!(details.extent, Extent::Bytes(_)) {
        (row::SIZE_BYTES, "iperf3 sends until a time; must be empty, with stop_ns in its place, where mode is iperf3")
    } else if !row.text(row::AFTER).is_empty() {
        (
            row::AFTER,
            "iperf3 starts at a time; must be empty where mode is iperf3",
        )
    } else {
        return true;
    };
    problems.wrong(row.line, COLUMNS.names[wrong.0], row.text(wrong.0), wrong.1);
    false
}

/// The NIC, not the flow, decides how packets of RoCE are marked and when they are sent.
fn suits_roce(
    row: &Row<'_>,
    outline: &Outline,
    details: &Details,
    problems: &mut Problems,
) -> bool {
    if outline.transport != Transport::Roce {
        return is_for_sockets(row, outline, problems);
    }
    let last = format!("must be at most {MAX_ROCE_FLOW} where transport is roce: a queue pair's number has 24 bits");
    let rules = [
        (details.number > MAX_ROCE_FLOW, row::FLOW, last.as_str()),
        (
            outline.mode.is_none(),
            row::MODE,
            "iperf3 has no RoCE; must be push, pull or read where transport is roce",
        ),
        (
            !row.text(row::CONGESTION_CONTROL).is_empty(),
            row::CONGESTION_CONTROL,
            "the host's NIC decides it; must be empty where transport is roce",
        ),
        (
            details.dscp != 0,
            row::DSCP,
            "the host's NIC decides it; must be empty or 0 where transport is roce",
        ),
        (
            outline.family == Some(Family::V6),
            row::IP,
            "RoCE goes by IPv4; must be 4 or empty where transport is roce",
        ),
    ];
    keeps(&rules, row, problems)
}

/// Homa sends messages of its own priorities, each a remote procedure call.
fn suits_homa(
    row: &Row<'_>,
    outline: &Outline,
    details: &Details,
    problems: &mut Problems,
) -> bool {
    if outline.transport != Transport::Homa {
        return true;
    }
    let most = format!(
        "Homa's messages have at most {MAX_HOMA_BYTES} bytes; must be at most that where transport is homa"
    );
    let is_large = |bytes: u64| bytes > MAX_HOMA_BYTES;
    let rules = [
        (
            matches!(details.extent, Extent::Bytes(bytes) if is_large(bytes)),
            row::SIZE_BYTES,
            most.as_str(),
        ),
        (
            is_large(details.request_bytes.into()),
            row::REQUEST_BYTES,
            most.as_str(),
        ),
        (
            matches!(details.extent, Extent::UntilNs(_)),
            row::STOP_NS,
            "Homa sends messages of a size; must be empty, with size_bytes in its place, where transport is homa",
        ),
        (
            !row.text(row::CONGESTION_CONTROL).is_empty(),
            row::CONGESTION_CONTROL,
            "Homa has its own; must be empty where transport is homa",
        ),
        (
            details.dscp != 0,
            row::DSCP,
            "Homa decides it for each packet; must be empty or 0 where transport is homa",
        ),
        (
            outline.family == Some(Family::V6),
            row::IP,
            "Homa goes by IPv4 here; must be 4 or empty where transport is homa",
        ),
    ];
    keeps(&rules, row, problems)
}

/// Whether a row keeps rules, each of which says whether it is broken, the column, and what would be right.
fn keeps(rules: &[(bool, usize, &str)], row: &Row<'_>, problems: &mut Problems) -> bool {
    let broken = rules.iter().filter(|(is_broken, ..)| *is_broken);
    let mut right = true;
    for &(_, column, should) in broken {
        problems.wrong(row.line, COLUMNS.names[column], row.text(column), should);
        right = false;
    }
    right
}

fn is_for_sockets(row: &Row<'_>, outline: &Outline, problems: &mut Problems) -> bool {
    let reads = outline.mode == Some(Mode::Read);
    if reads {
        let should = "only RoCE has an RDMA READ; must be push or pull where transport is not roce";
        problems.wrong(row.line, "mode", row.text(row::MODE), should);
    }
    !reads
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::hosts::{Addresses, Hosts};
    use crate::trace::{check, read, Transport};

    const HEAD: &str = "# fabriclab-trace-1\n\
        flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,transport,congestion_control,dscp,ip\n";

    fn hosts() -> Hosts {
        let mut hosts = Hosts::default();
        for (name, address) in [("h1", "10.0.0.1"), ("h2", "10.0.0.2"), ("six", "fd00::1")] {
            let address = Addresses::only(address.parse().expect("address"));
            hosts.add(name.to_owned(), address);
        }
        hosts
    }

    fn file(rows: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        write!(file, "{HEAD}{rows}").expect("write");
        file
    }

    #[test]
    fn a_flow_over_roce_has_its_own_transport() {
        let rows = "0,0,h1,h2,9,,pull,,roce,,,\n1,0,h1,h2,,9,,,roce,,0,4\n2,0,h1,h2,9,,,,,,,\n\
            16777213,0,h1,h2,9,,,,roce,,,\n";
        let hosts = hosts();
        let trace = read(file(rows).path(), &hosts, 0).expect("valid");
        let is_roce: Vec<_> = trace.flows.iter().map(|flow| trace.is_roce(flow)).collect();
        assert_eq!(is_roce, [true, true, false, true]);
        let transports: Vec<_> = trace.services.iter().map(|one| one.transport).collect();
        assert_eq!(transports, [Transport::Roce, Transport::Tcp]);
    }

    #[test]
    fn what_the_nic_decides_stays_empty() {
        for (row, expected) in [
            (
                "0,0,h1,h2,9,,pull,k,roce,,,",
                "connection is \"k\": only pushes share a queue pair",
            ),
            (
                "0,0,h1,h2,,9,,k,roce,,,",
                "connection is \"k\": a long flow ends with its connection",
            ),
            (
                "0,0,h1,h2,9,,,,roce,dctcp,,",
                "congestion_control is \"dctcp\": the host's NIC decides it",
            ),
            (
                "0,0,h1,h2,9,,,,roce,,8,",
                "dscp is \"8\": the host's NIC decides it",
            ),
            (
                "0,0,h1,h2,,9,iperf3,,roce,,,",
                "mode is \"iperf3\": iperf3 has no RoCE",
            ),
            (
                "16777214,0,h1,h2,9,,,,roce,,,",
                "flow is \"16777214\": must be at most 16777213",
            ),
            (
                "0,0,h1,h2,1000001,,,,homa,,,",
                "size_bytes is \"1000001\": Homa's messages have at most 1000000 bytes",
            ),
            (
                "0,0,h1,h2,,9,,,homa,,,",
                "stop_ns is \"9\": Homa sends messages of a size",
            ),
            (
                "0,0,h1,h2,9,,,k,homa,,,",
                "connection is \"k\": Homa has no connections",
            ),
            ("0,0,h1,h2,9,,,,homa,,8,", "dscp is \"8\": Homa decides it"),
            (
                "0,0,six,h2,9,,,,roce,,,",
                "ip is \"\": six has no IPv4 address in the hosts file",
            ),
            ("0,0,h1,h2,9,,,,rose,,,", "did you mean \"roce\"?"),
            (
                "0,0,h1,h2,9,,read,,,,,",
                "mode is \"read\": only RoCE has an RDMA READ; must be push or pull",
            ),
            (
                "0,0,h1,h2,9,,reed,,roce,,,",
                "must be push, pull, read or iperf3 (empty: push); did you mean \"read\"?",
            ),
        ] {
            let rows = format!("{row}\n");
            let message = check(file(&rows).path(), &hosts())
                .expect_err(row)
                .to_string();
            assert!(
                message.contains(expected),
                "expected {expected:?} in:\n{message}"
            );
        }
    }

    #[test]
    fn roce_goes_by_ipv4() {
        let mut hosts = Hosts::default();
        for (name, address) in [("a", "fd00::1"), ("b", "fd00::2")] {
            hosts.add(
                name.to_owned(),
                Addresses::only(address.parse().expect("address")),
            );
        }
        let rows = "0,0,a,b,9,,,,roce,,,6\n";
        let message = check(file(rows).path(), &hosts)
            .expect_err("wrong")
            .to_string();
        assert!(
            message.contains("ip is \"6\": RoCE goes by IPv4; must be 4 or empty"),
            "{message}"
        );
    }
}
