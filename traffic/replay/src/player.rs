//! Plays a host's flows: one thread that sleeps in epoll until a flow is due or a socket is ready.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use socket2::Socket;

use crate::clock::Clock;
use crate::connection::{Connection, Connections, Handle, Role};
use crate::errno;
use crate::flows::{Flows, Received};
use crate::head::Head;
use crate::hosts::Hosts;
use crate::log::Status;
use crate::network::Network;
use crate::receiver::{Incoming, ReadEnd, Receiver, HEAD_BUFFER_BYTES};
use crate::schedule::{Action, RowId};
use crate::sender::{Outgoing, Sender};
use crate::sys::{self, Epoll, Timer};
use crate::trace::{Extent, Flow, KeptId, Mode, Side};

const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const SIGNALS: u64 = u64::MAX - 2;
/// How long after a refused connect a kept connection is tried again, before the epoch.
const RETRY_NS: i64 = 1_000_000;

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
    clock: Clock,
    /// After the epoch.
    until_ns: Option<i64>,
    epoll: Epoll,
    timer: Timer,
    /// Kept open, as closing it would end the watch.
    _signals: OwnedFd,
    connections: Connections,
    kept: Vec<KeptState>,
    /// The connections of long flows, which end at a time.
    long: HashMap<RowId, Handle>,
    /// Whether something may have become due.
    look_for_due: bool,
    terminated: bool,
    buffer: Vec<u8>,
    complete: Vec<Incoming>,
}

impl Player {
    pub fn new(
        hosts: Hosts,
        flows: Flows,
        network: Network,
        clock: Clock,
        until_ns: Option<i64>,
    ) -> io::Result<Self> {
        let (epoll, timer, signals) = (Epoll::new()?, Timer::new()?, sys::termination_signals()?);
        epoll.add(network.listener().as_raw_fd(), sys::READABLE, LISTENER)?;
        epoll.add(timer.as_raw_fd(), sys::READABLE, TIMER)?;
        epoll.add(signals.as_raw_fd(), sys::READABLE, SIGNALS)?;
        let kept = vec![KeptState::Unopened; flows.trace.kept.len()];
        Ok(Self {
            hosts,
            flows,
            network,
            clock,
            until_ns,
            epoll,
            timer,
            _signals: signals,
            connections: Connections::default(),
            kept,
            long: HashMap::new(),
            look_for_due: true,
            terminated: false,
            buffer: vec![0; HEAD_BUFFER_BYTES],
            complete: Vec::new(),
        })
    }

    /// Plays until all flows have ended, or the time is over, or a signal comes. All rows are in the log then, also after an error.
    pub fn run(mut self) -> io::Result<()> {
        self.open_kept_connections();
        let played = self.play();
        self.finish()?;
        played
    }

    fn open_kept_connections(&mut self) {
        let opened_here = |id: &usize| self.flows.trace.kept[*id].opened_here;
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
            if self.terminated || self.flows.all_ended() {
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
                Action::Stop(row) => self.stop(row)?,
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
        match token {
            LISTENER => self.accept_all(),
            TIMER => {
                self.timer.expired();
                self.look_for_due = true;
                Ok(())
            }
            SIGNALS => {
                self.terminated = true;
                Ok(())
            }
            _ => self.on_ready(Handle::from_token(token), what),
        }
    }

    fn accept_all(&mut self) -> io::Result<()> {
        loop {
            match sys::accept(self.network.listener()) {
                Ok(socket) => {
                    let role = Role::Unidentified(Head::default());
                    let connected_ns = Some(self.clock.now_ns());
                    self.add(Connection {
                        socket,
                        kept: None,
                        connected_ns,
                        role,
                    })?;
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

    fn add(&mut self, connection: Connection) -> io::Result<Handle> {
        let handle = self.connections.reserve();
        self.epoll.add(
            connection.socket.as_raw_fd(),
            sys::READABLE | sys::WRITABLE | sys::PEER_CLOSED,
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

    fn start(&mut self, row: RowId) -> io::Result<()> {
        let start_ns = self.clock.now_ns();
        let flow = self.flows.flow(row).clone();
        let Some(kept) = flow.kept else {
            return self.start_on_its_own(row, &flow, start_ns);
        };
        match self.kept[kept as usize] {
            KeptState::Open(handle) => {
                let Some(mut connection) = self.connections.take(handle) else {
                    return Ok(());
                };
                enqueue(&mut connection, row, &flow, start_ns);
                let fate = if connection.connected_ns.is_some() {
                    self.write(&mut connection)?
                } else {
                    Fate::Open
                };
                self.settle(handle, connection, fate);
                Ok(())
            }
            KeptState::Failed(number) => {
                self.flows
                    .end_unconnected(row, Status::Failed(number), Some(start_ns), &self.clock)
            }
            KeptState::Unopened => self.flows.end_unconnected(
                row,
                Status::Failed(libc::ENOTCONN),
                Some(start_ns),
                &self.clock,
            ),
        }
    }

    fn start_on_its_own(&mut self, row: RowId, flow: &Flow, start_ns: i64) -> io::Result<()> {
        let socket = match self
            .network
            .connect(self.hosts.address(flow.peer), flow.number)
        {
            Ok(socket) => socket,
            Err(error) => {
                return self.flows.end_unconnected(
                    row,
                    Status::Failed(errno::number(&error)),
                    Some(start_ns),
                    &self.clock,
                )
            }
        };
        let mut connection = self.outgoing_connection(socket, flow, None);
        enqueue(&mut connection, row, flow, start_ns);
        let handle = self.add(connection)?;
        if flow.is_long() {
            self.long.insert(row, handle);
        }
        Ok(())
    }

    fn outgoing_connection(&self, socket: Socket, flow: &Flow, kept: Option<KeptId>) -> Connection {
        let role = match flow.side {
            Side::Src => Role::Sender(Sender::new(kept.is_some())),
            Side::Dst => Role::Receiver(Receiver::new(
                true,
                kept.is_some(),
                self.network.receive_buffer_bytes(),
            )),
        };
        Connection {
            socket,
            kept,
            connected_ns: None,
            role,
        }
    }

    fn open_kept(&mut self, id: KeptId) -> io::Result<()> {
        let (peer, first) = (
            self.flows.trace.kept[id as usize].peer,
            self.flows.trace.kept[id as usize].first_flow,
        );
        let Some(row) = self.flows.find_open(first) else {
            return Ok(());
        };
        match self.network.connect(self.hosts.address(peer), first) {
            Ok(socket) => {
                let flow = self.flows.flow(row).clone();
                let handle = self.add(self.outgoing_connection(socket, &flow, Some(id)))?;
                self.kept[id as usize] = KeptState::Open(handle);
            }
            Err(error) => self.kept_unopened(id, errno::number(&error)),
        }
        Ok(())
    }

    /// A kept connection could not be opened: the peer may not listen yet, so that it is tried again until the epoch.
    fn kept_unopened(&mut self, id: KeptId, number: i32) {
        let now_ns = self.clock.now_ns();
        if number == libc::ECONNREFUSED && now_ns < 0 {
            self.kept[id as usize] = KeptState::Unopened;
            self.flows
                .schedule
                .at((now_ns + RETRY_NS).min(0), Action::Open(id));
        } else {
            eprintln!(
                "replay: the kept connection of flow {} failed: {}",
                self.flows.trace.kept[id as usize].first_flow,
                errno::Name(number)
            );
            self.kept[id as usize] = KeptState::Failed(number);
        }
    }

    /// Ends a long flow on time: what is still in the send buffer or on its way is of no interest, so both sides reset the connection.
    fn stop(&mut self, row: RowId) -> io::Result<()> {
        if self.flows.has_ended(row) {
            return Ok(());
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

    fn on_ready(&mut self, handle: Handle, what: u32) -> io::Result<()> {
        let Some(mut connection) = self.connections.take(handle) else {
            return Ok(());
        };
        let fate = self.serve(handle, &mut connection, what)?;
        self.settle(handle, connection, fate);
        Ok(())
    }

    fn serve(
        &mut self,
        handle: Handle,
        connection: &mut Connection,
        what: u32,
    ) -> io::Result<Fate> {
        if connection.connected_ns.is_none() {
            if what & (sys::ERROR | sys::HANG_UP) != 0 {
                return self.connect_failed(connection);
            }
            if what & sys::WRITABLE == 0 {
                return Ok(Fate::Open);
            }
            connection.connected_ns = Some(self.clock.now_ns());
            if let (Some(_), Role::Sender(_)) = (connection.kept, &connection.role) {
                sys::enable_delivery_reports(connection.socket.as_raw_fd())?;
            }
            let fate = self.write(connection)?;
            if fate == Fate::Closed || what == sys::WRITABLE {
                return Ok(fate);
            }
        }
        match &connection.role {
            Role::Unidentified(_) => self.identify(handle, connection),
            Role::Sender(_) => self.serve_sender(connection, what),
            Role::Receiver(_) => self.serve_receiver(connection, what),
        }
    }

    fn connect_failed(&mut self, connection: &mut Connection) -> io::Result<Fate> {
        let number = socket_error(&connection.socket);
        if let Some(id) = connection.kept {
            self.kept_unopened(id, number);
        }
        self.end_all(connection, Status::Failed(number))?;
        Ok(Fate::Closed)
    }

    /// Writes what waits: a sender's data, a receiver's requests.
    fn write(&mut self, connection: &mut Connection) -> io::Result<Fate> {
        let fd = connection.socket.as_raw_fd();
        let written = match &mut connection.role {
            Role::Sender(sender) if sender.has_unwritten() => sender.write(fd, &self.clock),
            Role::Receiver(receiver) if receiver.has_requests() => receiver.write_requests(fd),
            _ => Ok(()),
        };
        match written {
            Ok(()) => Ok(Fate::Open),
            Err(error) => self.fail(connection, errno::number(&error)),
        }
    }

    /// Reads the first bytes of a connection that the peer opened: a push's data or a pull's request.
    fn identify(&mut self, handle: Handle, connection: &mut Connection) -> io::Result<Fate> {
        let Role::Unidentified(head) = &mut connection.role else {
            return Ok(Fate::Open);
        };
        let got = match sys::receive(connection.socket.as_raw_fd(), &mut self.buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Fate::Open),
            // A peer that closes without a word had nothing to send any more.
            Ok(0) | Err(_) => return Ok(Fate::Closed),
            Ok(got) => got,
        };
        let mut data = &self.buffer[..got];
        let Some(number) = head.take(&mut data) else {
            return Ok(Fate::Open);
        };
        let Some(row) = self
            .flows
            .find_open(number)
            .filter(|&row| !self.flows.flow(row).starts_here())
        else {
            eprintln!("replay: a connection for flow {number}, which is not open here, is closed");
            reset_on_close(&connection.socket);
            return Ok(Fate::Closed);
        };
        let flow = self.flows.flow(row).clone();
        connection.kept = flow.kept;
        let first = flow.kept.map_or(number, |kept| {
            self.flows.trace.kept[kept as usize].first_flow
        });
        self.network.mark(&connection.socket, first);
        if flow.is_long() {
            self.long.insert(row, handle);
        }
        let rest = data.to_vec();
        match flow.side {
            Side::Dst => self.become_receiver(connection, number, &rest),
            Side::Src => self.become_sender(connection, row, &rest),
        }
    }

    fn become_receiver(
        &mut self,
        connection: &mut Connection,
        number: u32,
        rest: &[u8],
    ) -> io::Result<Fate> {
        let mut receiver = Receiver::new(
            false,
            connection.kept.is_some(),
            self.network.receive_buffer_bytes(),
        );
        let flows = Received {
            flows: &self.flows,
            mode: Mode::Push,
        };
        let mut taken = receiver.take(
            &number.to_be_bytes(),
            &flows,
            &self.clock,
            &mut self.complete,
        );
        if taken.is_ok() {
            taken = receiver.take(rest, &flows, &self.clock, &mut self.complete);
        }
        connection.role = Role::Receiver(receiver);
        let end = taken.map_or_else(ReadEnd::Failed, |()| ReadEnd::Blocked);
        if matches!(end, ReadEnd::Failed(_)) || rest.len() + 4 < self.buffer.len() {
            return self.after_reading(connection, end);
        }
        self.serve_receiver(connection, sys::READABLE)
    }

    fn become_sender(
        &mut self,
        connection: &mut Connection,
        row: RowId,
        rest: &[u8],
    ) -> io::Result<Fate> {
        if connection.kept.is_some() {
            sys::enable_delivery_reports(connection.socket.as_raw_fd())?;
        }
        let mut sender = Sender::new(connection.kept.is_some());
        sender.push(Outgoing::new(row, self.flows.flow(row), None));
        connection.role = Role::Sender(sender);
        if self.take_requests(connection, rest)? == Fate::Closed {
            return Ok(Fate::Closed);
        }
        self.write(connection)
    }

    /// Adds the flows that a pull's peer asks for.
    fn take_requests(&mut self, connection: &mut Connection, mut data: &[u8]) -> io::Result<Fate> {
        let Role::Sender(sender) = &mut connection.role else {
            return Ok(Fate::Open);
        };
        while !data.is_empty() {
            let Some(number) = sender.request.take(&mut data) else {
                break;
            };
            let asked = self.flows.find_open(number).filter(|&row| {
                let flow = self.flows.flow(row);
                flow.side == Side::Src && flow.mode == Mode::Pull && flow.kept == connection.kept
            });
            let Some(row) = asked else {
                return self.fail(connection, libc::EPROTO);
            };
            sender.push(Outgoing::new(row, self.flows.flow(row), None));
        }
        Ok(Fate::Open)
    }

    fn serve_sender(&mut self, connection: &mut Connection, what: u32) -> io::Result<Fate> {
        if connection.kept.is_some() {
            if what & !(sys::READABLE | sys::WRITABLE) != 0
                && self.end_delivered(connection)? == Fate::Closed
            {
                return Ok(Fate::Closed);
            }
            if what & sys::READABLE != 0 && self.read_requests(connection)? == Fate::Closed {
                return Ok(Fate::Closed);
            }
        }
        if what & (sys::PEER_CLOSED | sys::HANG_UP) != 0 {
            return self.sender_closed(connection, what);
        }
        if what & sys::WRITABLE != 0 {
            return self.write(connection);
        }
        Ok(Fate::Open)
    }

    /// Ends the flows of a kept connection that the peer has acknowledged; when all are, the side that opened the connection closes it.
    fn end_delivered(&mut self, connection: &mut Connection) -> io::Result<Fate> {
        let fd = connection.socket.as_raw_fd();
        let Role::Sender(sender) = &mut connection.role else {
            return Ok(Fate::Open);
        };
        // An error here is one of the connection itself, which ends it soon.
        let _ = sys::drain_delivery_reports(fd);
        let Ok(acknowledged) = sender.acknowledged(fd) else {
            return Ok(Fate::Open);
        };
        let mut delivered = Vec::new();
        while let Some(flow) = sender.next_delivered(acknowledged) {
            delivered.push((flow, sender.count(fd)));
        }
        for (flow, tcp) in delivered {
            self.flows
                .end_sent(connection, &flow, Status::Complete, tcp, &self.clock)?;
        }
        Ok(self.fate_of_kept(connection))
    }

    fn fate_of_kept(&self, connection: &Connection) -> Fate {
        match connection.kept {
            Some(kept)
                if self.flows.trace.kept[kept as usize].opened_here
                    && self.flows.all_ended_on(kept) =>
            {
                Fate::Closed
            }
            _ => Fate::Open,
        }
    }

    fn read_requests(&mut self, connection: &mut Connection) -> io::Result<Fate> {
        loop {
            let mut data = [0; 4096];
            match sys::receive(connection.socket.as_raw_fd(), &mut data) {
                Ok(0) => return Ok(Fate::Open),
                Ok(got) => {
                    if self.take_requests(connection, &data[..got])? == Fate::Closed {
                        return Ok(Fate::Closed);
                    }
                    if got < data.len() {
                        return self.write(connection);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.write(connection)
                }
                Err(error) => return self.fail(connection, errno::number(&error)),
            }
        }
    }

    /// The receiver closes when it has all; anything before is a failure.
    fn sender_closed(&mut self, connection: &mut Connection, what: u32) -> io::Result<Fate> {
        let Role::Sender(sender) = &connection.role else {
            return Ok(Fate::Closed);
        };
        let clean = what & (sys::ERROR | sys::HANG_UP) == 0 && !sender.has_unwritten();
        if clean && connection.kept.is_none() {
            self.end_all(connection, Status::Complete)?;
            return Ok(Fate::Closed);
        }
        let number = socket_error(&connection.socket);
        self.fail(connection, number)
    }

    fn serve_receiver(&mut self, connection: &mut Connection, what: u32) -> io::Result<Fate> {
        if what & sys::WRITABLE != 0 && self.write(connection)? == Fate::Closed {
            return Ok(Fate::Closed);
        }
        if what & !sys::WRITABLE == 0 {
            return Ok(Fate::Open);
        }
        let Role::Receiver(receiver) = &mut connection.role else {
            return Ok(Fate::Open);
        };
        let mode = if receiver.is_pull() {
            Mode::Pull
        } else {
            Mode::Push
        };
        let flows = Received {
            flows: &self.flows,
            mode,
        };
        let end = receiver.read(
            &connection.socket,
            &mut self.buffer,
            &flows,
            &self.clock,
            &mut self.complete,
        );
        self.after_reading(connection, end)
    }

    fn after_reading(&mut self, connection: &mut Connection, end: ReadEnd) -> io::Result<Fate> {
        let mut complete = std::mem::take(&mut self.complete);
        // A group may be complete with it, and flows that wait for the group due at once.
        self.look_for_due |= !complete.is_empty();
        let is_finished = connection.kept.is_none() && !complete.is_empty();
        for flow in complete.drain(..) {
            self.flows
                .end_received(connection, &flow, Status::Complete, &self.clock)?;
        }
        self.complete = complete;
        if is_finished {
            return Ok(Fate::Closed);
        }
        match end {
            ReadEnd::Blocked => Ok(self.fate_of_kept(connection)),
            ReadEnd::Closed => self.fail(connection, libc::ECONNRESET),
            ReadEnd::Failed(error) => self.fail(connection, errno::number(&error)),
        }
    }

    /// The connection is gone: its flows failed, unless it was time for them to end and the peer was first to see it.
    fn fail(&mut self, connection: &mut Connection, number: i32) -> io::Result<Fate> {
        self.end_all(connection, Status::Failed(number))?;
        if let Some(kept) = connection.kept {
            if self.flows.trace.kept[kept as usize].opened_here {
                self.kept[kept as usize] = KeptState::Failed(number);
            } else if !self.flows.all_ended_on(kept) {
                self.flows.end_rest_of(kept, &self.clock)?;
            }
        }
        Ok(Fate::Closed)
    }

    /// Ends all flows of a connection as they stand.
    fn end_all(&mut self, connection: &mut Connection, status: Status) -> io::Result<()> {
        self.look_for_due = true;
        let fd = connection.socket.as_raw_fd();
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        match &mut connection.role {
            Role::Unidentified(_) => {}
            Role::Sender(sender) => {
                let mut tcp = Some(sender.count(fd));
                while let Some(flow) = sender.abandon() {
                    // The counters since the last delivery are the first flow's.
                    sent.push((flow, tcp.take().unwrap_or_default()));
                }
            }
            Role::Receiver(receiver) => {
                receiver.drain(fd);
                received.extend(std::iter::from_fn(|| receiver.abandon()));
            }
        }
        for (flow, tcp) in sent {
            let status = match status {
                Status::Failed(_) if self.is_time_over(flow.row) => Status::Stopped,
                status => status,
            };
            self.flows
                .end_sent(connection, &flow, status, tcp, &self.clock)?;
        }
        for flow in received {
            let status = match self.flows.flow(flow.row).is_long() {
                // A sender resets a long flow in time or cut short: it has merely stopped.
                true if flow.bytes > 0 => Status::Stopped,
                false if flow.is_complete() => Status::Complete,
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

    /// Logs what is still open as it stands.
    fn finish(&mut self) -> io::Result<()> {
        let mut open = self.connections.take_all();
        for connection in &mut open {
            self.end_all(connection, Status::Stopped)?;
        }
        self.flows.end_rest(&self.clock)?;
        self.flows.log().flush()
    }
}

/// Puts a flow that starts into a connection that this host opened.
fn enqueue(connection: &mut Connection, row: RowId, flow: &Flow, start_ns: i64) {
    match &mut connection.role {
        Role::Sender(sender) => sender.push(Outgoing::new(row, flow, Some(start_ns))),
        Role::Receiver(receiver) => receiver.ask(row, flow.number, start_ns),
        Role::Unidentified(_) => {}
    }
}

/// The error that ended a connection; a peer that closed too early gives none of its own.
fn socket_error(socket: &Socket) -> i32 {
    match socket.take_error() {
        Ok(Some(error)) => errno::number(&error),
        _ => libc::ECONNRESET,
    }
}

/// Lets close(2) throw away what is unsent and tell the peer with a reset.
fn reset_on_close(socket: &Socket) {
    // Without it the connection would merely end later.
    let _ = socket.set_linger(Some(Duration::ZERO));
}
