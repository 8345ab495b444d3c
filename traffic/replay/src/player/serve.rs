//! What the player does when a socket is ready.

use std::io;
use std::os::fd::AsRawFd;

use socket2::Socket;

use super::{reset_on_close, Fate, KeptState, Player};
use crate::connection::{Connection, Handle, Role};
use crate::errno;
use crate::flows::Received;
use crate::log::Status;
use crate::network::Purpose;
use crate::receiver::{ReadEnd, Receiver};
use crate::schedule::RowId;
use crate::sender::{Outgoing, Sender};
use crate::sys;
use crate::trace::{Mode, Side};
use crate::wakeups;

impl Player {
    pub(super) fn on_ready(&mut self, handle: Handle, what: u32) -> io::Result<()> {
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
            if what & (wakeups::ERROR | wakeups::HANG_UP) != 0 {
                return self.connect_failed(connection);
            }
            if what & wakeups::WRITABLE == 0 {
                return Ok(Fate::Open);
            }
            connection.connected_ns = Some(self.clock.now_ns());
            if let (Some(_), Role::Sender(_)) = (connection.kept, &connection.role) {
                sys::enable_delivery_reports(&connection.socket)?;
            }
            self.begin_window(connection)?;
            let fate = self.write(connection)?;
            if fate == Fate::Closed || what == wakeups::WRITABLE {
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
    pub(super) fn write(&mut self, connection: &mut Connection) -> io::Result<Fate> {
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
        let purpose = Purpose {
            flow: first,
            service: flow.service,
            dscp: flow.dscp,
        };
        self.network.adopt(&connection.socket, purpose);
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
        if let Some(limit) = self.window_limit(connection) {
            receiver.bound_window(limit);
        }
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
        let taken = taken.and_then(|()| receiver.keep_window(&connection.socket));
        connection.role = Role::Receiver(receiver);
        let end = taken.map_or_else(ReadEnd::Failed, |()| ReadEnd::Blocked);
        if matches!(end, ReadEnd::Failed(_)) || rest.len() + 4 < self.buffer.len() {
            return self.after_reading(connection, end);
        }
        self.serve_receiver(connection, wakeups::READABLE)
    }

    fn become_sender(
        &mut self,
        connection: &mut Connection,
        row: RowId,
        rest: &[u8],
    ) -> io::Result<Fate> {
        if connection.kept.is_some() {
            sys::enable_delivery_reports(&connection.socket)?;
        }
        let mut sender = Sender::new(connection.kept.is_some());
        sender.begin_request(row, self.flows.flow(row));
        connection.role = Role::Sender(sender);
        if self.take_requests(connection, rest)? == Fate::Closed {
            return Ok(Fate::Closed);
        }
        let is_long = matches!(&connection.role, Role::Sender(sender) if sender.reads_request());
        if is_long {
            return self.read_requests(connection);
        }
        self.write(connection)
    }

    /// Adds the flows that a pull's peer asks for.
    fn take_requests(&mut self, connection: &mut Connection, mut data: &[u8]) -> io::Result<Fate> {
        let Role::Sender(sender) = &mut connection.role else {
            return Ok(Fate::Open);
        };
        loop {
            if sender.reads_request() {
                let Some(row) = sender.take_rest(&mut data) else {
                    return Ok(Fate::Open);
                };
                sender.push(Outgoing::new(row, self.flows.flow(row), None));
            }
            let Some(number) = sender.take_number(&mut data) else {
                return Ok(Fate::Open);
            };
            let asked = self.flows.find_open(number).filter(|&row| {
                let flow = self.flows.flow(row);
                flow.side == Side::Src && flow.mode == Mode::Pull && flow.kept == connection.kept
            });
            let Some(row) = asked else {
                return self.fail(connection, libc::EPROTO);
            };
            sender.begin_request(row, self.flows.flow(row));
        }
    }

    fn serve_sender(&mut self, connection: &mut Connection, what: u32) -> io::Result<Fate> {
        if connection.kept.is_some()
            && what & !(wakeups::READABLE | wakeups::WRITABLE) != 0
            && self.end_delivered(connection)? == Fate::Closed
        {
            return Ok(Fate::Closed);
        }
        let asks = match &connection.role {
            Role::Sender(sender) => connection.kept.is_some() || sender.reads_request(),
            _ => false,
        };
        if asks && what & wakeups::READABLE != 0 && self.read_requests(connection)? == Fate::Closed
        {
            return Ok(Fate::Closed);
        }
        if what & (wakeups::PEER_CLOSED | wakeups::HANG_UP) != 0 {
            return self.sender_closed(connection, what);
        }
        if what & wakeups::WRITABLE != 0 {
            connection.look_at_subflows();
            return self.write(connection);
        }
        Ok(Fate::Open)
    }

    /// Ends the flows of a kept connection that the peer has acknowledged; when all are, the side that opened the
    /// connection closes it.
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
        let clean = what & (wakeups::ERROR | wakeups::HANG_UP) == 0 && !sender.has_unwritten();
        if clean && connection.kept.is_none() {
            self.end_all(connection, Status::Complete)?;
            return Ok(Fate::Closed);
        }
        let number = socket_error(&connection.socket);
        self.fail(connection, number)
    }

    fn serve_receiver(&mut self, connection: &mut Connection, what: u32) -> io::Result<Fate> {
        if what & wakeups::WRITABLE != 0 && self.write(connection)? == Fate::Closed {
            return Ok(Fate::Closed);
        }
        if what & !wakeups::WRITABLE == 0 {
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
        connection.look_at_subflows();
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
        // Whether a write or a read finds out first says nothing about the flow.
        let number = if number == libc::EPIPE {
            libc::ECONNRESET
        } else {
            number
        };
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
}

/// The error that ended a connection; a peer that closed too early gives none of its own.
fn socket_error(socket: &Socket) -> i32 {
    match socket.take_error() {
        Ok(Some(error)) => errno::number(&error),
        _ => libc::ECONNRESET,
    }
}
