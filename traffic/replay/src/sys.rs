//! The system calls that neither the standard library nor socket2 and nix have safe functions for. All unsafe code is
//! here and in `messages.rs`.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::AtomicU8;

use nix::errno::Errno;
use nix::setsockopt_impl;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::sys::signal::{signal, sigprocmask, SigHandler, SigSet, SigmaskHow, Signal};
use nix::sys::socket::sockopt::{IpBindAddressNoPort, SetStruct};
use nix::sys::socket::{recv, recvmsg, setsockopt, MsgFlags, SetSockOpt};
use socket2::Socket;
use tcp_info::TcpInfo;

pub mod messages;

/// Largest read or write in one call.
pub const BLOCK_BYTES: usize = 1 << 20;

/// What is sent, and where reads that discard point to. Of atomics, as that keeps it out of the program's file: pages
/// that were never written are all the kernel's one zero page, which stays in the CPU's cache.
static BLOCK: [AtomicU8; BLOCK_BYTES] = [const { AtomicU8::new(0) }; BLOCK_BYTES];

/* -- Data -------------------------------------------------------------------------------------------- */

/// Reads into `buffer`; 0 is the end of the stream.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(recv(fd, buffer, MsgFlags::MSG_DONTWAIT)?)
}

/// Reads up to `length` bytes (at most [`BLOCK_BYTES`]) and throws them away without copying; 0 is the end of the
/// stream.
pub fn discard(fd: RawFd, length: usize) -> io::Result<usize> {
    debug_assert!(length <= BLOCK_BYTES);
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: TCP writes nothing to the buffer with MSG_TRUNC (tcp(7)); the kernel only checks that the range is the
    // process's own.
    let received = unsafe { libc::recv(fd, BLOCK.as_ptr().cast_mut().cast(), length, flags) };
    Ok(Errno::result(received)? as usize)
}

/// A control message that asks for an entry in the socket's error queue when the last byte is acknowledged, as the
/// kernel wants it.
#[repr(C)]
struct DeliveryRequest {
    header: libc::cmsghdr,
    flags: u32,
    padding: u32,
}

/// Sends `head`, then up to `body` bytes of the shared block; returns how much of both the socket took.
/// With `report_delivery` the socket's error queue gets an entry when the last byte is acknowledged.
pub fn send(fd: RawFd, head: &[u8], body: usize, report_delivery: bool) -> io::Result<usize> {
    let mut parts = [
        part(head.as_ptr(), head.len()),
        part(BLOCK.as_ptr().cast(), body.min(BLOCK_BYTES)),
    ];
    let mut control = DeliveryRequest {
        header: libc::cmsghdr {
            cmsg_len: size_of::<libc::cmsghdr>() + size_of::<u32>(),
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SO_TIMESTAMPING,
        },
        flags: libc::SOF_TIMESTAMPING_TX_ACK,
        padding: 0,
    };
    let (control, control_bytes) = match report_delivery {
        true => ((&raw mut control).cast(), size_of::<DeliveryRequest>()),
        false => (std::ptr::null_mut(), 0),
    };
    let message = libc::msghdr {
        msg_name: std::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: parts.as_mut_ptr(),
        msg_iovlen: parts.len(),
        msg_control: control,
        msg_controllen: control_bytes,
        msg_flags: 0,
    };
    // SAFETY: the parts and the control data outlive the call, which only reads them.
    let sent = unsafe { libc::sendmsg(fd, &message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
    Ok(Errno::result(sent)? as usize)
}

/// Empties a socket's queue of delivery reports.
pub fn drain_delivery_reports(fd: RawFd) -> io::Result<()> {
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    loop {
        // Nothing but the fact of the entry is asked for.
        let mut nothing: [IoSliceMut; 0] = [];
        match recvmsg::<()>(fd, &mut nothing, None, flags) {
            Ok(_) => {}
            Err(Errno::EAGAIN) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Bytes written to a socket that the peer has not acknowledged yet.
pub fn unacknowledged_bytes(fd: RawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: `bytes` is valid for writing; TIOCOUTQ is SIOCOUTQ.
    Errno::result(unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

fn part(base: *const u8, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: base.cast_mut().cast(),
        iov_len: length,
    }
}

/* -- Options ----------------------------------------------------------------------------------------- */

/// Options whose value is an integer, which nix does not have.
macro_rules! integer_option {
    ($name:ident, $level:expr, $option:path) => {
        #[derive(Clone, Copy)]
        struct $name;
        setsockopt_impl!($name, $level, $option, libc::c_int, SetStruct<libc::c_int>);
    };
}

integer_option!(Timestamping, libc::SOL_SOCKET, libc::SO_TIMESTAMPING);
integer_option!(ReceiveLowWater, libc::SOL_SOCKET, libc::SO_RCVLOWAT);
integer_option!(WindowClamp, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP);
integer_option!(QdiscBypass, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS);

fn set(
    socket: &Socket,
    option: impl SetSockOpt<Val = libc::c_int>,
    value: libc::c_int,
) -> io::Result<()> {
    Ok(setsockopt(socket, option, &value)?)
}

/// Prepares a socket for sends with `report_delivery`.
pub fn enable_delivery_reports(socket: &Socket) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set(socket, Timestamping, flags as libc::c_int)
}

/// Sets how many bytes must have arrived before the socket counts as readable.
pub fn set_receive_low_water(socket: &Socket, bytes: u32) -> io::Result<()> {
    set(socket, ReceiveLowWater, bytes as libc::c_int)
}

/// Sets the most that the socket advertises as its window; what it has advertised stays.
pub fn set_window_clamp(socket: &Socket, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set(socket, WindowClamp, bytes)
}

/// Lets frames pass by the interface's queueing discipline.
pub fn bypass_qdisc(socket: &Socket) -> io::Result<()> {
    set(socket, QdiscBypass, 1)
}

/// Lets bind(2) take the address only.
pub fn bind_address_without_port(socket: &Socket) -> io::Result<()> {
    Ok(setsockopt(socket, IpBindAddressNoPort, &true)?)
}

/// Binds a raw socket to an interface and returns its address, to which the kernel adds the interface's type and
/// hardware address. Protocol 0: it gets no frames.
pub fn bind_to_interface(socket: &Socket, index: u32) -> io::Result<libc::sockaddr_ll> {
    let mut address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: 0,
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let place: *mut libc::sockaddr = (&raw mut address).cast();
    // SAFETY: `address` is valid for reading `length` bytes.
    Errno::result(unsafe { libc::bind(socket.as_raw_fd(), place, length) })?;
    // SAFETY: `address` is valid for writing `length` bytes, and so is `length`.
    Errno::result(unsafe { libc::getsockname(socket.as_raw_fd(), place, &raw mut length) })?;
    Ok(address)
}

/// Reads an option into `value`; how many bytes the kernel has of it, or `None` where it refuses.
///
/// # Safety
/// Any bytes must be a valid `Value`, and where the option makes the kernel follow pointers in it, they must point to
/// what it may write.
unsafe fn read_option<Value>(
    fd: RawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &mut Value,
) -> Option<usize> {
    let mut length = size_of::<Value>() as libc::socklen_t;
    let place = (&raw mut *value).cast();
    // SAFETY: the kernel writes at most `length` bytes to `value`; the rest is the caller's promise.
    let status = unsafe { libc::getsockopt(fd, level, option, place, &raw mut length) };
    (status == 0).then_some(length as usize)
}

/// The kernel's counters of a TCP connection, and how many bytes of them this kernel has.
pub fn read_tcp_info(fd: RawFd) -> Option<(TcpInfo, usize)> {
    let mut info = TcpInfo::default();
    // SAFETY: it consists of integers only.
    let length = unsafe { read_option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info) }?;
    Some((info, length))
}

/// Linux 6.12, `include/uapi/linux/mptcp.h`, `include/linux/socket.h`.
const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_FULL_INFO: libc::c_int = 4;

/// Whether a socket for which MPTCP was asked is no plain TCP (MPTCP_INFO with no room is the kernel's own way to ask).
pub fn is_mptcp(fd: RawFd) -> bool {
    // SAFETY: there is no room for anything.
    unsafe { read_option(fd, SOL_MPTCP, MPTCP_INFO, &mut ()) }.is_some()
}

/// `struct mptcp_full_info` without the `mptcp_info` at its end, which the kernel leaves out when the length says so.
#[repr(C)]
struct FullInfo {
    size_tcpinfo_kernel: u32,
    size_tcpinfo_user: u32,
    size_sfinfo_kernel: u32,
    size_sfinfo_user: u32,
    num_subflows: u32,
    size_arrays_user: u32,
    subflow_info: u64,
    tcp_info: u64,
}

const _: () =
    assert!(std::mem::offset_of!(FullInfo, tcp_info) == 32 && size_of::<FullInfo>() == 40);

/// Fills identifiers and counters of an MPTCP connection's subflows and returns how many there are, at most `MOST`.
pub fn read_subflows<const MOST: usize>(
    fd: RawFd,
    ids: &mut [u32; MOST],
    infos: &mut [TcpInfo; MOST],
) -> usize {
    let mut full = FullInfo {
        size_tcpinfo_kernel: 0,
        size_tcpinfo_user: size_of::<TcpInfo>() as u32,
        size_sfinfo_kernel: 0,
        // The identifier stands first; the addresses behind it are not asked for.
        size_sfinfo_user: size_of::<u32>() as u32,
        num_subflows: 0,
        size_arrays_user: MOST as u32,
        subflow_info: ids.as_mut_ptr() as u64,
        tcp_info: infos.as_mut_ptr() as u64,
    };
    // SAFETY: the kernel writes integers to `full`, and at most MOST entries of the sizes given into each array, which
    // are integers too.
    let read = unsafe { read_option(fd, SOL_MPTCP, MPTCP_FULL_INFO, &mut full) };
    // An older kernel's structure is shorter: then the entries lie closer than here, and none of it could be told.
    if read.is_some() && full.size_tcpinfo_user as usize == size_of::<TcpInfo>() {
        (full.num_subflows as usize).min(MOST)
    } else {
        0
    }
}

/// A call of a device whose request only reads a structure, of the size that its number says (`_IOW`).
pub fn write_to_device<T: Copy>(fd: RawFd, request: u32, structure: &T) -> io::Result<()> {
    assert_eq!((request >> 16) & 0x3fff, size_of::<T>() as u32);
    // SAFETY: the device reads as many bytes as the structure has.
    Errno::result(unsafe { libc::ioctl(fd, request as _, std::ptr::from_ref(structure)) })?;
    Ok(())
}

/* -- The process ------------------------------------------------------------------------------------- */

/// Raises the limit of open descriptors as far as this process may, and returns it.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let nr_open = std::fs::read_to_string("/proc/sys/fs/nr_open")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let wanted: u64 = nr_open.unwrap_or(1 << 20);
    // It fails without CAP_SYS_RESOURCE, and then the hard limit has to do.
    if setrlimit(Resource::RLIMIT_NOFILE, wanted, wanted).is_ok() {
        return Ok(wanted);
    }
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(hard)
}

/// A descriptor that becomes readable when a child of this process has ended (pidfd_open(2)).
pub fn process_descriptor(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    let fd = Errno::result(opened)? as RawFd;
    // SAFETY: the descriptor is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has a program take signals as programs do: it inherits which are blocked (ours are: `wakeups::termination_signals`)
/// and ignored, which SIGINT is where a shell put us into the background.
pub fn give_signals_back(command: &mut Command) {
    // SAFETY: the function makes system calls only: it is async-signal-safe, as what runs between fork and exec must
    // be.
    unsafe { command.pre_exec(receive_signals) };
}

fn receive_signals() -> io::Result<()> {
    // SAFETY: the default action is no function of ours.
    unsafe { signal(Signal::SIGINT, SigHandler::SigDfl) }?;
    Ok(sigprocmask(
        SigmaskHow::SIG_SETMASK,
        Some(&SigSet::empty()),
        None,
    )?)
}
