//! Waits until routes are at rest: those that nobody knows beforehand, as nodes' own files decide on them.

use nix::sched::CloneFlags;

use crate::clock;
use crate::events;
use crate::failure::{Failure, Result};
use crate::fib::{Fib, Signature};
use crate::job::Still;
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
                "routes have not been at rest for {} virtual ms within {}; the last change was {} ms ago",
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
