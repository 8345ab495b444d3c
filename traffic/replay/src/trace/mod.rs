//! The flow trace: `# fabriclab-trace-1`, one flow a row (`traffic/README.md`).
//!
//! A host looks at every row for what concerns all, and at its own rows wholly; it keeps its own rows only. So a trace
//! of a million flows costs each of many hosts little.

mod barriers;
mod flow;
mod groups;
mod row;
mod services;
mod suits;

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::hosts::{HostId, Hosts};
use crate::problems::Problems;
use crate::table::{Row, Table};
pub use barriers::Barrier;
pub use flow::{Awaited, Extent, Flow, KeptId, Mode, Side, HEAD_BYTES};
pub use groups::GroupId;
use groups::Groups;
use row::{Details, Outline};
use services::Services;
pub use services::{Service, ServiceId, Transport};

const VERSION: &str = "# fabriclab-trace-1";

/// A connection, or a queue pair, that several flows share, and that is open before the epoch.
#[derive(Clone, Debug)]
pub struct Kept {
    pub opened_here: bool,
    /// Its first flow in trace order: the connection carries that one's mark.
    pub first_flow: u32,
    pub flows: u32,
    pub service: ServiceId,
    pub dscp: u8,
}

impl Kept {
    /// A connection that has no flow yet and is to carry this one first.
    fn opened_for(flow: &Flow) -> Self {
        Self {
            opened_here: flow.starts_here(),
            first_flow: flow.number,
            flows: 0,
            service: flow.service,
            dscp: flow.dscp,
        }
    }
}

/// What one host needs of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// In trace order.
    pub flows: Vec<Flow>,
    pub kept: Vec<Kept>,
    /// All of the trace.
    pub services: Vec<Service>,
    /// The group that each group is within.
    pub parents: Vec<Option<GroupId>>,
    pub barriers: FxHashMap<GroupId, Barrier>,
}

impl Trace {
    /// The groups that a flow belongs to, from its own to the outermost.
    pub fn groups_of(&self, flow: &Flow) -> impl Iterator<Item = GroupId> + '_ {
        self.path(flow.group)
    }

    pub fn is_roce(&self, flow: &Flow) -> bool {
        self.services[usize::from(flow.service)].transport == Transport::Roce
    }

    pub fn is_homa(&self, flow: &Flow) -> bool {
        self.services[usize::from(flow.service)].transport == Transport::Homa
    }

    pub fn is_kept_pair(&self, kept: KeptId) -> bool {
        let service = self.kept[kept as usize].service;
        self.services[usize::from(service)].transport == Transport::Roce
    }

    fn path(&self, group: Option<GroupId>) -> impl Iterator<Item = GroupId> + '_ {
        std::iter::successors(group, |&id| self.parents[id as usize])
    }
}

/// Reads a trace for one host: its own rows wholly, of the others what concerns all.
pub fn read(path: &Path, hosts: &Hosts, host: HostId) -> Result<Trace, Problems> {
    Reader::of(path, hosts, Some(host)).read()
}

/// Checks a whole trace, every row wholly.
pub fn check(path: &Path, hosts: &Hosts) -> Result<(), Problems> {
    Reader::of(path, hosts, None).read().map(drop)
}

/// Names a connection: src, dst, mode and name.
type ConnectionKey = (HostId, HostId, Mode, Box<str>);

struct Reader<'a> {
    path: &'a Path,
    hosts: &'a Hosts,
    /// Whose rows matter; `None`: everyone's.
    host: Option<HostId>,
    problems: Problems,
    trace: Trace,
    groups: Groups,
    services: Services,
    /// Each flow's number and line.
    numbers: Vec<(u32, u64)>,
    connections: FxHashMap<ConnectionKey, KeptId>,
    /// The first row of each kept connection.
    first_lines: Vec<u64>,
}

impl<'a> Reader<'a> {
    fn of(path: &'a Path, hosts: &'a Hosts, host: Option<HostId>) -> Self {
        Self {
            path,
            hosts,
            host,
            problems: Problems::of(path),
            trace: Trace::default(),
            groups: Groups::default(),
            services: Services::default(),
            numbers: Vec::new(),
            connections: FxHashMap::default(),
            first_lines: Vec::new(),
        }
    }

    fn read(mut self) -> Result<Trace, Problems> {
        let Some(mut table) = Table::open(self.path, VERSION, row::COLUMNS, &mut self.problems)
        else {
            return Err(self.problems);
        };
        while let Some(row) = table.next(&mut self.problems) {
            self.read_row(&row);
        }
        self.check_numbers();
        self.groups.check(&mut self.problems);
        if let Some(host) = self.host {
            self.trace.parents = self.groups.parents();
            self.trace.barriers = self.groups.barriers(host);
            self.trace.services = self.services.into_list();
            self.trace.flows.shrink_to_fit();
        }
        self.problems.unless_found(self.trace)
    }

    fn read_row(&mut self, row: &Row<'_>) {
        let Some(outline) = row::parse_outline(row, self.hosts, &mut self.problems) else {
            row::parse_values(row, &mut self.problems);
            return;
        };
        let (group, after) = self.note_groups(row, &outline);
        let Some(mode) = outline.mode else {
            if self.matters(&outline) {
                self.parse_details(row, &outline);
            }
            return;
        };
        let congestion_control = row.text(row::CONGESTION_CONTROL);
        let service = self.services.id(
            outline.transport,
            congestion_control,
            outline.family,
            row.line,
        );
        let Some(service) = service else {
            let right =
                "must be one of at most 65536 combinations of transport, congestion_control and ip";
            self.problems
                .wrong(row.line, "congestion_control", congestion_control, right);
            return;
        };
        if !self.matters(&outline) {
            return;
        }
        let Some(details) = self.parse_details(row, &outline) else {
            return;
        };
        let side = if self.host == Some(outline.dst) {
            Side::Dst
        } else {
            Side::Src
        };
        let flow = Flow {
            number: details.number,
            peer: if side == Side::Src {
                outline.dst
            } else {
                outline.src
            },
            start_ns: details.start_ns,
            extent: details.extent,
            mode,
            side,
            request_bytes: details.request_bytes,
            service,
            dscp: details.dscp,
            kept: None,
            group,
            after,
        };
        self.keep(row, &outline, flow);
    }

    fn matters(&self, outline: &Outline) -> bool {
        self.host.is_none_or(|host| outline.names(host))
    }

    fn parse_details(&mut self, row: &Row<'_>, outline: &Outline) -> Option<Details> {
        let details = row::parse_details(row, outline, &mut self.problems)?;
        if !suits::is_all_right(row, outline, &details, &mut self.problems) {
            return None;
        }
        self.numbers.push((details.number, row.line));
        Some(details)
    }

    fn note_groups(
        &mut self,
        row: &Row<'_>,
        outline: &Outline,
    ) -> (Option<GroupId>, Box<[Awaited]>) {
        let group = self.groups.id(row.text(row::GROUP));
        let awaited = row::awaited(row.text(row::AFTER)).flatten();
        let after: Box<[Awaited]> = awaited
            .map(|(name, delay_ns)| Awaited {
                group: self.groups.id(name),
                delay_ns,
            })
            .collect();
        match (group, outline.mode) {
            (Some(group), Some(_)) => self.groups.receives(group, outline.dst),
            (Some(group), None) => self.groups.elapses(group, row::stop_ns(row).unwrap_or(0)),
            (None, _) => {}
        }
        for awaited in after.iter().filter_map(|one| one.group) {
            self.groups
                .waits(awaited, outline.starter(), group, row.line);
        }
        (group, after)
    }

    /// Adds a flow to those of this host, or, where all rows are checked, to its connection only.
    fn keep(&mut self, row: &Row<'_>, outline: &Outline, mut flow: Flow) {
        let connection = row.text(row::CONNECTION);
        if !connection.is_empty() {
            let key = (outline.src, outline.dst, flow.mode, connection.into());
            let id = *self.connections.entry(key).or_insert_with(|| {
                self.trace.kept.push(Kept::opened_for(&flow));
                self.first_lines.push(row.line);
                self.trace.kept.len() as KeptId - 1
            });
            let kept = &mut self.trace.kept[id as usize];
            kept.flows += 1;
            if (kept.service, kept.dscp) != (flow.service, flow.dscp) {
                let first = self.first_lines[id as usize];
                let right = format!(
                    "has another transport, congestion_control, dscp or ip on line {first}; flows of one connection \
                     must have the same"
                );
                self.problems
                    .wrong(row.line, "connection", connection, right);
            }
            flow.kept = Some(id);
        }
        if self.host.is_some() {
            self.trace.flows.push(flow);
        }
    }

    /// A flow's number stands once in a trace.
    fn check_numbers(&mut self) {
        self.numbers.sort_unstable();
        for pair in self.numbers.windows(2) {
            let ((number, first), (next, line)) = (pair[0], pair[1]);
            if number == next {
                let right = format!("is already on line {first}; must be unique");
                self.problems
                    .wrong(line, "flow", &number.to_string(), right);
            }
        }
    }
}

#[cfg(test)]
mod tests;
