//! A TCP connection from inside a node to itself: what a port of the host is forwarded through.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::poll::{PollFd, PollFlags};
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::sys::socket::sockopt::SocketError;
use nix::sys::socket::{
    connect, getpeername, getsockopt, socket, AddressFamily, SockFlag, SockType, SockaddrStorage,
};

use super::channel::Channel;
use super::flows::Flows;
use super::frame::{Answer, Connect, Started};
use super::stream::{Ending, Inflow, Outflow};
use crate::failure::{Context, Failure, Result};
use crate::lab::Lab;

pub struct Connection {
    session: u32,
    asked: Connect,
    /// What is tried when the last attempt fails.
    left: VecDeque<SocketAddr>,
    state: State,
}

enum State {
    Connecting(Rc<OwnedFd>),
    Open(Flows),
}

impl Connection {
    pub fn start(lab: &Lab, session: u32, asked: Connect) -> Result<Self> {
        let mut left = addresses(lab, &asked)?;
        let socket = attempt_next(lab, &asked, &mut left, Errno::EADDRNOTAVAIL)?;
        Ok(Self {
            session,
            asked,
            left,
            state: State::Connecting(socket),
        })
    }

    pub fn flows(&self) -> Option<&Flows> {
        match &self.state {
            State::Connecting(_) => None,
            State::Open(flows) => Some(flows),
        }
    }

    pub fn flows_mut(&mut self) -> Option<&mut Flows> {
        match &mut self.state {
            State::Connecting(_) => None,
            State::Open(flows) => Some(flows),
        }
    }

    pub fn add_to<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        match &self.state {
            State::Connecting(socket) => {
                watched.push(PollFd::new(socket.as_fd(), PollFlags::POLLOUT));
            }
            State::Open(flows) => flows.add_to(watched),
        }
    }

    /// Any signal ends it.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        let State::Open(flows) = &mut self.state else {
            return Err(failed(&self.asked, Errno::ECANCELED));
        };
        flows.finish(&format!("signal {}", signal as i32));
        flows.cut();
        Ok(())
    }

    /// Moves what can be moved without waiting. A failure: it can't be connected.
    pub fn serve(&mut self, lab: &Lab, channel: &Channel) -> Result<()> {
        while let State::Connecting(socket) = &self.state {
            self.state = match outcome(socket) {
                None => return Ok(()),
                Some(Ok(())) => {
                    channel.tell(self.session, Answer::Started, &Started::default())?;
                    State::Open(flows(self.session, socket)?)
                }
                Some(Err(errno)) => {
                    State::Connecting(attempt_next(lab, &self.asked, &mut self.left, errno)?)
                }
            };
        }
        if let State::Open(flows) = &mut self.state {
            flows.serve(channel)?;
            if flows.has_ended() {
                flows.finish("exit 0");
            }
        }
        Ok(())
    }
}

/// Where a service may listen: on the node's loopback or on all addresses, or else on the first of its own.
fn addresses(lab: &Lab, asked: &Connect) -> Result<VecDeque<SocketAddr>> {
    let node = lab.node(&asked.node)?;
    let own = lab.machine.inside(node, CloneFlags::CLONE_NEWNET, || {
        getifaddrs().context(|| "list the addresses".to_owned())
    })?;
    let first = own
        .filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip()))
        .find(|address| !address.is_loopback());
    let all = [Some(Ipv4Addr::LOCALHOST), first].into_iter().flatten();
    Ok(all
        .map(|address| SocketAddr::from((address, asked.port)))
        .collect())
}

/// Begins to connect to the next address that takes it; `last` is why the one before failed.
fn attempt_next(
    lab: &Lab,
    asked: &Connect,
    left: &mut VecDeque<SocketAddr>,
    mut last: Errno,
) -> Result<Rc<OwnedFd>> {
    let node = lab.node(&asked.node)?;
    while let Some(to) = left.pop_front() {
        let begun = lab
            .machine
            .inside(node, CloneFlags::CLONE_NEWNET, || Ok(attempt(to)))?;
        match begun {
            Ok(socket) => return Ok(socket.into()),
            Err(errno) => last = errno,
        }
    }
    Err(failed(asked, last))
}

fn attempt(to: SocketAddr) -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket),
        Err(errno) => Err(errno),
    }
}

/// What became of an attempt; `None`: nothing yet.
fn outcome(socket: &OwnedFd) -> Option<nix::Result<()>> {
    match getsockopt(socket, SocketError) {
        Ok(0) => getpeername::<SockaddrStorage>(socket.as_raw_fd())
            .ok()
            .map(|_| Ok(())),
        Ok(number) => Some(Err(Errno::from_raw(number))),
        Err(errno) => Some(Err(errno)),
    }
}

fn flows(session: u32, socket: &Rc<OwnedFd>) -> Result<Flows> {
    let output = Outflow::new(socket.clone(), Answer::Stdout)?;
    let input = Inflow::new(socket.clone(), Ending::Shutdown)?;
    Ok(Flows::new(session, input, vec![output]))
}

fn failed(asked: &Connect, errno: Errno) -> Failure {
    let message = format!("connect to port {}: {}", asked.port, errno.desc());
    Failure::new(message).in_node(&asked.node)
}
