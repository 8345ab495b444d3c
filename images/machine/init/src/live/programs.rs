//! Programs of the run that the host starts and stops while the lab is live.

use std::collections::BTreeSet;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::frame::{Part, Start, Stop};
use crate::clock;
use crate::failure::{Failure, Result};
use crate::lab::Lab;
use crate::supervisor::{Ended, Role, Supervisor, GRACE_NS};

/// What may be started and stopped.
const ROLES: [Role; 3] = [Role::Traffic, Role::Disturbance, Role::Probe];

/// Programs whose end a session waits for.
pub struct Programs {
    left: BTreeSet<Pid>,
    status: String,
    /// When those that have been asked to end are killed.
    kill_at_ns: Option<i64>,
}

impl Programs {
    /// Starts all of them or none; they find their epoch in their environment.
    pub fn start(
        lab: &Lab,
        supervisor: &mut Supervisor,
        asked: &Start,
        epoch_ns: i64,
    ) -> Result<Self> {
        for program in &asked.programs {
            if supervisor.find(&program.name, &ROLES).is_some() {
                let message = format!("a program \"{}\" is already running", program.name);
                return Err(Failure::new(message));
            }
        }
        let role = match asked.role {
            Part::Traffic => Role::Traffic,
            Part::Disturbance => Role::Disturbance,
            Part::Probe => Role::Probe,
        };
        let mut programs = Self::waiting_for(BTreeSet::new());
        for program in &asked.programs {
            match supervisor.start(lab, program, role, Some(epoch_ns)) {
                Ok(pid) => drop(programs.left.insert(pid)),
                Err(failure) => {
                    programs.signal(supervisor, Signal::SIGKILL);
                    return Err(failure);
                }
            }
        }
        Ok(programs)
    }

    /// Asks programs to end; those that have not after two virtual seconds are killed.
    pub fn stop(supervisor: &mut Supervisor, asked: &Stop) -> Result<Self> {
        let find = |name: &String| {
            supervisor.find(name, &ROLES).ok_or_else(|| {
                let running = supervisor.names(&ROLES).join(", ");
                Failure::new(format!(
                    "no program \"{name}\" is running; these are: {running}"
                ))
            })
        };
        let left = asked.names.iter().map(find).collect::<Result<_>>()?;
        let programs = Self {
            kill_at_ns: Some(clock::monotonic_ns() + GRACE_NS),
            ..Self::waiting_for(left)
        };
        programs.signal(supervisor, Signal::SIGTERM);
        Ok(programs)
    }

    fn waiting_for(left: BTreeSet<Pid>) -> Self {
        Self {
            left,
            status: "exit 0".to_owned(),
            kill_at_ns: None,
        }
    }

    pub fn signal(&self, supervisor: &mut Supervisor, signal: Signal) {
        for pid in &self.left {
            supervisor.end(*pid, signal);
        }
    }

    pub fn next_ns(&self) -> Option<i64> {
        self.kill_at_ns
    }

    /// Does what is due.
    pub fn advance(&mut self, supervisor: &mut Supervisor) {
        let now_ns = clock::monotonic_ns();
        if self.kill_at_ns.take_if(|due| *due <= now_ns).is_some() {
            self.signal(supervisor, Signal::SIGKILL);
        }
    }

    /// A program has ended; one of these, or another.
    pub fn note(&mut self, ended: &Ended) {
        if self.left.remove(&ended.pid) && !ended.succeeded() && self.status == "exit 0" {
            self.status.clone_from(&ended.status);
        }
    }

    /// How they ended, when all have: as the first that failed.
    pub fn status(&self) -> Option<&str> {
        self.left.is_empty().then_some(&self.status)
    }
}
