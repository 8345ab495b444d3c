//! The events of a job: changes of links at exact virtual times, and how long routing takes to follow.

use std::collections::VecDeque;

use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{clock_nanosleep, ClockId, ClockNanosleepFlags};

use crate::clock::{self, MILLISECOND_NS};
use crate::events::{self, Settled};
use crate::failure::{Context, Failure, Result};
use crate::job::{Change, Expectation, Job, Program, Step};
use crate::lab::Lab;
use crate::looks::Looks;
use crate::routes::Convergence;
use crate::setup;
use crate::stillness::Watch;
use crate::supervisor::{Ended, Role, Supervisor};
use crate::wires::{self, Subject};

/// A wait that watches processes may end late by a thousandth of its length (Linux, `select_estimate_accuracy` in
/// fs/select.c), on a kernel without our patch that takes all slack from timers. So it ends that much before a change,
/// and the rest is slept exactly.
const APPROACH_NS: i64 = MILLISECOND_NS;

/// The changes still to come, and the one that routing has not followed yet.
pub struct Timeline<'a> {
    changes: VecDeque<&'a Change>,
    /// Of the whole job: those of a node that boots start again.
    booting: &'a Booting<'a>,
    epoch_ns: i64,
    pending: Option<Pending<'a>>,
    approach: Approach,
    looks: Looks,
}

/// How the last millisecond before a change passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// Asleep.
    Sleeps,
    /// Listening to the host, who may stop time in it. Only where no timer has slack.
    Listens,
}

/// What nodes start when they boot: daemons, and what their own files add to these.
pub struct Booting<'a>(Vec<(&'a Program, Role)>);

impl<'a> Booting<'a> {
    pub fn of_job(job: &'a Job) -> Self {
        let daemons = job.daemons.iter().map(|daemon| (daemon, Role::Daemon));
        let steps = job.setup.iter().filter(|step| step.again);
        let steps = steps.map(|step| (&step.program, setup::role(step.kind)));
        Self(daemons.chain(steps).collect())
    }
}

struct Pending<'a> {
    change: &'a Change,
    outcome: Outcome,
}

/// What a change leads to.
enum Outcome {
    Known(Reconvergence),
    Unknown(Watch),
}

impl Outcome {
    fn next_look_ns(&self) -> i64 {
        match self {
            Self::Known(reconvergence) => reconvergence.next_ns(),
            Self::Unknown(watch) => watch.next_look_ns(),
        }
    }
}

/// Looks at instants on which all machines agree, until all of them have seen the routes that a change must lead to.
struct Reconvergence {
    convergence: Convergence,
    interval_ns: i64,
    /// The next look. One that could not be made in time is left out.
    look_ns: i64,
    /// The last look, while it is not known what others saw.
    looked_ns: Option<i64>,
}

impl Reconvergence {
    fn new(lab: &Lab, expected: &Expectation, change_ns: i64) -> Result<Self> {
        let interval_ns = expected.interval_ns;
        Ok(Self {
            convergence: Convergence::new(lab, &expected.nodes)?,
            interval_ns,
            look_ns: change_ns + interval_ns,
            looked_ns: None,
        })
    }

    fn next_ns(&self) -> i64 {
        let known_ns = self.looked_ns.map(|looked_ns| looked_ns + wires::KNOWN_NS);
        known_ns.map_or(self.look_ns, |known_ns| known_ns.min(self.look_ns))
    }

    /// The look at which all had their routes, as soon as that is known.
    fn advance(&mut self, looks: &mut Looks, now_ns: i64) -> Result<Option<i64>> {
        let is_known = |looked_ns: &mut i64| now_ns >= *looked_ns + wires::KNOWN_NS;
        if let Some(looked_ns) = self.looked_ns.take_if(is_known) {
            if looks.all_saw(looked_ns)? {
                return Ok(Some(looked_ns));
            }
        }
        while self.look_ns < now_ns {
            self.look_ns += self.interval_ns;
        }
        if self.look_ns == now_ns {
            looks.tell(now_ns, self.convergence.is_reached()?)?;
            self.looked_ns = Some(now_ns);
            self.look_ns += self.interval_ns;
        }
        Ok(None)
    }
}

impl<'a> Timeline<'a> {
    pub fn new(job: &'a Job, booting: &'a Booting<'a>, epoch_ns: i64, approach: Approach) -> Self {
        let mut changes: Vec<&Change> = job.events.iter().collect();
        changes.sort_by_key(|change| change.at_ns);
        Self {
            changes: changes.into(),
            booting,
            epoch_ns,
            pending: None,
            approach,
            looks: Looks::new(Subject::Routes, job.wires.is_some()),
        }
    }

    /// When `advance` wants to be called next, on the machine's clock.
    pub fn next_ns(&self) -> Option<i64> {
        let change = self.changes.front().map(|change| {
            let at_ns = self.epoch_ns + change.at_ns;
            let approach_ns = at_ns - APPROACH_NS;
            match self.approach {
                Approach::Listens if clock::monotonic_ns() >= approach_ns => at_ns,
                _ => approach_ns,
            }
        });
        let look = self.pending.as_ref();
        let look = look.map(|pending| pending.outcome.next_look_ns());
        [change, look].into_iter().flatten().min()
    }

    /// Does what is due; returns the processes that have ended meanwhile.
    pub fn advance(&mut self, lab: &Lab, supervisor: &mut Supervisor) -> Result<Vec<Ended>> {
        self.look()?;
        let mut ended = Vec::new();
        while let Some(change) = self.changes.front().copied() {
            let at_ns = self.epoch_ns + change.at_ns;
            let approach_ns = match self.approach {
                Approach::Sleeps => APPROACH_NS,
                Approach::Listens => 0,
            };
            if at_ns - approach_ns > clock::monotonic_ns() {
                break;
            }
            self.changes.pop_front();
            if self.approach == Approach::Sleeps {
                sleep_until(at_ns)?;
            }
            ended.append(&mut self.execute(lab, supervisor, change, at_ns)?);
        }
        Ok(ended)
    }

    fn execute(
        &mut self,
        lab: &Lab,
        supervisor: &mut Supervisor,
        change: &'a Change,
        at_ns: i64,
    ) -> Result<Vec<Ended>> {
        let mut ended = Vec::new();
        // What an earlier change led to can't be told from this one any more.
        self.tell_rest()?;
        let watch = change
            .settling
            .as_ref()
            .map(|settling| Watch::new(lab, settling, at_ns))
            .transpose()?;
        Alteration::of(change).execute(lab, supervisor, self.booting, &mut ended)?;
        let outcome = match (watch, &change.reconvergence) {
            (Some(watch), _) => Some(Outcome::Unknown(watch)),
            (None, Some(expected)) => {
                Some(Outcome::Known(Reconvergence::new(lab, expected, at_ns)?))
            }
            (None, None) => None,
        };
        self.pending = outcome.map(|outcome| Pending { change, outcome });
        Ok(ended)
    }

    /// Tells how far routes came to rest after the last change, of which it is not told yet; nobody looks any more.
    pub fn tell_rest(&mut self) -> Result<()> {
        let Some(Pending {
            change,
            outcome: Outcome::Unknown(mut watch),
            ..
        }) = self.pending.take()
        else {
            return Ok(());
        };
        watch.look(clock::monotonic_ns())?;
        self.tell(change, &watch);
        Ok(())
    }

    fn tell(&self, change: &Change, watch: &Watch) {
        if let Some((last, still_ns)) = watch.last() {
            let within_ns = last.within_ns;
            events::reconverged(
                &change.name,
                last.at_ns - self.epoch_ns - change.at_ns,
                Some(Settled {
                    within_ns,
                    still_ns,
                }),
            );
        }
    }

    fn look(&mut self) -> Result<()> {
        if self.pending.is_none() {
            return Ok(());
        }
        let now_ns = clock::monotonic_ns();
        let is_due = |pending: &mut Pending| now_ns >= pending.outcome.next_look_ns();
        let Some(mut pending) = self.pending.take_if(is_due) else {
            return Ok(());
        };
        match &mut pending.outcome {
            Outcome::Known(reconvergence) => {
                if let Some(seen_ns) = reconvergence.advance(&mut self.looks, now_ns)? {
                    let since_ns = seen_ns - self.epoch_ns - pending.change.at_ns;
                    events::reconverged(&pending.change.name, since_ns, None);
                    return Ok(());
                }
            }
            Outcome::Unknown(watch) => {
                if watch.look(now_ns)? {
                    self.tell(pending.change, watch);
                    return Ok(());
                }
            }
        }
        self.pending = Some(pending);
        Ok(())
    }
}

/// What a change does, whenever it happens.
pub struct Alteration<'a> {
    pub name: &'a str,
    pub steps: &'a [Step],
    /// Nodes that lose their power, after the steps.
    pub down: &'a [String],
    /// Nodes that boot, after the steps.
    pub up: &'a [String],
}

impl<'a> Alteration<'a> {
    fn of(change: &'a Change) -> Self {
        Self {
            name: &change.name,
            steps: &change.steps,
            down: &change.down,
            up: &change.up,
        }
    }

    /// Does it now. `booting` is of the whole job. Processes that have ended are added to `ended`, also where something
    /// fails.
    pub fn execute(
        &self,
        lab: &Lab,
        supervisor: &mut Supervisor,
        booting: &Booting,
        ended: &mut Vec<Ended>,
    ) -> Result<()> {
        // Prepared beforehand would be later for the lab: the order of a change's own steps is what counts.
        events::change(self.name);
        let in_change = |failure: Failure| Failure {
            message: format!("event {}: {}", self.name, failure.message),
            ..failure
        };
        for step in self.steps {
            lab.apply(step).map_err(in_change)?;
        }
        self.power(lab, supervisor, booting, ended)
            .map_err(in_change)
    }

    /// Takes nodes their processes, or boots them. Their links are down already, or up again: nothing that a dying
    /// process sends leaves.
    fn power(
        &self,
        lab: &Lab,
        supervisor: &mut Supervisor,
        booting: &Booting,
        ended: &mut Vec<Ended>,
    ) -> Result<()> {
        for node in self.down {
            ended.append(&mut supervisor.halt(lab, node)?);
        }
        for (program, role) in &booting.0 {
            if program
                .node
                .as_ref()
                .is_some_and(|node| self.up.contains(node))
            {
                supervisor.start(lab, program, *role, None)?;
            }
        }
        Ok(())
    }
}

fn sleep_until(at_ns: i64) -> Result<()> {
    set_timer_slack(1)?;
    let until = TimeSpec::new(at_ns / 1_000_000_000, at_ns % 1_000_000_000);
    let slept = clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &until,
    );
    // Back to the default, which the programs started later inherit.
    set_timer_slack(0)?;
    slept.map(drop).context(|| "sleep".to_owned())
}

fn set_timer_slack(slack_ns: u64) -> Result<()> {
    set_timerslack(slack_ns).context(|| "set the timer slack".to_owned())
}
