//! A socket of Homa's: what `homa.h` of Homa's module for Linux says, in Rust. Its messages are remote procedure calls:
//! a request, and its answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::sys::messages;
use crate::trace::HEAD_BYTES;

const IPPROTO_HOMA: libc::c_int = 146;
const SO_HOMA_RCVBUF: libc::c_int = 10;
const SO_HOMA_SERVER: libc::c_int = 11;
/// HOMA_BPAGE_SIZE.
const PAGE_BYTES: usize = 1 << 16;
/// Enough for 64 messages of the largest size that come at once. Homa uses the first pages first, and what it never
/// uses takes no memory.
const REGION_BYTES: usize = 1024 * PAGE_BYTES;
/// HOMA_MAX_BPAGES.
const MOST_PAGES: usize = 16;

/// `struct homa_sendmsg_args`.
#[repr(C)]
#[derive(Default)]
struct Sending {
    /// 0: a new call.
    id: u64,
    cookie: u64,
    flags: u32,
    reserved: u32,
}

/// `struct homa_recvmsg_args`.
#[repr(C)]
#[derive(Default)]
struct Receiving {
    /// 0: whatever is there.
    id: u64,
    cookie: u64,
    pages: u32,
    reserved: u32,
    /// Where the message lies in the region; given back with the next call.
    offsets: [u32; MOST_PAGES],
}

/// `struct homa_info`, without room for the calls one by one.
#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    calls: u64,
    calls_bytes: u64,
    available_bytes: u64,
    port: u32,
    open_calls: u32,
    error: [u8; 104],
}

/// HOMAIOCINFO.
const INFO: u32 = 3 << 30 | (size_of::<Info>() as u32) << 16 | (b'h' as u32) << 8 | 0x90;

const _: () =
    assert!(size_of::<Sending>() == 24 && size_of::<Receiving>() == 88 && size_of::<Info>() == 136);

/// What came.
pub enum Message {
    Request {
        id: u64,
        from: SocketAddrV4,
        head: [u8; HEAD_BYTES as usize],
        bytes: u64,
    },
    Answer {
        /// What was said when the call began.
        cookie: u64,
        /// Its length, or why the call failed.
        bytes: io::Result<u64>,
    },
}

pub struct HomaSocket {
    socket: Socket,
    region: messages::Region,
    receiving: Receiving,
}

impl HomaSocket {
    /// A socket that takes requests at a port, below 32,768, and makes some.
    pub fn open(port: u16) -> io::Result<Self> {
        let kind = Type::DGRAM.nonblocking();
        let socket = Socket::new(Domain::IPV4, kind, Some(Protocol::from(IPPROTO_HOMA)))?;
        let region = messages::Region::map(REGION_BYTES)?;
        messages::set_protocol_option(&socket, IPPROTO_HOMA, SO_HOMA_RCVBUF, &region.place())?;
        let yes: libc::c_int = 1;
        messages::set_protocol_option(&socket, IPPROTO_HOMA, SO_HOMA_SERVER, &yes)?;
        let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port);
        socket.bind(&SockAddr::from(any))?;
        Ok(Self {
            socket,
            region,
            receiving: Receiving::default(),
        })
    }

    /// Begins a call; its answer will have the cookie.
    pub fn request(
        &self,
        peer: SocketAddrV4,
        cookie: u64,
        head: [u8; HEAD_BYTES as usize],
        bytes: u64,
    ) -> io::Result<()> {
        let mut arguments = Sending {
            cookie,
            ..Sending::default()
        };
        self.send(peer, head, bytes, &mut arguments)
    }

    /// Answers a request.
    pub fn answer(
        &self,
        peer: SocketAddrV4,
        id: u64,
        head: [u8; HEAD_BYTES as usize],
        bytes: u64,
    ) -> io::Result<()> {
        let mut arguments = Sending {
            id,
            ..Sending::default()
        };
        self.send(peer, head, bytes, &mut arguments)
    }

    fn send(
        &self,
        peer: SocketAddrV4,
        head: [u8; HEAD_BYTES as usize],
        bytes: u64,
        arguments: &mut Sending,
    ) -> io::Result<()> {
        let body = bytes.saturating_sub(HEAD_BYTES) as usize;
        messages::send_message(self.socket.as_raw_fd(), peer, &head, body, arguments)
    }

    /// How many calls the kernel still knows: those that are under way, and those whose answers were not acknowledged.
    pub fn open_calls(&self) -> io::Result<u32> {
        let mut info = Info {
            calls: 0,
            calls_bytes: 0,
            available_bytes: 0,
            port: 0,
            open_calls: 0,
            error: [0; 104],
        };
        messages::ask_socket(self.socket.as_raw_fd(), INFO, &mut info)?;
        Ok(info.open_calls)
    }

    /// The next message; `None` if there is none now.
    pub fn receive(&mut self) -> io::Result<Option<Message>> {
        let arguments = &mut self.receiving;
        (arguments.id, arguments.cookie) = (0, 0);
        let (from, received) = messages::receive_message(self.socket.as_raw_fd(), arguments);
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // No call is told: the socket itself failed.
            Err(error) if arguments.id == 0 => Err(error),
            received => {
                let bytes = received.map(|length| length as u64);
                Ok(self.message(from, bytes))
            }
        }
    }

    fn message(&self, from: Option<SocketAddrV4>, bytes: io::Result<u64>) -> Option<Message> {
        let arguments = &self.receiving;
        // The caller's numbers are even, and the answering side's odd (homa_is_client()).
        if arguments.id & 1 == 0 {
            return Some(Message::Answer {
                cookie: arguments.cookie,
                bytes,
            });
        }
        Some(Message::Request {
            id: arguments.id,
            from: from?,
            head: self.region.read(arguments.offsets[0] as usize)?,
            bytes: bytes.ok()?,
        })
    }
}

impl AsFd for HomaSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
