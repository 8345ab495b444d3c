//! A netlink socket to the kernel.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{GetStruct, SetStruct};
use nix::sys::socket::{
    bind, getsockopt, recv, send, setsockopt, socket, AddressFamily, MsgFlags, NetlinkAddr,
    SetSockOpt, SockFlag, SockProtocol, SockType,
};
use nix::{getsockopt_impl, setsockopt_impl};

use crate::answer::{messages, Message};
use crate::refusal::acknowledgement;
use crate::uapi::SK_MEMINFO_VARS;
use crate::{Family, Refusal, Request};

/// An answer to a request that changes something, with the kernel's words and a copy of the request.
const ANSWER_BYTES: usize = 8192;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protocol {
    Route,
    SockDiag,
    Generic,
}

/// A netlink socket to the kernel, bound to the network namespace in which it was opened, for as long as it is open.
pub struct Socket {
    socket: OwnedFd,
    sequence: u32,
}

impl Socket {
    pub fn open(protocol: Protocol) -> nix::Result<Self> {
        let protocol = match protocol {
            Protocol::Route => SockProtocol::NetlinkRoute,
            Protocol::SockDiag => SockProtocol::NetlinkSockDiag,
            Protocol::Generic => SockProtocol::NetlinkGeneric,
        };
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Asks for the kernel's own words beside its error numbers. A kernel that does not know the option still answers,
    /// without them.
    pub fn with_reasons(self) -> Self {
        let _ = setsockopt(&self.socket, ExtendedAcknowledgements, &1);
        self
    }

    /// Sends requests, one or several behind each other. The kernel handles them before the call returns.
    pub fn send(&self, requests: &[u8]) -> nix::Result<()> {
        send(self.socket.as_raw_fd(), requests, MsgFlags::empty()).map(drop)
    }

    /// Waits for a datagram and returns its length; what does not fit is cut off.
    pub fn receive(&self, buffer: &mut [u8]) -> nix::Result<usize> {
        recv(self.socket.as_raw_fd(), buffer, MsgFlags::empty())
    }

    /// Sends a request and waits for its acknowledgement.
    pub fn request(&mut self, request: &mut Request) -> Result<(), Refusal> {
        self.exchange(request, |_| ())
    }

    /// Asks for a family of generic netlink; `None`: the kernel did not tell.
    pub fn family(&mut self, name: &str) -> Result<Option<Family>, Refusal> {
        let mut found = None;
        self.exchange(&mut Family::request(name, libc::NLM_F_ACK), |message| {
            found = found.take().or_else(|| Family::read(message.payload));
        })?;
        Ok(found)
    }

    /// As `request`; `look` sees what comes before the acknowledgement.
    fn exchange(
        &mut self,
        request: &mut Request,
        mut look: impl FnMut(&Message),
    ) -> Result<(), Refusal> {
        self.sequence += 1;
        self.send(request.finish(self.sequence))?;
        let mut answer = [0; ANSWER_BYTES];
        loop {
            let length = self.receive(&mut answer)?;
            for message in messages(&answer[..length]).map_while(Result::ok) {
                match acknowledgement(&message, self.sequence) {
                    Some(result) => return result,
                    None => look(&message),
                }
            }
        }
    }

    /// Gives it an address of its own, as its first request would: what the kernel sends to a group leaves out sockets
    /// without one.
    pub fn bind(&self) -> io::Result<()> {
        Ok(bind(self.socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?)
    }

    /// Takes part in a multicast group.
    pub fn join(&self, group: u32) -> io::Result<()> {
        self.set(AddMembership, group)
    }

    /// From here on a multicast message for which there is no room is counted, and no error of `receive`.
    pub fn count_losses_silently(&self) -> io::Result<()> {
        self.set(NoEnobufs, 1)
    }

    /// Bytes of kernel memory that may wait in the socket, beyond what the system allows unprivileged users
    /// (CAP_NET_ADMIN).
    pub fn set_receive_buffer(&self, bytes: u32) -> io::Result<()> {
        self.set(ReceiveBufferForce, bytes)
    }

    fn set(&self, option: impl SetSockOpt<Val = u32>, value: u32) -> io::Result<()> {
        Ok(setsockopt(&self.socket, option, &value)?)
    }

    /// How many messages the kernel dropped because there was no room.
    pub fn losses(&self) -> io::Result<u32> {
        let values = getsockopt(&self.socket, MemoryInfo)?;
        Ok(values[libc::SK_MEMINFO_DROPS as usize])
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.socket.as_raw_fd()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Options that nix does not have.
macro_rules! number_option {
    ($name:ident, $level:expr, $option:path) => {
        #[derive(Clone, Copy)]
        struct $name;
        setsockopt_impl!($name, $level, $option, u32, SetStruct<u32>);
    };
}

number_option!(
    ExtendedAcknowledgements,
    libc::SOL_NETLINK,
    libc::NETLINK_EXT_ACK
);
number_option!(
    AddMembership,
    libc::SOL_NETLINK,
    libc::NETLINK_ADD_MEMBERSHIP
);
number_option!(NoEnobufs, libc::SOL_NETLINK, libc::NETLINK_NO_ENOBUFS);
number_option!(ReceiveBufferForce, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE);

/// The socket's memory, in the order of `SK_MEMINFO_*`.
#[derive(Clone, Copy)]
struct MemoryInfo;
type Memory = [u32; SK_MEMINFO_VARS];
getsockopt_impl!(
    MemoryInfo,
    libc::SOL_SOCKET,
    libc::SO_MEMINFO,
    Memory,
    GetStruct<Memory>
);
