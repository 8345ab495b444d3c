//! A lab that stays: it listens to the host, and runs what the host's users ask for beside what the job does.

mod channel;
mod connection;
mod exec;
mod files;
mod flows;
mod frame;
mod programs;
mod session;
mod stream;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};

use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::Signal;

use self::channel::Channel;
use self::connection::Connection;
use self::exec::Execution;
use self::frame::{Answer, Change, Exec, Open, Request, Start, Started};
use self::programs::Programs;
use self::session::Session;
use crate::clock;
use crate::events::{self, Phase, Status};
use crate::failure::{Failure, Result};
use crate::job;
use crate::lab::Lab;
use crate::supervisor::{wait_for_events, Ended, Role, Supervisor, GRACE_NS};
use crate::ticks::{epoch_after, is_stop_asked, TICK_NS};
use crate::timeline::{Alteration, Booting, Timeline};

/// How many sessions may be open at once.
const SESSIONS_MAX: usize = 256;

pub struct Live<'a> {
    lab: &'a Lab,
    /// Of the whole job: those of a node that boots start again.
    booting: &'a Booting<'a>,
    channel: Channel,
    sessions: BTreeMap<u32, Session>,
    epoch_ns: i64,
    /// Why the lab ends, when it does.
    end: Option<Status>,
}

impl<'a> Live<'a> {
    pub fn open(lab: &'a Lab, booting: &'a Booting<'a>, epoch_ns: i64) -> Result<Self> {
        let channel = Channel::open()?;
        channel.name_nodes(lab.nodes())?;
        Ok(Self {
            lab,
            booting,
            channel,
            sessions: BTreeMap::new(),
            epoch_ns,
            end: None,
        })
    }

    /// Lets the host set the pace, then stays until it takes the lab down or asks for a stop, or a node dies. The
    /// sessions have ended then.
    pub fn stay(&mut self, supervisor: &mut Supervisor, timeline: Timeline) -> Result<Status> {
        self.channel.stop_time()?;
        let stayed = self.listen(supervisor, timeline);
        let ended = self.end_sessions(supervisor);
        stayed.and_then(|status| ended.map(|()| status))
    }

    fn listen(&mut self, supervisor: &mut Supervisor, mut timeline: Timeline) -> Result<Status> {
        let mut tick_ns = self.epoch_ns + TICK_NS;
        loop {
            let sessions = self.sessions.values().filter_map(Session::next_ns);
            let due_ns = sessions.chain(timeline.next_ns()).fold(tick_ns, i64::min);
            let ready = self.wait(supervisor, due_ns)?;
            self.note(&supervisor.reap());
            match timeline.advance(self.lab, supervisor) {
                Ok(ended) => self.note(&ended),
                Err(failure) => events::error(Phase::Traffic, &failure),
            }
            for session in self.sessions.values_mut() {
                session.advance(supervisor);
            }
            if ready.input {
                if let Some(payload) = self.channel.receive()? {
                    self.take(supervisor, &payload)?;
                }
            }
            self.serve(&ready.sessions)?;
            if clock::monotonic_ns() >= tick_ns {
                tick_ns += TICK_NS;
                events::progress();
                if is_stop_asked() {
                    self.end.get_or_insert(Status::Stopped);
                }
            }
            if let Some(status) = self.end {
                return Ok(status);
            }
        }
    }

    /// Waits for an input, for a process to end, or for bytes that can flow; until `due_ns` on the machine's clock.
    fn wait(&self, supervisor: &Supervisor, due_ns: i64) -> Result<Ready> {
        let mut watched = vec![
            PollFd::new(self.channel.descriptor(), PollFlags::POLLIN),
            PollFd::new(supervisor.signals(), PollFlags::POLLIN),
        ];
        let mut owners = vec![None; watched.len()];
        for (number, session) in &self.sessions {
            session.add_to(&mut watched);
            owners.resize(watched.len(), Some(*number));
        }
        wait_for_events(&mut watched, Some(due_ns))?;
        let happened = |event: &PollFd| event.any().unwrap_or(true);
        let ready = watched.iter().zip(&owners);
        Ok(Ready {
            input: happened(&watched[0]),
            sessions: ready
                .filter_map(|(event, owner)| owner.filter(|_| happened(event)))
                .collect(),
        })
    }

    /// Processes have ended: sessions learn of theirs, the host of those that should not have ended so.
    fn note(&mut self, ended: &[Ended]) {
        for process in ended {
            for session in self.sessions.values_mut() {
                session.note(process);
            }
            if process.role != Role::Session && !process.succeeded() {
                events::error(Phase::Traffic, &process.failure());
            }
            if process.role == Role::Node {
                self.end = Some(Status::Failed);
            }
        }
    }

    /// Does what an input asks for.
    fn take(&mut self, supervisor: &mut Supervisor, payload: &[u8]) -> Result<()> {
        let (number, request) = frame::parse(payload);
        let done = match (request, self.sessions.get_mut(&number)) {
            (Err(failure), _) => Err(failure),
            (Ok(request), Some(session)) => session.obey(supervisor, request),
            (Ok(Request::Open(open)), None) => self.open_session(supervisor, number, *open),
            // Its session has just ended.
            (Ok(_), None) => Ok(()),
        };
        match done {
            Ok(()) => self.serve(&BTreeSet::from([number])),
            Err(failure) => self.fail(number, &failure),
        }
    }

    fn open_session(&mut self, supervisor: &mut Supervisor, number: u32, open: Open) -> Result<()> {
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(Failure::new(format!(
                "{SESSIONS_MAX} sessions are open, which is the most that can be open"
            )));
        }
        let mut told = Started::default();
        let session = match open {
            Open::Exec(asked) => Some(self.execute(supervisor, number, &asked)?),
            Open::Connect(asked) => {
                // It tells itself when it has started.
                let connection = Connection::start(self.lab, number, asked)?;
                self.sessions
                    .insert(number, Session::Connection(connection));
                return Ok(());
            }
            Open::Change(asked) => {
                self.change(supervisor, &asked)?;
                None
            }
            Open::Files(texts) => {
                files::write(&texts)?;
                None
            }
            Open::Append(texts) => {
                files::append(&texts)?;
                None
            }
            Open::Start(asked) => {
                let epoch_ns = epoch_after(clock::monotonic_ns());
                told.epoch_ns = Some(epoch_ns - self.epoch_ns);
                Some(self.start_programs(supervisor, &asked, epoch_ns)?)
            }
            Open::Stop(asked) => Some(Session::Programs(Programs::stop(supervisor, &asked)?)),
            Open::Down {} => {
                self.end = Some(Status::Complete);
                None
            }
        };
        self.channel.tell(number, Answer::Started, &told)?;
        match session {
            Some(session) => drop(self.sessions.insert(number, session)),
            None => self.channel.tell_end(number, "exit 0")?,
        }
        Ok(())
    }

    fn execute(&self, supervisor: &mut Supervisor, number: u32, asked: &Exec) -> Result<Session> {
        Execution::start(self.lab, supervisor, number, asked).map(Session::Execution)
    }

    fn start_programs(
        &self,
        supervisor: &mut Supervisor,
        asked: &Start,
        epoch_ns: i64,
    ) -> Result<Session> {
        job::check_programs(self.lab.names(), &asked.programs)?;
        Programs::start(self.lab, supervisor, asked, epoch_ns).map(Session::Programs)
    }

    /// All of it is done or nothing, where it says how it is undone.
    fn change(&mut self, supervisor: &mut Supervisor, asked: &Change) -> Result<()> {
        let named = asked.steps.iter().chain(&asked.undo).map(|step| &step.node);
        for node in named.chain(&asked.down).chain(&asked.up) {
            self.lab.node(node)?;
        }
        let alteration = Alteration {
            name: &asked.name,
            steps: &asked.steps,
            down: &asked.down,
            up: &asked.up,
        };
        let mut ended = Vec::new();
        let done = alteration.execute(self.lab, supervisor, self.booting, &mut ended);
        self.note(&ended);
        if done.is_err() {
            for step in &asked.undo {
                // What was not changed yet may refuse to be as it is.
                drop(self.lab.apply(step));
            }
        }
        done
    }

    /// Lets bytes flow in these sessions, and in those whose process has ended; tells who has ended.
    fn serve(&mut self, ready: &BTreeSet<u32>) -> Result<()> {
        let mut failed = Vec::new();
        for (number, session) in &mut self.sessions {
            if ready.contains(number) || session.is_finished() {
                match session.serve(self.lab, &self.channel) {
                    Ok(()) => {}
                    Err(failure) => failed.push((*number, failure)),
                }
            }
        }
        for (number, failure) in failed {
            self.sessions.remove(&number);
            self.channel.tell_failure(number, &failure)?;
        }
        let mut told = Ok(());
        self.sessions.retain(|number, session| {
            let status = session.status().map(str::to_owned);
            if let (Some(status), Ok(())) = (&status, &told) {
                told = self.channel.tell_end(*number, status);
            }
            status.is_none()
        });
        told
    }

    /// What a session was asked for can't be: it ends, and its process with it. Programs of the run go on.
    fn fail(&mut self, number: u32, failure: &Failure) -> Result<()> {
        if let Some(Session::Execution(mut execution)) = self.sessions.remove(&number) {
            execution.signal(Signal::SIGKILL);
        }
        self.channel.tell_failure(number, failure)
    }

    /// The lab ends: so does what users have started, whatever becomes of its output.
    fn end_sessions(&mut self, supervisor: &mut Supervisor) -> Result<()> {
        for session in self.sessions.values_mut() {
            if let Session::Execution(execution) = session {
                execution.signal(Signal::SIGKILL);
            }
        }
        let deadline_ns = clock::monotonic_ns() + GRACE_NS;
        let ended = supervisor.wait_for(Role::Session, Some(deadline_ns))?;
        self.note(&ended);
        self.serve(&BTreeSet::new())?;
        for number in std::mem::take(&mut self.sessions).into_keys() {
            self.channel.tell_end(number, "signal 9")?;
        }
        Ok(())
    }
}

/// What has happened while PID 1 waited.
struct Ready {
    input: bool,
    sessions: BTreeSet<u32>,
}
