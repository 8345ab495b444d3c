//! Plays a host's flows: one thread that sleeps in epoll until a flow is due or a socket is ready.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::sys::signalfd::SignalFd;
use socket2::Socket;

use crate::clock::Clock;
use crate::connection::{Connection, Connections, Handle, Role};
use crate::errno;
use crate::flows::Flows;
use crate::head::Head;
use crate::hosts::Hosts;
use crate::log::Status;
use crate::mptcp::Subflows;
use crate::network::Network;
use crate::receiver::{Incoming, HEAD_BUFFER_BYTES};
use crate::rendezvous::Rendezvous;
use crate::schedule::{Action, RowId};
use crate::trace::{Extent, KeptId, ServiceId};
use crate::wakeups::{self, Epoll, Termination, Timer};
use calls::Calls;
use queue_pairs::QueuePairs;
use source::Source;

mod calls;
mod homa;
mod kept_pairs;
mod meet;
mod queue_pairs;
mod roce;
mod serve;
mod source;
mod start;

/// Whether a connection goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open,
    Closed,
}

#[derive(Clone, Copy)]
enum KeptState {
    Unopened,
    Open(Handle),
    Failed(i32),
}

pub struct Player {
    hosts: Hosts,
    flows: Flows,
    network: Network,
    /// Where no group crosses hosts there is none.
    rendezvous: Option<Rendezvous>,
    clock: Clock,
    /// After the epoch.
    until_ns: Option<i64>,
    epoll: Epoll,
    timer: Timer,
    signals: SignalFd,
    connections: Connections,
    kept: Vec<KeptState>,
    /// The connections of long flows, which end at a time.
    long: HashMap<RowId, Handle>,
    /// Where no flow goes over RoCE there are none.
    queue_pairs: Option<QueuePairs>,
    /// Where no flow goes over Homa there are none.
    calls: Option<Calls>,
    /// Whether something may have become due.
    look_for_due: bool,
    terminated: bool,
    /// The host goes down: what is open has failed.
    power_lost: bool,
    buffer: Vec<u8>,
    complete: Vec<Incoming>,
}

impl Player {
    pub fn new(
        hosts: Hosts,
        flows: Flows,
        network: Network,
        rendezvous: Option<Rendezvous>,
        clock: Clock,
        until_ns: Option<i64>,
    ) -> io::Result<Self> {
        let (epoll, timer, signals) = (
            Epoll::new()?,
            Timer::new()?,
            wakeups::termination_signals()?,
        );
        let watch = |descriptor: BorrowedFd, source: Source| {
            epoll.add(descriptor, wakeups::READABLE, source.token())
        };
        for (service, listener) in network.listeners() {
            watch(listener.as_fd(), Source::Listener(service))?;
        }
        if let Some(rendezvous) = &rendezvous {
            watch(rendezvous.mailbox().as_fd(), Source::Mailbox)?;
        }
        let queue_pairs = QueuePairs::of(&flows.trace)?;
        if let Some(queue_pairs) = &queue_pairs {
            watch(queue_pairs.as_fd(), Source::Roce)?;
        }
        let calls = Calls::of(&flows.trace, &network)?;
        if let Some(calls) = &calls {
            watch(calls.as_fd(), Source::Homa)?;
        }
        watch(timer.as_fd(), Source::Timer)?;
        watch(signals.as_fd(), Source::Signals)?;
        let kept = vec![KeptState::Unopened; flows.trace.kept.len()];
        Ok(Self {
            hosts,
            flows,
            network,
            rendezvous,
            clock,
            until_ns,
            epoll,
            timer,
            signals,
            connections: Connections::default(),
            kept,
            long: HashMap::new(),
            queue_pairs,
            calls,
            look_for_due: true,
            terminated: false,
            power_lost: false,
            buffer: vec![0; HEAD_BUFFER_BYTES],
            complete: Vec::new(),
        })
    }

    /// Plays until all flows have ended, or the time is over, or a signal comes. All rows are in the log then, also
    /// after an error.
    pub fn run(mut self) -> io::Result<()> {
        self.open_kept_connections();
        self.open_queue_pairs();
        let played = self.play();
        self.finish()?;
        played
    }

    fn open_kept_connections(&mut self) {
        let trace = &self.flows.trace;
        let opened_here =
            |id: &usize| trace.kept[*id].opened_here && !trace.is_kept_pair(*id as KeptId);
        let ids: Vec<usize> = (0..self.kept.len()).filter(opened_here).collect();
        for id in ids {
            self.flows.schedule.at(i64::MIN, Action::Open(id as KeptId));
        }
    }

    fn play(&mut self) -> io::Result<()> {
        loop {
            if self.look_for_due {
                self.do_what_is_due()?;
            }
            self.send_notices()?;
            if self.terminated || self.is_done() {
                return Ok(());
            }
            if let Some(next_ns) = self.next_ns() {
                self.timer.arm(self.clock.monotonic_ns(next_ns))?;
            }
            let events = self.epoll.wait()?;
            self.clock.forget();
            for index in 0..events {
                let (token, what) = self.epoll.event(index);
                self.on_event(token, what)?;
            }
        }
    }

    fn next_ns(&mut self) -> Option<i64> {
        [
            self.flows.schedule.next_ns(),
            self.flows.log().flush_at_ns(),
            self.until_ns,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn do_what_is_due(&mut self) -> io::Result<()> {
        self.look_for_due = false;
        let now_ns = self.clock.now_ns();
        while let Some(action) = self.flows.schedule.pop_due(now_ns) {
            match action {
                Action::Open(kept) => self.open_kept(kept)?,
                Action::Connect(row) => self.connect_pair(row)?,
                Action::Tell(host) => self.deliver(host)?,
                Action::Stop(row) => self.stop(row)?,
                Action::Elapse(group) => self.flows.other_part_complete(group, &self.clock),
                Action::Start(row) => self.start(row)?,
            }
        }
        if self
            .flows
            .log()
            .flush_at_ns()
            .is_some_and(|at_ns| at_ns <= now_ns)
        {
            self.flows.log().flush()?;
        }
        self.terminated |= self.until_ns.is_some_and(|until_ns| until_ns <= now_ns);
        Ok(())
    }

    fn on_event(&mut self, token: u64, what: u32) -> io::Result<()> {
        match Source::of(token) {
            Source::Connection(handle) => return self.on_ready(handle, what),
            Source::Listener(service) => return self.accept_all(service),
            Source::Peer(host) => return self.deliver(host),
            Source::Mailbox => return self.read_mailbox(),
            Source::Roce => return self.read_completions(),
            Source::Homa => return self.read_messages(),
            Source::Timer => {
                self.timer.expired();
                self.look_for_due = true;
            }
            Source::Signals => {
                self.terminated = true;
                self.power_lost |=
                    wakeups::take_termination(&self.signals)? == Termination::PowerLost;
            }
        }
        Ok(())
    }

    fn accept_all(&mut self, service: ServiceId) -> io::Result<()> {
        loop {
            match self.network.accept(service) {
                Ok(socket) => {
                    let mut connection = Connection {
                        socket,
                        kept: None,
                        connected_ns: Some(self.clock.now_ns()),
                        role: Role::Unidentified(Head::default()),
                        subflows: self.watched_subflows(service),
                    };
                    self.begin_window(&mut connection)?;
                    self.add(connection)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if [libc::EMFILE, libc::ENFILE].contains(&errno::number(&error)) => {
                    return Err(io::Error::new(
                        error.kind(),
                        self.network.out_of_descriptors("accept"),
                    ));
                }
                // The peer gave up meanwhile; what else can go wrong concerns that connection only (accept(2)).
                Err(_) => {}
            }
        }
    }

    /// What is to be known of a connection's subflows: nothing where it is not asked to have any.
    fn watched_subflows(&self, service: ServiceId) -> Option<Box<Subflows>> {
        self.network.is_mptcp(service).then(Box::default)
    }

    fn add(&mut self, connection: Connection) -> io::Result<Handle> {
        let handle = self.connections.reserve();
        self.epoll.add(
            &connection.socket,
            wakeups::READABLE | wakeups::WRITABLE | wakeups::PEER_CLOSED,
            handle.token(),
        )?;
        self.connections.put(handle, connection);
        Ok(handle)
    }

    /// Gives a taken connection back to the table, or closes it.
    fn settle(&mut self, handle: Handle, connection: Connection, fate: Fate) {
        if fate == Fate::Open {
            self.connections.put(handle, connection);
        } else {
            drop(connection);
            self.connections.release(handle);
        }
    }

    /// Ends a long flow on time: what is still in the send buffer or on its way is of no interest, so both sides reset
    /// the connection.
    fn stop(&mut self, row: RowId) -> io::Result<()> {
        if self.flows.has_ended(row) {
            return Ok(());
        }
        if self.flows.trace.is_roce(self.flows.flow(row)) {
            return self.stop_pair(row);
        }
        let taken = self
            .long
            .remove(&row)
            .and_then(|handle| Some((handle, self.connections.take(handle)?)));
        let Some((handle, mut connection)) = taken else {
            return self
                .flows
                .end_unconnected(row, Status::Unstarted, None, &self.clock);
        };
        self.end_all(&mut connection, Status::Stopped)?;
        reset_on_close(&connection.socket);
        self.settle(handle, connection, Fate::Closed);
        Ok(())
    }

    /// Ends all flows of a connection as they stand.
    fn end_all(&mut self, connection: &mut Connection, status: Status) -> io::Result<()> {
        self.look_for_due = true;
        if matches!(status, Status::Failed(_)) {
            // In real time the stop time may have come since the wake-up, and the peer have been the first to see it.
            self.clock.forget();
        }
        connection.look_at_subflows();
        let mut tcp = Some(connection.count());
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        match &mut connection.role {
            Role::Unidentified(_) => {}
            Role::Sender(sender) => {
                while let Some(flow) = sender.abandon() {
                    // The counters since the last delivery are the first flow's.
                    sent.push((flow, tcp.take().unwrap_or_default()));
                }
            }
            Role::Receiver(receiver) => {
                receiver.drain(connection.socket.as_raw_fd());
                received.extend(std::iter::from_fn(|| receiver.abandon()));
            }
        }
        for (flow, tcp) in sent {
            let status = match status {
                Status::Failed(_) if !self.power_lost && self.is_time_over(flow.row) => {
                    Status::Stopped
                }
                status => status,
            };
            self.flows
                .end_sent(connection, &flow, status, tcp, &self.clock)?;
        }
        for flow in received {
            let status = match self.flows.flow(flow.row).is_long() {
                false if flow.is_complete() => Status::Complete,
                _ if self.power_lost => status,
                // A sender resets a long flow in time or cut short: it has merely stopped.
                true if flow.bytes > 0 => Status::Stopped,
                _ if self.is_time_over(flow.row) => Status::Stopped,
                _ => status,
            };
            self.flows
                .end_received(connection, &flow, status, &self.clock)?;
        }
        Ok(())
    }

    fn is_time_over(&self, row: RowId) -> bool {
        let stop_ns = match self.flows.flow(row).extent {
            Extent::UntilNs(stop_ns) => Some(stop_ns),
            Extent::Bytes(_) => None,
        };
        [stop_ns, self.until_ns]
            .into_iter()
            .flatten()
            .any(|end_ns| end_ns <= self.clock.now_ns())
    }

    /// Logs what is still open as it stands; where the host goes down, as failed, and nothing of it is left to the
    /// kernel.
    fn finish(&mut self) -> io::Result<()> {
        let status = match self.power_lost {
            true => Status::Failed(libc::EHOSTDOWN),
            false => Status::Stopped,
        };
        let mut open = self.connections.take_all();
        for connection in &mut open {
            self.end_all(connection, status)?;
            if self.power_lost {
                reset_on_close(&connection.socket);
            }
        }
        self.end_pairs(status)?;
        self.end_calls(status)?;
        self.flows.end_rest(&self.clock)?;
        self.send_notices()?;
        self.flows.log().flush()
    }
}

/// Lets close(2) throw away what is unsent and tell the peer with a reset.
fn reset_on_close(socket: &Socket) {
    // Without it the connection would merely end later.
    let _ = socket.set_linger(Some(Duration::ZERO));
}
