//! Waits until routes are at rest: those that nobody knows beforehand, as nodes' own files decide on them.

use nix::sched::CloneFlags;

use crate::clock;
use crate::events;
use crate::failure::{Failure, Result};
use crate::fib::{Fib, Signature};
use crate::job::{Settling, Still};
use crate::lab::Lab;
use crate::supervisor::Supervisor;

/// Until no route of any node has changed for so long as the job says. What is reported counts to the last change.
pub fn wait(lab: &Lab, supervisor: &mut Supervisor, still: &Still) -> Result<()> {
    let start_ns = clock::monotonic_ns();
    let fibs = open(lab)?;
    let mut seen = read(&fibs)?;
    let mut changed_ns = start_ns;
    loop {
        let now_ns = clock::monotonic_ns();
        if now_ns - changed_ns >= still.still_ns {
            events::converged(changed_ns - start_ns);
            return Ok(());
        }
        if now_ns - start_ns >= still.limit_ns {
            return Err(Failure::new(format!(
                "routes were never unchanged for {} virtual ms within {} ms; the last change was {} ms ago",
                still.still_ns / clock::MILLISECOND_NS,
                still.limit_ns / clock::MILLISECOND_NS,
                (now_ns - changed_ns) / clock::MILLISECOND_NS,
            )));
        }
        let ended = supervisor.wait(Some(now_ns + still.interval_ns))?;
        if let Some(process) = ended.iter().find(|process| !process.succeeded()) {
            return Err(process.failure());
        }
        let found = read(&fibs)?;
        if found != seen {
            (seen, changed_ns) = (found, clock::monotonic_ns());
        }
    }
}

/// Routes after a change of links, until they are at rest again: when the last of them changed.
pub struct Watch {
    fibs: Vec<Fib>,
    seen: Vec<Signature>,
    interval_ns: i64,
    still_ns: i64,
    /// The change of links, and the last look.
    start_ns: i64,
    looked_ns: i64,
    last: Option<LastChange>,
}

/// When a route was seen to have changed, and how long before that nobody had looked.
#[derive(Clone, Copy)]
pub struct LastChange {
    pub at_ns: i64,
    pub within_ns: i64,
}

/// Who looks this part of the time since the last change later is late by at most that part.
const LATE_BY: i64 = 100;

impl Watch {
    /// Before the change.
    pub fn new(lab: &Lab, settling: &Settling, start_ns: i64) -> Result<Self> {
        let fibs = open(lab)?;
        Ok(Self {
            seen: read(&fibs)?,
            fibs,
            interval_ns: settling.interval_ns,
            still_ns: settling.still_ns,
            start_ns,
            looked_ns: start_ns,
            last: None,
        })
    }

    /// When to look next: the longer nothing has changed, the later.
    pub fn next_look_ns(&self) -> i64 {
        let quiet_ns = self.looked_ns - self.changed_ns();
        self.looked_ns + self.interval_ns.max(quiet_ns / LATE_BY)
    }

    /// Whether routes are at rest now.
    pub fn look(&mut self, now_ns: i64) -> Result<bool> {
        let found = read(&self.fibs)?;
        if found != self.seen {
            self.seen = found;
            self.last = Some(LastChange {
                at_ns: now_ns,
                within_ns: now_ns - self.looked_ns,
            });
        }
        self.looked_ns = now_ns;
        Ok(now_ns - self.changed_ns() >= self.still_ns)
    }

    /// The last change of any route that was seen, and for how long none has followed. None where that is shorter than
    /// all before: more may have been to come.
    pub fn last(&self) -> Option<(LastChange, i64)> {
        self.last
            .map(|last| (last, self.looked_ns - last.at_ns))
            .filter(|(last, still_ns)| {
                *still_ns >= self.interval_ns.max(last.at_ns - self.start_ns)
            })
    }

    fn changed_ns(&self) -> i64 {
        self.last.map_or(self.start_ns, |last| last.at_ns)
    }
}

/// A socket in each node, which keeps its network namespace.
fn open(lab: &Lab) -> Result<Vec<Fib>> {
    lab.nodes()
        .iter()
        .map(|node| {
            lab.machine
                .inside(node, CloneFlags::CLONE_NEWNET, || {
                    Fib::open(std::iter::empty())
                })
                .map_err(|failure| failure.in_node(&node.name))
        })
        .collect()
}

fn read(fibs: &[Fib]) -> Result<Vec<Signature>> {
    fibs.iter().map(Fib::signature).collect()
}
