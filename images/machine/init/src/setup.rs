//! What nodes' own files ask for once the daemons have started: the steps of the job's `setup`, one after another.

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::clock;
use crate::failure::{Failure, Result};
use crate::job::{SetupKind, SetupStep};
use crate::lab::Lab;
use crate::supervisor::{Ended, Role, Supervisor};

/// Between two commands, virtual time. In containers each `docker exec` takes as long; what daemons do upon one command
/// is over before the next, which mgmtd of FRR 10.3 needs (it frees twice what two transactions at once share).
const PAUSE_NS: i64 = 100 * clock::MILLISECOND_NS;

/// What a step's program is to the supervisor.
pub fn role(kind: SetupKind) -> Role {
    match kind {
        SetupKind::Daemon => Role::Daemon,
        SetupKind::Main | SetupKind::Command | SetupKind::Health => Role::Setup,
    }
}

pub fn execute(lab: &Lab, supervisor: &mut Supervisor, steps: &[SetupStep]) -> Result<()> {
    steps
        .iter()
        .try_for_each(|step| execute_step(lab, supervisor, step))
}

fn execute_step(lab: &Lab, supervisor: &mut Supervisor, step: &SetupStep) -> Result<()> {
    match step.kind {
        SetupKind::Daemon | SetupKind::Main => supervisor
            .start(lab, &step.program, role(step.kind), None)
            .map(drop),
        SetupKind::Command => {
            run(lab, supervisor, step)?;
            supervisor.rest(PAUSE_NS)
        }
        SetupKind::Health => wait_until_healthy(lab, supervisor, step),
    }
}

/// Runs a program to its end, or to its limit; what could not be started has ended, too. Returns whether it succeeded.
fn run(lab: &Lab, supervisor: &mut Supervisor, step: &SetupStep) -> Result<bool> {
    let pid = supervisor.start(lab, &step.program, Role::Setup, None)?;
    let deadline_ns = clock::monotonic_ns() + step.limit_ns;
    while clock::monotonic_ns() < deadline_ns {
        let ended = supervisor.wait(Some(deadline_ns))?;
        if let Some(succeeded) = end_of(pid, &ended)? {
            return Ok(succeeded);
        }
    }
    supervisor.end(pid, Signal::SIGKILL);
    supervisor.wait_until_gone(&[pid], None)?;
    Ok(false)
}

/// Whether the process is among those that have ended, and how; a daemon's end is a failure.
fn end_of(pid: Pid, ended: &[Ended]) -> Result<Option<bool>> {
    if let Some(failed) = ended.iter().find(|process| !process.succeeded()) {
        return Err(failed.failure());
    }
    let own = ended.iter().find(|process| process.pid == pid);
    Ok(own.map(|process| process.status == "exit 0"))
}

fn wait_until_healthy(lab: &Lab, supervisor: &mut Supervisor, step: &SetupStep) -> Result<()> {
    for _ in 0..step.tries {
        if run(lab, supervisor, step)? {
            return Ok(());
        }
        supervisor.rest(step.interval_ns)?;
    }
    if step.tries == 1 {
        return Err(Failure {
            node: step.program.node.clone(),
            ..Failure::new(format!(
                "{} failed; logs/{}.log has its output",
                step.program.name, step.program.name
            ))
        });
    }
    Err(Failure {
        node: step.program.node.clone(),
        ..Failure::new(format!(
            "is not healthy after {} tries, and another node waits for it; logs/{}.log has the \
             output of its health check",
            step.tries, step.program.name
        ))
    })
}
