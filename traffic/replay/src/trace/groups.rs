//! The rules of `group` and `after`, which hold over a whole trace.

use rustc_hash::{FxHashMap, FxHashSet};

use super::GroupId;
use crate::hosts::{HostId, Hosts};
use crate::problems::{suggestion, Problems};

/// Who receives the flows of a group.
#[derive(Clone, Copy)]
enum Receiver {
    None,
    One(HostId),
    /// A group may cross hosts as long as nothing waits for it; `line` is the first row of another host.
    Several {
        line: u64,
    },
}

/// A flow that waits.
struct Wait {
    line: u64,
    after: GroupId,
    starter: HostId,
}

/// The groups of a trace as its rows are read.
#[derive(Default)]
pub struct Groups {
    names: Vec<String>,
    by_name: FxHashMap<String, GroupId>,
    receivers: Vec<Receiver>,
    waits: Vec<Wait>,
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
        let id = self.names.len() as GroupId;
        self.by_name.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        self.receivers.push(Receiver::None);
        Some(id)
    }

    /// Notes what one row says.
    pub fn note(
        &mut self,
        group: Option<GroupId>,
        after: Option<GroupId>,
        dst: HostId,
        starter: HostId,
        line: u64,
    ) {
        if let Some(group) = group {
            let receiver = &mut self.receivers[group as usize];
            *receiver = match *receiver {
                Receiver::None => Receiver::One(dst),
                Receiver::One(host) if host != dst => Receiver::Several { line },
                unchanged => unchanged,
            };
        }
        let Some(after) = after else { return };
        self.waits.push(Wait {
            line,
            after,
            starter,
        });
        if let Some(group) = group {
            if self.known_edges.insert((group, after)) {
                self.edges.push((group, after, line));
            }
        }
    }

    /// Judges the whole: every `after` names a group that the flow's starter received, and no group waits for itself.
    pub fn check(&self, hosts: &Hosts, problems: &mut Problems) {
        for wait in &self.waits {
            self.check_wait(wait, hosts, problems);
        }
        self.check_loops(problems);
    }

    fn check_wait(&self, wait: &Wait, hosts: &Hosts, problems: &mut Problems) {
        let name = &self.names[wait.after as usize];
        let starter = hosts.name(wait.starter);
        match self.receivers[wait.after as usize] {
            Receiver::None => {
                let groups = self.names.iter().zip(&self.receivers);
                let real = groups
                    .filter(|(_, receiver)| !matches!(receiver, Receiver::None))
                    .map(|(name, _)| name.as_str());
                let right = format!("must be the group of some flow{}", suggestion(name, real));
                problems.wrong(wait.line, "after", name, right);
            }
            Receiver::One(host) if host == wait.starter => {}
            Receiver::One(host) => {
                let right = format!("its flows are received by {}; must be a group that {starter}, which starts this flow, receives", hosts.name(host));
                problems.wrong(wait.line, "after", name, right);
            }
            Receiver::Several { line } => {
                let right = format!(
                    "its flows are received by several nodes (another one on line {line}); must be a group that {starter}, which starts this flow, receives alone"
                );
                problems.wrong(wait.line, "after", name, right);
            }
        }
    }

    /// Takes away groups that wait for nothing until none is left (Kahn's algorithm); what remains is on or behind a loop.
    fn check_loops(&self, problems: &mut Problems) {
        let mut waits_for = vec![0u32; self.names.len()];
        let mut dependents = vec![Vec::new(); self.names.len()];
        for &(group, after, _) in &self.edges {
            waits_for[group as usize] += 1;
            dependents[after as usize].push(group);
        }
        let mut free: Vec<GroupId> = (0..self.names.len() as GroupId)
            .filter(|&group| waits_for[group as usize] == 0)
            .collect();
        while let Some(group) = free.pop() {
            for &dependent in &dependents[group as usize] {
                waits_for[dependent as usize] -= 1;
                if waits_for[dependent as usize] == 0 {
                    free.push(dependent);
                }
            }
        }
        for (group, after, line) in self.edges.iter().filter(|(group, after, _)| {
            waits_for[*group as usize] > 0 && waits_for[*after as usize] > 0
        }) {
            let group = &self.names[*group as usize];
            let right =
                format!("group \"{group}\" would wait for itself; groups must not wait in a loop");
            problems.wrong(*line, "after", &self.names[*after as usize], right);
        }
    }
}
