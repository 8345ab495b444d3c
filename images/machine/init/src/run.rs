//! The course of a run: boot, lab, daemons, probes, traffic, collection, end.

mod ending;

use std::fs;
use std::path::Path;

use crate::addresses;
use crate::audit::Audit;
use crate::clock;
use crate::drain::Drain;
use crate::events::{self, Phase, Status};
use crate::failure::{Context, Failure, Result};
use crate::job::{self, Job, Program, Ready, JOB};
use crate::lab::{self, Lab};
use crate::live::Live;
use crate::looks::Looks;
use crate::machine;
use crate::mounts;
use crate::routes::Convergence;
use crate::setup;
use crate::stillness;
use crate::supervisor::{Ended, Role, Supervisor};
use crate::sys;
use crate::ticks::{epoch_after, is_stop_asked, TICK_NS};
use crate::timeline::{Approach, Booting, Timeline};
use crate::wires::{self, Subject};

/// How many nodes without their routes are named.
const DIFFERENCES_TOLD: usize = 8;

/// Machines that run at once end at one instant, this one alone at once.
fn stops_now(job: &Job, tick_ns: i64) -> Result<bool> {
    match (&job.wires, machine::part()) {
        (Some(_), Some(part)) => wires::stops_now(Path::new(JOB), part, tick_ns, TICK_NS),
        _ => Ok(true),
    }
}

type PhaseResult<T> = std::result::Result<T, (Phase, Failure)>;

/// Does everything but the power-off; whatever goes wrong becomes an error event and the status `failed`.
pub fn boot_and_run() {
    let status = boot_and_execute().unwrap_or_else(|(phase, failure)| {
        events::error(phase, &failure);
        Status::Failed
    });
    events::end(status);
}

fn boot_and_execute() -> PhaseResult<Status> {
    boot().map_err(|failure| (Phase::Boot, failure))?;
    let job = read_job().map_err(|failure| (Phase::Job, failure))?;
    let supervisor = Supervisor::new().map_err(|failure| (Phase::Boot, failure))?;
    let lab = lab::create(&job)?;
    let mut run = Run {
        lab: &lab,
        supervisor,
        status: Status::Complete,
        audit: None,
    };
    run.supervisor.watch_nodes(&lab);
    if let Err((phase, failure)) = run.execute(&job) {
        run.fail(phase, &failure);
    }
    Ok(run.status)
}

fn boot() -> Result<()> {
    machine::plain_console();
    machine::own_root()?;
    mounts::mount_proc()?;
    mounts::enter_machine_root(&machine::host_directories()?)?;
    machine::prepare_for_programs()
}

fn read_job() -> Result<Job> {
    let file = machine::part().map_or_else(|| job::JOB_FILE.to_owned(), job::file_of_part);
    let text = fs::read_to_string(Path::new(JOB).join(&file))
        .context(|| "read it".to_owned())
        .map_err(|failure| failure.in_file(&file))?;
    job::parse(&text, &file)
}

struct Run<'a> {
    lab: &'a Lab,
    supervisor: Supervisor,
    status: Status,
    /// From the beginning of the traffic on.
    audit: Option<Audit>,
}

impl Run<'_> {
    fn execute(&mut self, job: &Job) -> PhaseResult<()> {
        let started = self.start_and_watch(job);
        // Whatever happened, what was measured is kept and everything is ended in order.
        if let Err((phase, failure)) = started {
            self.fail(phase, &failure);
        }
        self.finish(job)
    }

    fn start_and_watch(&mut self, job: &Job) -> PhaseResult<()> {
        self.wait_for_wires(job)
            .map_err(|failure| (Phase::Daemons, failure))?;
        self.start_all(Phase::Daemons, &job.daemons, Role::Daemon, None)?;
        self.set_up(job)?;
        let ready_ns = self.converge(job)?;
        let booting = Booting::of_job(job);
        // A lab that stays up has no end at which its frames could be counted.
        if job.live.is_none() {
            let audit = Audit::begin(self.lab, job).map_err(|failure| (Phase::Probes, failure))?;
            self.audit = Some(audit);
        }
        let epoch_ns = epoch_after(wires::lab_begin_ns(job, ready_ns));
        let open = |_| Live::open(self.lab, &booting, epoch_ns);
        let live = job.live.as_ref().map(open).transpose();
        let live = live.map_err(|failure| (Phase::Probes, failure))?;
        self.start_all(Phase::Probes, &job.probes, Role::Probe, Some(epoch_ns))?;
        let drain = Drain::of_job(self.lab, job).map_err(|failure| (Phase::Probes, failure))?;
        events::phase(Phase::Traffic);
        if !job.live.as_ref().is_some_and(|live| live.idle) {
            for (programs, role) in [
                (&job.traffic, Role::Traffic),
                (&job.disturbances, Role::Disturbance),
            ] {
                self.start_each(Phase::Traffic, programs, role, Some(epoch_ns))?;
            }
        }
        events::epoch(epoch_ns);
        let approach = match live {
            Some(_) => Approach::Listens,
            None => Approach::Sleeps,
        };
        let timeline = Timeline::new(job, &booting, epoch_ns, approach);
        match live {
            Some(live) => self.stay(live, timeline),
            None => self.watch_traffic(epoch_ns, job, timeline, drain),
        }
        .map_err(|failure| (Phase::Traffic, failure))
    }

    /// Until cables carry, in all machines at one instant.
    fn wait_for_wires(&mut self, job: &Job) -> Result<()> {
        let Some(wires) = &job.wires else {
            return Ok(());
        };
        self.supervisor.rest(wires::until_begin_ns(wires)?)?;
        // An event comes before what programs do at its instant, whoever else is in this machine.
        sys::run_first().context(|| "run before other programs".to_owned())
    }

    fn stay(&mut self, mut live: Live, timeline: Timeline) -> Result<()> {
        self.status = live.stay(&mut self.supervisor, timeline)?;
        Ok(())
    }

    /// Until the daemons have found the routes that the job expects, which must not take longer than it says. Returns
    /// when all machines knew.
    fn converge(&mut self, job: &Job) -> PhaseResult<Option<i64>> {
        let Some(ready) = &job.ready else {
            return Ok(None);
        };
        events::phase(Phase::Routing);
        let looks = Looks::new(Subject::Routes, job.wires.is_some());
        self.wait_for_routes(ready, looks)
            .map(Some)
            .map_err(|failure| (Phase::Routing, failure))
    }

    /// What the nodes' own files ask for; then their routes come to rest, and their addresses are known.
    fn set_up(&mut self, job: &Job) -> PhaseResult<()> {
        if !job.setup.is_empty() {
            events::phase(Phase::Setup);
            setup::execute(self.lab, &mut self.supervisor, &job.setup)
                .map_err(|failure| (Phase::Setup, failure))?;
        }
        let Some(still) = &job.still else {
            return Ok(());
        };
        events::phase(Phase::Routing);
        stillness::wait(self.lab, &mut self.supervisor, still)
            .and_then(|()| addresses::write(self.lab, job, still.addresses.as_ref()))
            .map_err(|failure| (Phase::Routing, failure))
    }

    fn wait_for_routes(&mut self, ready: &Ready, mut looks: Looks) -> Result<i64> {
        let start_ns = clock::monotonic_ns();
        let mut convergence = Convergence::new(self.lab, &ready.nodes)?;
        let mut look_ns = start_ns;
        loop {
            looks.tell(look_ns, convergence.is_reached()?)?;
            let known_ns = look_ns + wires::KNOWN_NS;
            self.supervisor.rest_until(known_ns)?;
            let since_start_ns = look_ns - start_ns;
            if looks.all_saw(look_ns)? {
                events::converged(since_start_ns);
                return Ok(known_ns);
            }
            if looks.any_left()? {
                return Err(Failure::new("another part of the lab has ended".to_owned()));
            }
            if since_start_ns >= ready.limit_ns {
                for difference in convergence.differences(DIFFERENCES_TOLD)? {
                    events::error(Phase::Routing, &difference);
                }
                return Err(Failure::new(format!(
                    "routing has not converged within {} virtual ms",
                    ready.limit_ns / clock::MILLISECOND_NS
                )));
            }
            if since_start_ns % TICK_NS < ready.interval_ns {
                events::waiting();
            }
            look_ns += ready.interval_ns;
            self.supervisor.rest_until(look_ns)?;
        }
    }

    fn start_all(
        &mut self,
        phase: Phase,
        programs: &[Program],
        role: Role,
        epoch_ns: Option<i64>,
    ) -> PhaseResult<()> {
        events::phase(phase);
        self.start_each(phase, programs, role, epoch_ns)
    }

    fn start_each(
        &mut self,
        phase: Phase,
        programs: &[Program],
        role: Role,
        epoch_ns: Option<i64>,
    ) -> PhaseResult<()> {
        for program in programs {
            self.supervisor
                .start(self.lab, program, role, epoch_ns)
                .map_err(|failure| (phase, failure))?;
        }
        Ok(())
    }

    /// Until all traffic has ended, the limit is reached, the host asks for a stop, or something fails.
    fn watch_traffic(
        &mut self,
        epoch_ns: i64,
        job: &Job,
        mut timeline: Timeline,
        drain: Option<Drain>,
    ) -> Result<()> {
        self.follow_traffic(epoch_ns, job, &mut timeline)?;
        let ended_ns = self.wait_for_parts(epoch_ns, job, &mut timeline)?;
        let limit_ns = epoch_ns.saturating_add(job.limit_ns);
        if let Some(drain) = drain.filter(|_| ended_ns < limit_ns) {
            if self.status == Status::Complete {
                let looks = Looks::new(Subject::Queues, job.wires.is_some());
                self.drain(&drain, looks, &mut timeline, limit_ns)?;
            }
        }
        if job.wires.is_some() {
            wires::leave();
        }
        timeline.tell_rest()
    }

    /// Until all programs of the traffic have ended.
    fn follow_traffic(&mut self, epoch_ns: i64, job: &Job, timeline: &mut Timeline) -> Result<()> {
        let end_ns = epoch_ns.saturating_add(job.limit_ns);
        let mut tick_ns = epoch_ns + TICK_NS;
        while self.supervisor.any(Role::Traffic) {
            let deadline_ns = tick_ns.min(end_ns);
            let deadline_ns = timeline
                .next_ns()
                .map_or(deadline_ns, |next| next.min(deadline_ns));
            let ended = self.supervisor.wait(Some(deadline_ns))?;
            self.check(Phase::Traffic, &ended);
            let ended = timeline.advance(self.lab, &mut self.supervisor)?;
            self.check(Phase::Traffic, &ended);
            let now_ns = clock::monotonic_ns();
            if self.status == Status::Failed || !self.supervisor.any(Role::Traffic) {
                return Ok(());
            }
            if now_ns >= end_ns {
                self.status = Status::Limit;
                return Ok(());
            }
            if now_ns >= tick_ns {
                events::progress();
                if is_stop_asked() && stops_now(job, tick_ns)? {
                    self.status = Status::Stopped;
                    return Ok(());
                }
                tick_ns += TICK_NS;
            }
        }
        Ok(())
    }

    fn finish(&mut self, job: &Job) -> PhaseResult<()> {
        if let Some(audit) = self.audit.take() {
            if let Err(failure) = audit.end(self.lab, job) {
                self.fail(Phase::Traffic, &failure);
            }
        }
        // What is ended early may end as it likes; probes must write all they have.
        for role in [Role::Traffic, Role::Disturbance] {
            self.supervisor
                .terminate(role)
                .map_err(|failure| (Phase::Traffic, failure))?;
        }
        let probes = self
            .supervisor
            .terminate(Role::Probe)
            .map_err(|failure| (Phase::Probes, failure))?;
        for probe in probes
            .iter()
            .filter(|ended| ended.role == Role::Probe && !ended.succeeded())
        {
            self.fail(Phase::Probes, &probe.failure());
        }
        self.collect(&job.collect)?;
        for role in [Role::Setup, Role::Daemon] {
            self.supervisor
                .terminate(role)
                .map_err(|failure| (Phase::Shutdown, failure))?;
        }
        Ok(())
    }

    /// One after another: collectors are short, and a later one may read what an earlier one wrote.
    fn collect(&mut self, programs: &[Program]) -> PhaseResult<()> {
        events::phase(Phase::Collect);
        let collect = |failure| (Phase::Collect, failure);
        for program in programs {
            if let Err(failure) = self
                .supervisor
                .start(self.lab, program, Role::Collector, None)
            {
                self.fail(Phase::Collect, &failure);
                continue;
            }
            let ended = self
                .supervisor
                .wait_for(Role::Collector, None)
                .map_err(collect)?;
            for collector in ended
                .iter()
                .filter(|ended| ended.role == Role::Collector && !ended.succeeded())
            {
                self.fail(Phase::Collect, &collector.failure());
            }
        }
        Ok(())
    }

    /// During the traffic nothing may fail, no node may die, and no probe may end. A daemon that exits with 0 has gone
    /// to the background.
    fn check(&mut self, phase: Phase, ended: &[Ended]) {
        for process in ended {
            let expected = process.succeeded()
                && matches!(
                    process.role,
                    Role::Traffic | Role::Disturbance | Role::Daemon | Role::Setup | Role::Power
                );
            if !expected {
                self.fail(phase, &process.failure());
            }
        }
    }

    fn fail(&mut self, phase: Phase, failure: &Failure) {
        events::error(phase, failure);
        self.status = Status::Failed;
    }
}
