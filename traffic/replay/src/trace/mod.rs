//! The flow trace: `# fabriclab-trace-1`, one flow a row (`traffic/README.md`).
//!
//! Every row is checked; only the rows that name this host are kept, so that a trace of a million flows costs each of many hosts little.

mod groups;

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::hosts::{HostId, Hosts};
use crate::problems::{suggestion, Problems};
use crate::table::{Row, Table};
use groups::Groups;

const VERSION: &str = "# fabriclab-trace-1";
const COLUMNS: &[&str] = &[
    "flow",
    "start_ns",
    "src",
    "dst",
    "size_bytes",
    "stop_ns",
    "mode",
    "connection",
    "group",
    "after",
    "class",
];
const FLOW: usize = 0;
const START_NS: usize = 1;
const SRC: usize = 2;
const DST: usize = 3;
const SIZE_BYTES: usize = 4;
const STOP_NS: usize = 5;
const MODE: usize = 6;
const CONNECTION: usize = 7;
const GROUP: usize = 8;
const AFTER: usize = 9;

/// Length of the flow's number at the head of its data, and of a pull's request.
pub const HEAD_BYTES: u64 = 4;
/// Times end here (292 years): what CLOCK_MONOTONIC and timerfd hold.
const MAX_NS: u64 = i64::MAX as u64 / 2;

pub type GroupId = u32;
pub type KeptId = u32;

/// How much a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Bytes(u64),
    /// A long flow: as much as the network takes until this time, in nanoseconds after the epoch.
    UntilNs(i64),
}

/// Who connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Push,
    Pull,
}

/// This host's part in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Src,
    Dst,
}

/// A flow that this host takes part in.
#[derive(Clone, Debug)]
pub struct Flow {
    pub number: u32,
    pub peer: HostId,
    /// After the epoch, or after `after` is complete.
    pub start_ns: i64,
    pub extent: Extent,
    pub mode: Mode,
    pub side: Side,
    pub kept: Option<KeptId>,
    pub group: Option<GroupId>,
    pub after: Option<GroupId>,
}

impl Flow {
    /// Whether this host connects, and so starts the flow.
    pub fn starts_here(&self) -> bool {
        (self.mode == Mode::Push) == (self.side == Side::Src)
    }

    pub fn is_long(&self) -> bool {
        matches!(self.extent, Extent::UntilNs(_))
    }
}

/// A connection that several flows share, and that is open before the epoch.
#[derive(Clone, Debug)]
pub struct Kept {
    pub peer: HostId,
    pub opened_here: bool,
    /// Its first flow in trace order: the connection carries that one's mark.
    pub first_flow: u32,
    pub flows: u32,
}

/// What one host needs of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// In trace order.
    pub flows: Vec<Flow>,
    pub kept: Vec<Kept>,
}

/// A row with its values parsed; names are still to be judged against the rest of the trace.
struct Parsed {
    number: u32,
    start_ns: i64,
    src: HostId,
    dst: HostId,
    extent: Extent,
    mode: Mode,
    group: Option<GroupId>,
    after: Option<GroupId>,
}

impl Parsed {
    fn starter(&self) -> HostId {
        match self.mode {
            Mode::Push => self.src,
            Mode::Pull => self.dst,
        }
    }
}

/// Reads and checks a whole trace and keeps the rows of `host` (none without one).
pub fn read(path: &Path, hosts: &Hosts, host: Option<HostId>) -> Result<Trace, Problems> {
    let mut problems = Problems::of(path);
    let Some(mut table) = Table::open(path, VERSION, COLUMNS, &mut problems) else {
        return Err(problems);
    };
    let mut trace = Trace::default();
    let mut groups = Groups::default();
    let mut numbers = Vec::new();
    let mut connections = FxHashMap::default();
    while let Some(row) = table.next(&mut problems) {
        let Some(parsed) = parse_row(&row, hosts, &mut groups, &mut problems) else {
            continue;
        };
        numbers.push((parsed.number, row.line));
        groups.note(
            parsed.group,
            parsed.after,
            parsed.dst,
            parsed.starter(),
            row.line,
        );
        if host == Some(parsed.src) || host == Some(parsed.dst) {
            keep(
                &mut trace,
                &mut connections,
                &parsed,
                host == Some(parsed.src),
                row.text(CONNECTION),
            );
        }
    }
    check_numbers(numbers, &mut problems);
    groups.check(hosts, &mut problems);
    problems.unless_found(trace)
}

/// Adds a row to the flows of this host.
fn keep(
    trace: &mut Trace,
    connections: &mut FxHashMap<(HostId, Side, Mode, String), KeptId>,
    row: &Parsed,
    sends: bool,
    connection: &str,
) {
    let (side, peer) = if sends {
        (Side::Src, row.dst)
    } else {
        (Side::Dst, row.src)
    };
    let mut flow = Flow {
        number: row.number,
        peer,
        start_ns: row.start_ns,
        extent: row.extent,
        mode: row.mode,
        side,
        kept: None,
        group: row.group,
        after: row.after,
    };
    if !connection.is_empty() {
        let key = (peer, side, row.mode, connection.to_owned());
        let id = *connections.entry(key).or_insert_with(|| {
            let kept = Kept {
                peer,
                opened_here: flow.starts_here(),
                first_flow: flow.number,
                flows: 0,
            };
            trace.kept.push(kept);
            trace.kept.len() as KeptId - 1
        });
        trace.kept[id as usize].flows += 1;
        flow.kept = Some(id);
    }
    trace.flows.push(flow);
}

fn parse_row(
    row: &Row<'_>,
    hosts: &Hosts,
    groups: &mut Groups,
    problems: &mut Problems,
) -> Option<Parsed> {
    let number = parse_number(row, problems);
    let start = parse_ns(row, START_NS, problems);
    let src = parse_host(row, SRC, hosts, problems);
    let dst = parse_host(row, DST, hosts, problems);
    let extent = parse_extent(row, start, problems);
    let mode = parse_mode(row, problems);
    let (number, start_ns, src, dst, extent, mode) = (number?, start?, src?, dst?, extent?, mode?);
    if src == dst {
        problems.wrong(
            row.line,
            "dst",
            row.text(DST),
            "is also src; must be another node",
        );
        return None;
    }
    if matches!(extent, Extent::UntilNs(_)) && !row.text(CONNECTION).is_empty() {
        let right = "a long flow ends with its connection; must be empty where stop_ns is given";
        problems.wrong(row.line, "connection", row.text(CONNECTION), right);
        return None;
    }
    let (group, after) = (groups.id(row.text(GROUP)), groups.id(row.text(AFTER)));
    Some(Parsed {
        number,
        start_ns,
        src,
        dst,
        extent,
        mode,
        group,
        after,
    })
}

fn parse_number(row: &Row<'_>, problems: &mut Problems) -> Option<u32> {
    // The mark is the number plus one, and a mark has 32 bits.
    let number = row
        .text(FLOW)
        .parse()
        .ok()
        .filter(|&number| number < u32::MAX);
    if number.is_none() {
        problems.wrong(
            row.line,
            "flow",
            row.text(FLOW),
            "must be an integer from 0 to 4294967294",
        );
    }
    number
}

fn parse_ns(row: &Row<'_>, column: usize, problems: &mut Problems) -> Option<i64> {
    let ns = row
        .text(column)
        .parse::<u64>()
        .ok()
        .filter(|&ns| ns <= MAX_NS);
    if ns.is_none() {
        let right = format!("must be a whole number of nanoseconds from 0 to {MAX_NS}");
        problems.wrong(row.line, COLUMNS[column], row.text(column), right);
    }
    ns.map(|ns| ns as i64)
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
        problems.wrong(
            row.line,
            COLUMNS[column],
            written,
            hosts.must_be_known(written),
        );
    }
    host
}

fn parse_extent(row: &Row<'_>, start: Option<i64>, problems: &mut Problems) -> Option<Extent> {
    let (size, stop) = (row.text(SIZE_BYTES), row.text(STOP_NS));
    match (size.is_empty(), stop.is_empty()) {
        (true, true) => problems.add(row.line, "size_bytes and stop_ns are both empty: exactly one must be given"),
        (false, false) => problems.add(
            row.line,
            format!("size_bytes is \"{size}\" and stop_ns is \"{stop}\": exactly one must be given, the other left empty"),
        ),
        (false, true) => match size.parse() {
            Ok(bytes) if bytes >= HEAD_BYTES => return Some(Extent::Bytes(bytes)),
            _ => problems.wrong(
                row.line,
                "size_bytes",
                size,
                format!("must be an integer of at least {HEAD_BYTES} (the first {HEAD_BYTES} bytes carry the flow's number)"),
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

fn parse_mode(row: &Row<'_>, problems: &mut Problems) -> Option<Mode> {
    match row.text(MODE) {
        "push" => Some(Mode::Push),
        "pull" => Some(Mode::Pull),
        other => {
            let hint = suggestion(other, ["push", "pull"]);
            problems.wrong(
                row.line,
                "mode",
                other,
                format!("must be push or pull{hint}"),
            );
            None
        }
    }
}

/// A flow's number stands once in a trace.
fn check_numbers(mut numbers: Vec<(u32, u64)>, problems: &mut Problems) {
    numbers.sort_unstable();
    for pair in numbers.windows(2) {
        let ((number, first), (next, line)) = (pair[0], pair[1]);
        if number == next {
            problems.wrong(
                line,
                "flow",
                &number.to_string(),
                format!("stands already on line {first}; must be unique"),
            );
        }
    }
}

#[cfg(test)]
mod tests;
