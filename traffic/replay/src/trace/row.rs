//! One row of a trace: its columns, and the rules that need no other row.

use super::flow::{Extent, Mode, HEAD_BYTES};
use super::groups::is_path;
use super::services::Transport;
use crate::hosts::{Family, HostId, Hosts};
use crate::problems::{suggestion, Problems};
use crate::table::{Columns, Row};

pub const COLUMNS: Columns = Columns {
    names: &[
        "flow",
        "start_ns",
        "src",
        "dst",
        "size_bytes",
        "stop_ns",
        "mode",
        "request_bytes",
        "connection",
        "group",
        "after",
        "class",
        "transport",
        "congestion_control",
        "dscp",
        "deadline_ns",
        "ip",
    ],
    required: 5,
};
pub const FLOW: usize = 0;
const START_NS: usize = 1;
const SRC: usize = 2;
const DST: usize = 3;
pub const SIZE_BYTES: usize = 4;
pub const STOP_NS: usize = 5;
pub const MODE: usize = 6;
pub const REQUEST_BYTES: usize = 7;
pub const CONNECTION: usize = 8;
pub const GROUP: usize = 9;
pub const AFTER: usize = 10;
const TRANSPORT: usize = 12;
pub const CONGESTION_CONTROL: usize = 13;
pub const DSCP: usize = 14;
const DEADLINE_NS: usize = 15;
pub const IP: usize = 16;

/// Times end here (146 years), so that a sum of two is still one.
const MAX_NS: u64 = i64::MAX as u64 / 2;
/// The largest flow: so that a sum of two is still one, in 64 bits with a sign.
const MAX_BYTES: u64 = 1 << 62;
/// The kernel's TCP_CA_NAME_MAX, without the zero at the end.
const CONGESTION_CONTROL_LENGTH: usize = 15;
const MAX_DSCP: u8 = 63;

/// What of a row matters to every host: who takes part, what belongs together, what is listened for.
pub struct Outline {
    pub src: HostId,
    pub dst: HostId,
    /// `None`: iperf3 sends it.
    pub mode: Option<Mode>,
    pub transport: Transport,
    /// `None`: that of the hosts' first addresses.
    pub family: Option<Family>,
}

impl Outline {
    pub fn names(&self, host: HostId) -> bool {
        self.src == host || self.dst == host
    }

    /// The host that starts the flow: the one that connects, or reads.
    pub fn starter(&self) -> HostId {
        match self.mode {
            Some(Mode::Pull | Mode::Read) => self.dst,
            Some(Mode::Push) | None => self.src,
        }
    }
}

/// The rest of a row, which matters to the hosts that it names.
pub struct Details {
    pub number: u32,
    pub start_ns: i64,
    pub extent: Extent,
    pub request_bytes: u32,
    pub dscp: u8,
}

pub fn parse_outline(row: &Row<'_>, hosts: &Hosts, problems: &mut Problems) -> Option<Outline> {
    let src = parse_host(row, SRC, hosts, problems);
    let dst = parse_host(row, DST, hosts, problems);
    let mode = parse_mode(row, problems);
    let transport = parse_transport(row, problems);
    let has_names = are_names_right(row, problems);
    let family = parse_family(row, problems);
    let (src, dst, mode, transport, family) = (src?, dst?, mode?, transport?, family?);
    let family = family.or_else(|| transport.only_family());
    if src == dst {
        let right = "is also src; must be another node";
        problems.wrong(row.line, "dst", row.text(DST), right);
        return None;
    }
    let have_addresses = [src, dst]
        .into_iter()
        .all(|host| has_address(row, family, host, hosts, problems));
    (has_names && have_addresses).then_some(Outline {
        src,
        dst,
        mode,
        transport,
        family,
    })
}

/// The rest of a row whose outline is right; what goes with what is judged elsewhere (`suits`).
pub fn parse_details(row: &Row<'_>, outline: &Outline, problems: &mut Problems) -> Option<Details> {
    let details = parse_values(row, problems);
    let request_bytes = parse_request_bytes(row, outline.mode, problems);
    Some(Details {
        request_bytes: request_bytes?,
        ..details?
    })
}

/// What can be judged whatever the outline is; a request has the default's length.
pub fn parse_values(row: &Row<'_>, problems: &mut Problems) -> Option<Details> {
    let number = parse_number(row, problems);
    let start = parse_ns(row, START_NS, problems);
    let extent = parse_extent(row, start, problems);
    let dscp = parse_dscp(row, problems);
    if !row.text(DEADLINE_NS).is_empty() {
        parse_deadline(row, problems)?;
    }
    Some(Details {
        number: number?,
        start_ns: start?,
        extent: extent?,
        request_bytes: HEAD_BYTES as u32,
        dscp: dscp?,
    })
}

fn parse_number(row: &Row<'_>, problems: &mut Problems) -> Option<u32> {
    // The mark is the number plus one, and a mark has 32 bits.
    let written = row.text(FLOW);
    let number = written.parse().ok().filter(|&number| number < u32::MAX);
    if number.is_none() {
        let right = "must be an integer from 0 to 4294967294";
        problems.wrong(row.line, "flow", written, right);
    }
    number
}

fn parse_ns(row: &Row<'_>, column: usize, problems: &mut Problems) -> Option<i64> {
    let written = row.text(column);
    let ns = written.parse::<u64>().ok().filter(|&ns| ns <= MAX_NS);
    if ns.is_none() {
        let right = format!("must be a whole number of nanoseconds from 0 to {MAX_NS}");
        problems.wrong(row.line, COLUMNS.names[column], written, right);
    }
    ns.map(|ns| ns as i64)
}

/// It is for the analysis: here it need only be right.
fn parse_deadline(row: &Row<'_>, problems: &mut Problems) -> Option<i64> {
    let ns = parse_ns(row, DEADLINE_NS, problems)?;
    if ns == 0 {
        let right = "must be at least 1; leave it empty where there is no deadline";
        problems.wrong(row.line, "deadline_ns", row.text(DEADLINE_NS), right);
    }
    Some(ns).filter(|&ns| ns > 0)
}

fn parse_host(
    row: &Row<'_>,
    column: usize,
    hosts: &Hosts,
    problems: &mut Problems,
) -> Option<HostId> {
    let written = row.text(column);
    let host = hosts.find(written);
    if host.is_none() {
        let right = hosts.must_be_known(written);
        problems.wrong(row.line, COLUMNS.names[column], written, right);
    }
    host
}

fn parse_extent(row: &Row<'_>, start: Option<i64>, problems: &mut Problems) -> Option<Extent> {
    let (size, stop) = (row.text(SIZE_BYTES), row.text(STOP_NS));
    match (size.is_empty(), stop.is_empty()) {
        (true, true) => problems.add(row.line, "size_bytes and stop_ns are both empty: exactly one must be given"),
        (false, false) => problems.add(
            row.line,
            format!(
                "size_bytes is \"{size}\" and stop_ns is \"{stop}\": exactly one must be given, the other left empty"
            ),
        ),
        (false, true) => match size.parse() {
            Ok(bytes) if (HEAD_BYTES..=MAX_BYTES).contains(&bytes) => return Some(Extent::Bytes(bytes)),
            _ => problems.wrong(
                row.line,
                "size_bytes",
                size,
                format!(
                    "must be an integer from {HEAD_BYTES} to {MAX_BYTES} (the first {HEAD_BYTES} bytes carry the \
                     flow's number)"
                ),
            ),
        },
        (true, false) => {
            let stop_ns = parse_ns(row, STOP_NS, problems)?;
            let earliest = if row.text(AFTER).is_empty() { start.unwrap_or(0) } else { 0 };
            if stop_ns > earliest {
                return Some(Extent::UntilNs(stop_ns));
            }
            problems.wrong(row.line, "stop_ns", stop, format!("must be later than start_ns, {earliest}"));
        }
    }
    None
}

/// The outer `None` is a wrong word, the inner one is iperf3's.
fn parse_mode(row: &Row<'_>, problems: &mut Problems) -> Option<Option<Mode>> {
    match row.text(MODE) {
        "" | "push" => Some(Some(Mode::Push)),
        "pull" => Some(Some(Mode::Pull)),
        "read" => Some(Some(Mode::Read)),
        "iperf3" => Some(None),
        other => {
            let hint = suggestion(other, ["push", "pull", "read", "iperf3"]);
            let right = format!("must be push, pull, read or iperf3 (empty: push){hint}");
            problems.wrong(row.line, "mode", other, right);
            None
        }
    }
}

fn parse_transport(row: &Row<'_>, problems: &mut Problems) -> Option<Transport> {
    match row.text(TRANSPORT) {
        "" | "tcp" => Some(Transport::Tcp),
        "mptcp" => Some(Transport::Mptcp),
        "roce" => Some(Transport::Roce),
        "homa" => Some(Transport::Homa),
        other => {
            let hint = suggestion(other, ["tcp", "mptcp", "roce", "homa"]);
            let right = format!("must be tcp, mptcp, roce or homa (empty: tcp){hint}");
            problems.wrong(row.line, "transport", other, right);
            None
        }
    }
}

/// The outer `None` is a wrong word.
fn parse_family(row: &Row<'_>, problems: &mut Problems) -> Option<Option<Family>> {
    match row.text(IP) {
        "" => Some(None),
        "4" => Some(Some(Family::V4)),
        "6" => Some(Some(Family::V6)),
        other => {
            let right = "must be 4 or 6 (empty: what the hosts file's first addresses are of)";
            problems.wrong(row.line, "ip", other, right);
            None
        }
    }
}

fn has_address(
    row: &Row<'_>,
    family: Option<Family>,
    host: HostId,
    hosts: &Hosts,
    problems: &mut Problems,
) -> bool {
    let has = hosts.addresses(host).of(family).is_some();
    if !has {
        let name = hosts.name(host);
        let right = if row.text(IP).is_empty() {
            format!("{name} has no IPv4 address in the hosts file, by which this transport goes")
        } else {
            format!("{name} has no such address in the hosts file; must be another one, or empty")
        };
        problems.wrong(row.line, "ip", row.text(IP), right);
    }
    has
}

/// The groups of `after`, each with its delay in nanoseconds; `None` for what is no group.
pub fn awaited(written: &str) -> impl Iterator<Item = Option<(&str, i64)>> {
    let parts = (!written.is_empty()).then(|| written.split(';'));
    parts.into_iter().flatten().map(|part| {
        let (name, delay) = match part.rsplit_once('+') {
            Some((name, delay)) if delay.bytes().all(|byte| byte.is_ascii_digit()) => (name, delay),
            _ => (part, "0"),
        };
        let delay_ns = delay.parse::<u64>().ok().filter(|&ns| ns <= MAX_NS)?;
        // No name at all is the epoch.
        let is_group = is_path(name) || (name.is_empty() && part.len() > 1);
        is_group.then_some((name, delay_ns as i64))
    })
}

/// Whether group, after and congestion_control could be names at all.
fn are_names_right(row: &Row<'_>, problems: &mut Problems) -> bool {
    let mut right = true;
    let (group, after) = (row.text(GROUP), row.text(AFTER));
    if !group.is_empty() && !is_path(group) {
        let should = "must be names with one \"/\" between them, such as job/shuffle";
        problems.wrong(row.line, "group", group, should);
        right = false;
    }
    let has_group = after.is_empty() || awaited(after).flatten().any(|(name, _)| !name.is_empty());
    if !has_group || awaited(after).any(|one| one.is_none()) {
        let should = "must be groups with \";\" between them, such as job/map, and each may have a delay in \
            nanoseconds: job/map+1000;job/sort";
        problems.wrong(row.line, "after", after, should);
        right = false;
    }
    let written = row.text(CONGESTION_CONTROL);
    let is_name = written
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_name || written.len() > CONGESTION_CONTROL_LENGTH {
        let should = format!(
            "must be the name of a congestion control, such as cubic or dctcp, of at most \
             {CONGESTION_CONTROL_LENGTH} characters"
        );
        problems.wrong(row.line, "congestion_control", written, should);
        right = false;
    }
    right
}

fn parse_request_bytes(row: &Row<'_>, mode: Option<Mode>, problems: &mut Problems) -> Option<u32> {
    let written = row.text(REQUEST_BYTES);
    if written.is_empty() {
        return Some(HEAD_BYTES as u32);
    }
    if mode != Some(Mode::Pull) {
        let right = "only a pull has a request; must be empty where mode is not pull";
        problems.wrong(row.line, "request_bytes", written, right);
        return None;
    }
    let parsed = written.parse().ok();
    let bytes = parsed.filter(|&bytes: &u32| u64::from(bytes) >= HEAD_BYTES);
    if bytes.is_none() {
        let right = format!(
            "must be an integer from {HEAD_BYTES} to {} (the first {HEAD_BYTES} bytes carry the flow's number)",
            u32::MAX
        );
        problems.wrong(row.line, "request_bytes", written, right);
    }
    bytes
}

fn parse_dscp(row: &Row<'_>, problems: &mut Problems) -> Option<u8> {
    let written = row.text(DSCP);
    if written.is_empty() {
        return Some(0);
    }
    let dscp = written.parse().ok().filter(|&dscp| dscp <= MAX_DSCP);
    if dscp.is_none() {
        let right = format!("must be an integer from 0 to {MAX_DSCP}");
        problems.wrong(row.line, "dscp", written, right);
    }
    dscp
}

/// When an iperf3 flow ends; what is wrong with it is said elsewhere.
pub fn stop_ns(row: &Row<'_>) -> Option<i64> {
    let ns = row.text(STOP_NS).parse::<u64>().ok();
    ns.filter(|&ns| ns <= MAX_NS).map(|ns| ns as i64)
}

#[cfg(test)]
mod tests {
    use super::awaited;

    #[test]
    fn after_names_groups_with_delays() {
        let read = |written| awaited(written).collect::<Vec<_>>();
        assert_eq!(read(""), []);
        assert_eq!(read("job/map"), [Some(("job/map", 0))]);
        assert_eq!(read("a+250;b+c"), [Some(("a", 250)), Some(("b+c", 0))]);
        assert_eq!(read("+7;a"), [Some(("", 7)), Some(("a", 0))]);
        for wrong in ["a;", "a+1;;b", "a+99999999999999999999", "a/;b", "+"] {
            assert!(awaited(wrong).any(|one| one.is_none()), "{wrong}");
        }
    }
}
