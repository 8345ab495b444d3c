//! Takes down each TCP connection of a node when its socket is gone, and at the end those that are still open.
//!
//! The kernel tells of a socket that it frees on sock_diag's multicast groups (`sock_diag_broadcast_destroy` in
//! `net/core/sock_diag.c`, what `ss -E` shows), with its counters as they were then: whole, also where the program had
//! closed it long before its data were acknowledged.

mod row;

use std::io;
use std::time::Duration;

use crate::config::Connections;
use crate::inet_diag::dump_request;
use crate::links::{receive_dump, DUMP_BYTES};
use crate::namespace::{describe, open_socket};
use crate::series::Series;
use netlink::{messages, Inbox, Protocol, Socket};

use row::{read_connection, ConnectionRow, State, FORMAT};

/// `enum sknetlink_groups` of `include/uapi/linux/sock_diag.h`.
const SKNLGRP_INET_TCP_DESTROY: u32 = 1;
const SKNLGRP_INET6_TCP_DESTROY: u32 = 3;

/// A message, `struct inet_diag_msg` and `struct tcp_info`, has some 350 bytes.
const MESSAGE_BYTES: usize = 4096;

/// Room for what comes before the sampler gets its turn. A message takes about a kilobyte of it, so this is some four
/// thousand connections of a node that end at one instant.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

/// The kernel tells by a thread of its own: so long, at the end, that gets its turn.
const LAST_WAIT: Duration = Duration::from_millis(1);

struct Node {
    name: String,
    /// What is told of sockets that are gone.
    told: Socket,
    /// For the dump of those that are not.
    asked: Socket,
}

pub struct ConnectionWatcher {
    nodes: Vec<Node>,
    inbox: Inbox,
    series: Series,
}

impl ConnectionWatcher {
    /// Opens the sockets, tries a dump on each node, then creates the output file. From here on the kernel tells.
    pub fn open(connections: &Connections) -> Result<Self, String> {
        let mut nodes = Vec::new();
        for (index, node) in connections.nodes.iter().enumerate() {
            let key = format!("connections.nodes[{index}]");
            let netns = node.netns.as_deref();
            let open = || {
                open_socket(netns, Protocol::SockDiag)
                    .map_err(|error| format!("{key}.netns: {error}"))
            };
            let (told, asked) = (open()?, open()?);
            let of_node = |error| format!("{key}: connections of {}: {error}", describe(netns));
            listen(&told).map_err(of_node)?;
            let node = Node {
                name: node.name.0.clone(),
                told,
                asked,
            };
            node.ask().map_err(of_node)?;
            nodes.push(node);
        }
        Ok(Self {
            nodes,
            inbox: Inbox::new(Inbox::MAX_SLOTS, MESSAGE_BYTES),
            series: Series::create(&connections.output, FORMAT.0, FORMAT.1)?,
        })
    }

    /// The sockets on which the kernel tells, in the nodes' order.
    pub fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.nodes.iter().map(|node| &node.told)
    }

    /// Writes what was told on the sockets of these numbers. Connections end seldom: each time is written at once, so
    /// that a machine that is killed keeps them.
    pub fn take(&mut self, numbers: &[usize], now_ns: i64) -> Result<(), String> {
        for number in numbers {
            let node = &self.nodes[*number];
            drain(&node.told, &mut self.inbox, |row| {
                row.write(&mut self.series, now_ns, &node.name, State::Ended)
            })
            .map_err(|error| node.failed(&error))?;
        }
        self.series.flush()
    }

    /// Writes what is still to be told, then what is open, and says on standard error what the kernel had no room for.
    pub fn take_last(&mut self, now_ns: impl Fn() -> i64) -> Result<(), String> {
        std::thread::sleep(LAST_WAIT);
        let all: Vec<usize> = (0..self.nodes.len()).collect();
        self.take(&all, now_ns())?;
        for node in &self.nodes {
            let open = node.ask().map_err(|error| node.failed(&error))?;
            for row in &open {
                row.write(&mut self.series, now_ns(), &node.name, State::Open)?;
            }
            let lost = node.told.losses().map_err(|error| node.failed(&error))?;
            if lost > 0 {
                eprintln!("sampler: {}", loss(lost, &node.name));
            }
        }
        Ok(())
    }

    pub fn finish(&mut self) -> Result<(), String> {
        self.series.flush()
    }
}

impl Node {
    /// Returns the connections that the node has now, by their ends: the dump has them in the order of a hash table.
    fn ask(&self) -> io::Result<Vec<ConnectionRow>> {
        let mut rows = Vec::new();
        receive_dump(
            &self.asked,
            dump_request().finish(0),
            &mut Inbox::new(4, DUMP_BYTES),
            |_, payload| rows.extend(read_connection(payload)),
        )?;
        rows.sort_by_key(|row| row.path);
        Ok(rows)
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("the connections of {}: {error}", self.name)
    }
}

/// Takes part in the groups. A message for which there is no room is counted from here on.
fn listen(socket: &Socket) -> io::Result<()> {
    // Who may not have more room than others has less: what does not fit is counted.
    match socket.set_receive_buffer(RECEIVE_BUFFER_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        set => set?,
    }
    socket.count_losses_silently()?;
    socket.bind()?;
    socket.join(SKNLGRP_INET_TCP_DESTROY)?;
    socket.join(SKNLGRP_INET6_TCP_DESTROY)
}

/// Hands on all that was told, in that order.
fn drain(
    socket: &Socket,
    inbox: &mut Inbox,
    mut each: impl FnMut(ConnectionRow) -> Result<(), String>,
) -> Result<(), String> {
    loop {
        inbox
            .receive(socket, Inbox::MAX_SLOTS)
            .map_err(|error| error.to_string())?;
        for message in inbox.datagrams().flat_map(messages) {
            let message = message.map_err(|error| error.to_string())?;
            read_connection(message.payload)
                .into_iter()
                .try_for_each(&mut each)?;
        }
        if inbox.len() < Inbox::MAX_SLOTS {
            return Ok(());
        }
    }
}

/// `fabriclab.results.connections` reads this line.
fn loss(lost: u32, node: &str) -> String {
    format!("connections: {lost} sockets of {node} that were closed are missing: they came faster than they were read")
}

#[cfg(test)]
#[path = "connections/tests.rs"]
mod tests;
