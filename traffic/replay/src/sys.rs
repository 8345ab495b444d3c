//! The system calls that the standard library and socket2 do not have. All unsafe code but that of TCP_INFO, of exec,
//! of waiting and of raw frames is here.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::AtomicU8;

use socket2::Socket;

/// Largest read or write in one call.
pub const BLOCK_BYTES: usize = 1 << 20;
/// Events taken from the kernel at a time.
const EVENTS: usize = 1024;

pub const READABLE: u32 = libc::EPOLLIN as u32;
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;
pub const PEER_CLOSED: u32 = libc::EPOLLRDHUP as u32;
pub const ERROR: u32 = libc::EPOLLERR as u32;
pub const HANG_UP: u32 = libc::EPOLLHUP as u32;

/// What is sent, and where reads that discard point to. Of atomics, as that keeps it out of the program's file: pages that were never
/// written are all the kernel's one zero page, which stays in the CPU's cache.
static BLOCK: [AtomicU8; BLOCK_BYTES] = [const { AtomicU8::new(0) }; BLOCK_BYTES];

fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(status)
    }
}

fn check_size(size: isize) -> io::Result<usize> {
    usize::try_from(size).map_err(|_| io::Error::last_os_error())
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> i64 {
    // SAFETY: all zeroes is a valid timespec.
    let mut time: libc::timespec = unsafe { zeroed() };
    // SAFETY: `time` is valid for writing; CLOCK_MONOTONIC always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// An epoll instance; everything is registered edge-triggered, once.
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Epoll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: a new descriptor that nothing else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self {
            fd,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS],
        })
    }

    /// Watches a descriptor; what happens on it comes with `token`. Closing the descriptor ends it.
    pub fn add(&self, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: interest | libc::EPOLLET as u32,
            u64: token,
        };
        // SAFETY: `event` is valid for reading.
        check(unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) })
            .map(drop)
    }

    /// Waits without a limit; returns how many events there are for [`Epoll::event`].
    pub fn wait(&mut self) -> io::Result<usize> {
        // SAFETY: `events` has room for EVENTS entries.
        match check(unsafe {
            libc::epoll_wait(
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS as libc::c_int,
                -1,
            )
        }) {
            Ok(count) => Ok(count as usize),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// An event's token and what happened.
    pub fn event(&self, index: usize) -> (u64, u32) {
        let event = self.events[index];
        (event.u64, event.events)
    }
}

/// A timer on absolute CLOCK_MONOTONIC times: exact, where the timeout of epoll_wait has slack.
pub struct Timer {
    fd: OwnedFd,
    armed_ns: Option<i64>,
}

impl Timer {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = check(unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        })?;
        // SAFETY: a new descriptor that nothing else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, armed_ns: None })
    }

    /// The timer went off; it is armed no longer. An edge-triggered timer needs no read.
    pub fn expired(&mut self) {
        self.armed_ns = None;
    }

    /// Goes off at a time at the latest (it may be armed for an earlier one already).
    pub fn arm(&mut self, at_ns: i64) -> io::Result<()> {
        if self.armed_ns.is_some_and(|armed_ns| armed_ns <= at_ns) {
            return Ok(());
        }
        self.armed_ns = Some(at_ns);
        // Zero would disarm it; what is past goes off at once.
        let at_ns = at_ns.max(1);
        let value = libc::timespec {
            tv_sec: at_ns / 1_000_000_000,
            tv_nsec: at_ns % 1_000_000_000,
        };
        let never = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let setting = libc::itimerspec {
            it_interval: never,
            it_value: value,
        };
        // SAFETY: `setting` is valid for reading; the old setting is not asked for.
        check(unsafe {
            libc::timerfd_settime(
                self.fd.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &setting,
                ptr::null_mut(),
            )
        })
        .map(drop)
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Blocks SIGTERM, SIGINT and SIGPWR and returns a descriptor that becomes readable when one comes.
pub fn termination_signals() -> io::Result<OwnedFd> {
    // SAFETY: all zeroes is valid storage for a signal set, and sigemptyset initialises it.
    let mut set: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: `set` is valid for writing and reading; the signals exist.
    let fd = unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        libc::sigaddset(&mut set, libc::SIGPWR);
        check(libc::sigprocmask(libc::SIG_BLOCK, &set, ptr::null_mut()))?;
        check(libc::signalfd(
            -1,
            &set,
            libc::SFD_NONBLOCK | libc::SFD_CLOEXEC,
        ))?
    };
    // SAFETY: a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Why a program is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// SIGTERM or SIGINT: somebody wants it to.
    Told,
    /// SIGPWR: its host loses its power.
    PowerLost,
}

/// Takes the signal that made the descriptor of `termination_signals` readable.
pub fn take_termination(signals: &OwnedFd) -> io::Result<Termination> {
    let mut bytes = [0_u8; std::mem::size_of::<libc::signalfd_siginfo>()];
    std::io::Read::read_exact(&mut std::fs::File::from(signals.try_clone()?), &mut bytes)?;
    // ssi_signo is the first field (signalfd(2)).
    let number = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(match number == libc::SIGPWR as u32 {
        true => Termination::PowerLost,
        false => Termination::Told,
    })
}

/// Raises the limit of open descriptors as far as this process may, and returns it.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let nr_open = std::fs::read_to_string("/proc/sys/fs/nr_open")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let wanted: u64 = nr_open.unwrap_or(1 << 20);
    let highest = libc::rlimit {
        rlim_cur: wanted,
        rlim_max: wanted,
    };
    // SAFETY: `highest` is valid for reading. It fails without CAP_SYS_RESOURCE, and then the hard limit has to do.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &highest) } == 0 {
        return Ok(wanted);
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` is valid for reading.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(limit.rlim_cur)
}

/// Takes one connection, non-blocking. Options of the listening socket (TCP_NODELAY) hold for it too.
pub fn accept(listener: &Socket) -> io::Result<Socket> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the peer's address is not asked for.
    let fd = check(unsafe {
        libc::accept4(
            listener.as_raw_fd(),
            ptr::null_mut(),
            ptr::null_mut(),
            flags,
        )
    })?;
    // SAFETY: a new descriptor that nothing else owns.
    Ok(unsafe { Socket::from_raw_fd(fd) })
}

/// Reads into `buffer`; 0 is the end of the stream.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buffer` is valid for writing its length.
    check_size(unsafe {
        libc::recv(
            fd,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            libc::MSG_DONTWAIT,
        )
    })
}

/// Reads up to `length` bytes (at most [`BLOCK_BYTES`]) and throws them away without copying; 0 is the end of the stream.
pub fn discard(fd: RawFd, length: usize) -> io::Result<usize> {
    debug_assert!(length <= BLOCK_BYTES);
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: TCP writes nothing to the buffer with MSG_TRUNC (tcp(7)); the kernel only checks that the range is the process's own.
    check_size(unsafe { libc::recv(fd, BLOCK.as_ptr().cast_mut().cast(), length, flags) })
}

/// Sends `head`, then up to `body` bytes of the shared block; returns how much of both the socket took.
/// With `report_delivery` the socket's error queue gets an entry when the last byte is acknowledged.
pub fn send(fd: RawFd, head: &[u8], body: usize, report_delivery: bool) -> io::Result<usize> {
    let mut parts = [
        libc::iovec {
            iov_base: head.as_ptr().cast_mut().cast(),
            iov_len: head.len(),
        },
        libc::iovec {
            iov_base: BLOCK.as_ptr().cast_mut().cast(),
            iov_len: body.min(BLOCK_BYTES),
        },
    ];
    let mut control = Control::default();
    // SAFETY: all zeroes is a valid message header without parts.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    if report_delivery {
        control.ask_for_delivery(&mut message);
    }
    // SAFETY: the parts and the control data outlive the call, which only reads them.
    check_size(unsafe { libc::sendmsg(fd, &message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) })
}

/// Room for one control message with an integer, aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Default)]
struct Control([u8; 24]);

impl Control {
    fn ask_for_delivery(&mut self, message: &mut libc::msghdr) {
        message.msg_control = self.0.as_mut_ptr().cast();
        // SAFETY: pure arithmetic.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<u32>() as u32) } as usize;
        // SAFETY: the control buffer is aligned and longer than a header and a u32, so the first header and its data lie within.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SO_TIMESTAMPING;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<u32>() as u32) as usize;
            libc::CMSG_DATA(header)
                .cast::<u32>()
                .write_unaligned(libc::SOF_TIMESTAMPING_TX_ACK);
        }
    }
}

/// Prepares a socket for sends with `report_delivery`.
pub fn enable_delivery_reports(fd: RawFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set_option(
        fd,
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPING,
        flags as libc::c_int,
    )
}

/// Empties a socket's queue of delivery reports.
pub fn drain_delivery_reports(fd: RawFd) -> io::Result<()> {
    loop {
        // SAFETY: all zeroes is a valid message header; nothing but the fact of the entry is asked for.
        let mut message: libc::msghdr = unsafe { zeroed() };
        // SAFETY: `message` is valid for writing.
        match check_size(unsafe {
            libc::recvmsg(fd, &mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)
        }) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Bytes written to a socket that the peer has not acknowledged yet.
pub fn unacknowledged_bytes(fd: RawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: `bytes` is valid for writing; TIOCOUTQ is SIOCOUTQ.
    check(unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

/// Sets how many bytes must have arrived before the socket counts as readable.
pub fn set_receive_low_water(fd: RawFd, bytes: u32) -> io::Result<()> {
    set_option(
        fd,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        bytes as libc::c_int,
    )
}

/// Sets the most that the socket advertises as its window; what it has advertised stays.
pub fn set_window_clamp(fd: RawFd, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set_option(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Lets bind(2) take the address only.
pub fn bind_address_without_port(socket: &Socket) -> io::Result<()> {
    set_option(
        socket.as_raw_fd(),
        libc::IPPROTO_IP,
        libc::IP_BIND_ADDRESS_NO_PORT,
        1,
    )
}

fn set_option(
    fd: RawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is valid for reading `length` bytes.
    check(unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) })
        .map(drop)
}
