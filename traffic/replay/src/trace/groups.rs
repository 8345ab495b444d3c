//! The rules of `group` and `after`, which hold over a whole trace. A group's name is a path: what belongs to `job/map`
//! belongs to `job` too.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::barriers::Barrier;
use crate::hosts::HostId;
use crate::problems::{suggestion, Problems};

/// A group's place among all of the trace, by first appearance: the same at every host.
pub type GroupId = u32;

/// Whether a text could name a group.
pub fn is_path(text: &str) -> bool {
    text.split('/').all(|name| !name.is_empty())
}

/// What is known of one group.
struct Group {
    name: Box<str>,
    parent: Option<GroupId>,
    /// Who receives its own flows, without those of the groups within it; mostly one host. Sorted.
    receivers: Vec<HostId>,
    /// When the last of its own iperf3 flows ends.
    until_ns: Option<i64>,
    has_flows: bool,
}

/// The groups of a trace as its rows are read.
#[derive(Default)]
pub struct Groups {
    list: Vec<Group>,
    by_name: FxHashMap<Box<str>, GroupId>,
    /// A group that is waited for, by whom, and the first line that says so.
    waits: FxHashMap<(GroupId, HostId), u64>,
    /// (group, the group that it waits for, first line that says so)
    edges: Vec<(GroupId, GroupId, u64)>,
    known_edges: FxHashSet<(GroupId, GroupId)>,
}

impl Groups {
    /// A name's number; an empty name is no group.
    pub fn id(&mut self, name: &str) -> Option<GroupId> {
        if name.is_empty() {
            return None;
        }
        if let Some(&id) = self.by_name.get(name) {
            return Some(id);
        }
        let parent = name.rsplit_once('/').and_then(|(path, _)| self.id(path));
        let id = self.list.len() as GroupId;
        self.by_name.insert(name.into(), id);
        self.list.push(Group {
            name: name.into(),
            parent,
            receivers: Vec::new(),
            until_ns: None,
            has_flows: false,
        });
        Some(id)
    }

    /// Notes that a host receives a flow of a group.
    pub fn receives(&mut self, group: GroupId, host: HostId) {
        let group = &mut self.list[group as usize];
        group.has_flows = true;
        if let Err(place) = group.receivers.binary_search(&host) {
            group.receivers.insert(place, host);
        }
    }

    /// Notes a flow of a group that nobody here receives, and that is over at a time.
    pub fn elapses(&mut self, group: GroupId, at_ns: i64) {
        let group = &mut self.list[group as usize];
        group.has_flows = true;
        group.until_ns = group.until_ns.max(Some(at_ns));
    }

    /// Notes a flow that waits: the host that starts it, and the group that it is of.
    pub fn waits(&mut self, after: GroupId, host: HostId, group: Option<GroupId>, line: u64) {
        self.waits.entry((after, host)).or_insert(line);
        if let Some(group) = group {
            if self.known_edges.insert((group, after)) {
                self.edges.push((group, after, line));
            }
        }
    }

    /// Judges the whole: every `after` names a group that has flows, and no group waits for itself.
    pub fn check(&self, problems: &mut Problems) {
        let has_flows = self.with_flows();
        let mut lines: Vec<_> = self
            .waits
            .iter()
            .map(|(&(after, _), &line)| (line, after))
            .collect();
        lines.sort_unstable();
        for (line, after) in lines {
            if !has_flows[after as usize] {
                let name = self.name(after);
                let groups = self.list.iter().zip(&has_flows);
                let real = groups
                    .filter(|(_, &has)| has)
                    .map(|(group, _)| &*group.name);
                let right = format!("must be the group of some flow{}", suggestion(name, real));
                problems.wrong(line, "after", name, right);
            }
        }
        self.check_loops(problems);
    }

    fn name(&self, group: GroupId) -> &str {
        &self.list[group as usize].name
    }

    /// Which groups have flows, of their own or within.
    fn with_flows(&self) -> Vec<bool> {
        let mut has: Vec<bool> = self.list.iter().map(|group| group.has_flows).collect();
        // A parent has the lower number.
        for id in (0..self.list.len()).rev() {
            if let Some(parent) = self.list[id].parent {
                has[parent as usize] |= has[id];
            }
        }
        has
    }

    fn check_loops(&self, problems: &mut Problems) {
        let on_loop = self.on_loops();
        for (group, after, line) in &self.edges {
            if on_loop[*group as usize] && on_loop[*after as usize] {
                let right = format!(
                    "group \"{}\" would wait for itself; groups must not wait in a loop",
                    self.name(*group)
                );
                problems.wrong(*line, "after", self.name(*after), right);
            }
        }
    }

    /// Which groups are on a loop, or between two: neither what waits for none that is on one, nor what none on one
    /// waits for.
    fn on_loops(&self) -> Vec<bool> {
        let parents = self.list.iter().enumerate();
        let within = parents.filter_map(|(id, group)| Some((group.parent?, id as GroupId)));
        let waits = self.edges.iter().map(|&(group, after, _)| (group, after));
        let edges: Vec<_> = waits.chain(within).collect();
        let reversed: Vec<_> = edges.iter().map(|&(from, to)| (to, from)).collect();
        let mut remains = vec![true; self.list.len()];
        remove_free(&edges, &mut remains);
        remove_free(&reversed, &mut remains);
        remains
    }

    /// What the flows of `host` that wait, and those that are waited for, need to know; and the first wait that crosses
    /// hosts.
    pub fn barriers(&self, host: HostId) -> FxHashMap<GroupId, Barrier> {
        let mut waiters: FxHashMap<GroupId, Vec<HostId>> = FxHashMap::default();
        for &(group, waiter) in self.waits.keys() {
            waiters.entry(group).or_default().push(waiter);
        }
        let mut receivers: FxHashMap<GroupId, (BTreeSet<HostId>, Option<i64>)> =
            FxHashMap::default();
        for (id, group) in self.list.iter().enumerate() {
            for above in self
                .path(id as GroupId)
                .filter(|above| waiters.contains_key(above))
            {
                let (hosts, until_ns) = receivers.entry(above).or_default();
                hosts.extend(&group.receivers);
                *until_ns = (*until_ns).max(group.until_ns);
            }
        }
        let mut barriers = FxHashMap::default();
        for (group, mut waiters) in waiters {
            let (receivers, until_ns) = receivers.remove(&group).unwrap_or_default();
            let (waits, receives) = (waiters.contains(&host), receivers.contains(&host));
            if !waits && !receives {
                continue;
            }
            waiters.retain(|&waiter| waiter != host);
            waiters.sort_unstable();
            let parts = receivers.len() - usize::from(receives);
            let barrier = Barrier {
                line: if waits {
                    self.waits[&(group, host)]
                } else {
                    self.waits[&(group, waiters[0])]
                },
                remote_parts: if waits { parts as u32 } else { 0 },
                until_ns: until_ns.filter(|_| waits),
                waiters: if receives { waiters } else { Vec::new() },
            };
            barriers.insert(group, barrier);
        }
        barriers
    }

    /// A group and those that it is within.
    fn path(&self, group: GroupId) -> impl Iterator<Item = GroupId> + '_ {
        std::iter::successors(Some(group), |&id| self.list[id as usize].parent)
    }

    /// The group that each one is within.
    pub fn parents(&self) -> Vec<Option<GroupId>> {
        self.list.iter().map(|group| group.parent).collect()
    }
}

/// Removes what waits for nothing that remains, until nothing more can be (Kahn's algorithm). `edges` are (who waits,
/// for what).
fn remove_free(edges: &[(GroupId, GroupId)], remains: &mut [bool]) {
    let mut waits_for = vec![0u32; remains.len()];
    let mut dependents = vec![Vec::new(); remains.len()];
    for &(group, after) in edges {
        if remains[group as usize] && remains[after as usize] {
            waits_for[group as usize] += 1;
            dependents[after as usize].push(group);
        }
    }
    let is_free = |&group: &usize| remains[group] && waits_for[group] == 0;
    let mut free: Vec<usize> = (0..remains.len()).filter(is_free).collect();
    while let Some(group) = free.pop() {
        remains[group] = false;
        for &dependent in &dependents[group] {
            waits_for[dependent as usize] -= 1;
            if waits_for[dependent as usize] == 0 {
                free.push(dependent as usize);
            }
        }
    }
}
