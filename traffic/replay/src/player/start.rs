//! How the player starts flows and opens connections.

use std::io;

use socket2::Socket;

use super::{Fate, KeptState, Player};
use crate::connection::{Connection, Role};
use crate::errno;
use crate::log::Status;
use crate::network::Purpose;
use crate::receiver::Receiver;
use crate::schedule::{Action, RowId};
use crate::sender::{Outgoing, Sender};
use crate::trace::{Flow, KeptId, Side};
use crate::window::WindowLimit;

/// How long after a refused connect a kept connection is tried again, before the epoch.
const RETRY_NS: i64 = 1_000_000;

impl Player {
    pub(super) fn start(&mut self, row: RowId) -> io::Result<()> {
        let start_ns = self.clock.now_ns();
        let flow = self.flows.flow(row).clone();
        if self.flows.trace.is_roce(&flow) {
            return self.start_pair(row, start_ns);
        }
        if self.flows.trace.is_homa(&flow) {
            return self.start_call(row, &flow, start_ns);
        }
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
            .connect(self.hosts.addresses(flow.peer), purpose_of(flow))
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
            subflows: self.watched_subflows(flow.service),
        }
    }

    pub(super) fn open_kept(&mut self, id: KeptId) -> io::Result<()> {
        let first = self.flows.trace.kept[id as usize].first_flow;
        let Some(row) = self.flows.find_open(first) else {
            return Ok(());
        };
        let flow = self.flows.flow(row).clone();
        let peer = self.hosts.addresses(flow.peer);
        match self.network.connect(peer, purpose_of(&flow)) {
            Ok(socket) => {
                let handle = self.add(self.outgoing_connection(socket, &flow, Some(id)))?;
                self.kept[id as usize] = KeptState::Open(handle);
            }
            Err(error) => self.kept_unopened(id, errno::number(&error)),
        }
        Ok(())
    }

    /// A kept connection could not be opened: the peer may not listen yet, so that it is tried again until the epoch.
    pub(super) fn kept_unopened(&mut self, id: KeptId, number: i32) {
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

    /// Bounds the window of a connection that is now established, before any data can come.
    pub(super) fn begin_window(&self, connection: &mut Connection) -> io::Result<()> {
        let Some(limit) = self.window_limit(connection) else {
            return Ok(());
        };
        if let Role::Receiver(receiver) = &mut connection.role {
            receiver.bound_window(limit);
        }
        limit.begin(&connection.socket)
    }

    /// MPTCP offers one window for all subflows and takes no clamp: there the route's window bounds the handshake only.
    pub(super) fn window_limit(&self, connection: &Connection) -> Option<WindowLimit> {
        let limited = connection.subflows.is_none();
        limited
            .then(|| self.network.window_limit(&connection.socket))
            .flatten()
    }
}

/// What the connection of a flow, the first in trace order of a kept one, is opened for.
fn purpose_of(flow: &Flow) -> Purpose {
    Purpose {
        flow: flow.number,
        service: flow.service,
        dscp: flow.dscp,
    }
}

/// Puts a flow that starts into a connection that this host opened.
fn enqueue(connection: &mut Connection, row: RowId, flow: &Flow, start_ns: i64) {
    match &mut connection.role {
        Role::Sender(sender) => sender.push(Outgoing::new(row, flow, Some(start_ns))),
        Role::Receiver(receiver) => receiver.ask(row, flow, start_ns),
        Role::Unidentified(_) => {}
    }
}
