//! The host's end of the network: the listening socket, and connections to others.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use crate::sys;
use crate::window::{RouteWindows, WindowLimit};

/// As long as the kernel allows (net.core.somaxconn).
const BACKLOG: i32 = 65_535;

pub struct Network {
    listener: Socket,
    port: u16,
    /// The address that outgoing connections have, where the kernel is not to choose it.
    source: Option<IpAddr>,
    /// Of a new socket.
    receive_buffer_bytes: u64,
    windows: RouteWindows,
    descriptor_limit: u64,
    may_mark: Cell<bool>,
    said_out_of_descriptors: Cell<bool>,
}

impl Network {
    /// Listens on `port`: on all addresses, or with `bind` only on `address`, from which outgoing connections then come too.
    pub fn listen(
        address: IpAddr,
        port: u16,
        bind: bool,
        descriptor_limit: u64,
    ) -> io::Result<Self> {
        let all = match address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let local = SocketAddr::new(if bind { address } else { all }, port);
        let listener = new_socket(local)?;
        listener.set_reuse_address(true)?;
        listener.bind(&local.into())?;
        listener.listen(BACKLOG)?;
        let receive_buffer_bytes = listener.recv_buffer_size()? as u64;
        let source = bind.then_some(address);
        Ok(Self {
            listener,
            port,
            source,
            receive_buffer_bytes,
            windows: RouteWindows::read()?,
            descriptor_limit,
            may_mark: Cell::new(true),
            said_out_of_descriptors: Cell::new(false),
        })
    }

    pub fn listener(&self) -> &Socket {
        &self.listener
    }

    pub fn receive_buffer_bytes(&self) -> u64 {
        self.receive_buffer_bytes
    }

    /// The window that the route to a connection's peer allows.
    pub fn window_limit(&self, socket: &Socket) -> Option<WindowLimit> {
        self.windows.limit(socket)
    }

    /// Begins to connect to a host; the socket carries the mark of a flow.
    pub fn connect(&self, host: IpAddr, flow: u32) -> io::Result<Socket> {
        let peer = SocketAddr::new(host, self.port);
        let socket = new_socket(peer).inspect_err(|error| {
            let out = matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
            if out && !self.said_out_of_descriptors.replace(true) {
                eprintln!("replay: flow {flow}: {}", self.out_of_descriptors("socket"));
            }
        })?;
        self.mark(&socket, flow);
        if let Some(source) = self.source {
            // The port is chosen by connect(2), which can use one for several peers.
            sys::bind_address_without_port(&socket)?;
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        match socket.connect(&peer.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(socket),
        }
    }

    /// Marks a socket with its flow's number plus one, by which the sampler knows it.
    pub fn mark(&self, socket: &Socket, flow: u32) {
        if !self.may_mark.get() {
            return;
        }
        if let Err(error) = socket.set_mark(flow + 1) {
            eprintln!("replay: sockets are not marked, the sampler cannot tell flows apart (SO_MARK needs CAP_NET_ADMIN): {error}");
            self.may_mark.set(false);
        }
    }

    /// What to say when no descriptor is left.
    pub fn out_of_descriptors(&self, call: &str) -> String {
        format!(
            "{call}: no descriptor is left, all {} are in use; each concurrent flow needs one: raise the hard limit (ulimit -Hn)",
            self.descriptor_limit
        )
    }
}

/// A non-blocking TCP socket without Nagle's delay; accepted sockets inherit both from the listening one.
fn new_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}
