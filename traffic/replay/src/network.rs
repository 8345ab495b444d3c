//! The host's end of the network: the listening sockets, and connections to others.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use crate::hosts::{Addresses, Family};
use crate::sys;
use crate::trace::{Flow, Service, ServiceId, Trace, Transport};
use crate::window::{RouteWindows, WindowLimit};

/// As long as the kernel allows (net.core.somaxconn).
const BACKLOG: i32 = 65_535;
/// What this kernel, and what this network namespace, has.
const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Where a host listens and whence it connects.
#[derive(Clone, Copy)]
pub struct Local {
    pub addresses: Addresses,
    /// Of the first service; the others follow.
    pub port: u16,
    /// Whether to use that address only, so that several hosts can share a network namespace.
    pub bind: bool,
}

impl Local {
    /// The address of a service. Whose flows come here or begin here has one (`trace/row.rs`).
    fn address(&self, service: &Service) -> io::Result<IpAddr> {
        self.addresses.of(service.family).ok_or_else(|| {
            io::Error::other(format!(
                "line {} of the trace: this host has no address of the flow's version of IP",
                service.line
            ))
        })
    }
}

/// What a connection is opened for.
#[derive(Clone, Copy)]
pub struct Purpose {
    /// The flow whose mark it carries.
    pub flow: u32,
    pub service: ServiceId,
    pub dscp: u8,
}

/// A socket that listens for one service.
struct Listener {
    socket: Socket,
    /// That connections begin with.
    dscp: u8,
}

pub struct Network {
    services: Vec<Service>,
    /// By service; none where no flow comes.
    listeners: Vec<Option<Listener>>,
    local: Local,
    /// Of a new socket.
    receive_buffer_bytes: u64,
    windows: RouteWindows,
    descriptor_limit: u64,
    may_mark: Cell<bool>,
    may_set_dscp: Cell<bool>,
    said_out_of_descriptors: Cell<bool>,
}

impl Network {
    /// Listens for what the trace has for this host. Errors name the port, or the service that this kernel has not.
    pub fn listen(trace: &Trace, local: Local, descriptor_limit: u64) -> io::Result<Self> {
        let mut listeners = Vec::new();
        for (id, service) in trace.services.iter().enumerate() {
            if matches!(service.transport, Transport::Roce | Transport::Homa) {
                listeners.push(None);
                continue;
            }
            let of_service = |flow: &&Flow| usize::from(flow.service) == id;
            if trace.flows.iter().any(|flow| of_service(&flow)) {
                new_socket(local.address(service)?, service)
                    .map_err(|error| lacks(service, &error))?;
            }
            let flows = trace.flows.iter().filter(of_service);
            let dscp = common_dscp(flows.filter(|flow| !flow.starts_here()));
            let listener = dscp.map(|dscp| Listener::open(local, id, service, dscp));
            listeners.push(listener.transpose()?);
        }
        let default = Service::default();
        let any = new_socket(local.address(&default)?, &default)?;
        Ok(Self {
            services: trace.services.clone(),
            listeners,
            local,
            receive_buffer_bytes: any.recv_buffer_size()? as u64,
            windows: RouteWindows::read(local.addresses.has_ipv6())?,
            descriptor_limit,
            may_mark: Cell::new(true),
            may_set_dscp: Cell::new(true),
            said_out_of_descriptors: Cell::new(false),
        })
    }

    /// The listening sockets and what each is for.
    pub fn listeners(&self) -> impl Iterator<Item = (ServiceId, &Socket)> {
        let listeners = self.listeners.iter().enumerate();
        listeners.filter_map(|(id, listener)| Some((id as ServiceId, &listener.as_ref()?.socket)))
    }

    /// Takes one connection, non-blocking. Options of the listening socket (TCP_NODELAY) hold for it too.
    pub fn accept(&self, service: ServiceId) -> io::Result<Socket> {
        match &self.listeners[usize::from(service)] {
            Some(listener) => {
                let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
                listener.socket.accept4(flags).map(|(socket, _)| socket)
            }
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// This host's address in one family.
    pub fn own_address(&self, family: Family) -> Option<IpAddr> {
        self.local.addresses.of(Some(family))
    }

    /// The port of a service.
    pub fn port(&self, service: ServiceId) -> u16 {
        self.local.port + service
    }

    pub fn is_mptcp(&self, service: ServiceId) -> bool {
        self.services[usize::from(service)].transport == Transport::Mptcp
    }

    pub fn receive_buffer_bytes(&self) -> u64 {
        self.receive_buffer_bytes
    }

    /// The window that the route to a connection's peer allows.
    pub fn window_limit(&self, socket: &Socket) -> Option<WindowLimit> {
        self.windows.limit(socket)
    }

    /// Begins to connect to a host.
    pub fn connect(&self, host: Addresses, purpose: Purpose) -> io::Result<Socket> {
        let Purpose {
            flow,
            service,
            dscp,
        } = purpose;
        let family = self.services[usize::from(service)].family;
        let host = host.of(family).ok_or(io::ErrorKind::AddrNotAvailable)?;
        let peer = SocketAddr::new(host, self.port(service));
        let socket =
            new_socket(host, &self.services[usize::from(service)]).inspect_err(|error| {
                let out = matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
                if out && !self.said_out_of_descriptors.replace(true) {
                    eprintln!("replay: flow {flow}: {}", self.out_of_descriptors("socket"));
                }
            })?;
        self.mark(&socket, flow);
        if dscp != 0 {
            self.set_dscp(&socket, host, dscp);
        }
        if self.local.bind {
            // The port is chosen by connect(2), which can use one for several peers.
            sys::bind_address_without_port(&socket)?;
            let own = self.local.address(&self.services[usize::from(service)])?;
            socket.bind(&SocketAddr::new(own, 0).into())?;
        }
        match socket.connect(&peer.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(socket),
        }
    }

    /// Prepares a connection that came in, now that its flow is known.
    pub fn adopt(&self, socket: &Socket, purpose: Purpose) {
        self.mark(socket, purpose.flow);
        let listener = self.listeners[usize::from(purpose.service)].as_ref();
        if listener.is_none_or(|listener| listener.dscp != purpose.dscp) {
            if let Ok(own) = self
                .local
                .address(&self.services[usize::from(purpose.service)])
            {
                self.set_dscp(socket, own, purpose.dscp);
            }
        }
    }

    /// Marks a socket with its flow's number plus one, by which the sampler knows it; with MPTCP the kernel gives the
    /// mark to all subflows.
    fn mark(&self, socket: &Socket, flow: u32) {
        if !self.may_mark.get() {
            return;
        }
        if let Err(error) = socket.set_mark(flow + 1) {
            eprintln!(
                "replay: sockets are not marked, the sampler cannot tell flows apart (SO_MARK needs CAP_NET_ADMIN): \
                 {error}"
            );
            self.may_mark.set(false);
        }
    }

    fn set_dscp(&self, socket: &Socket, family: IpAddr, dscp: u8) {
        if !self.may_set_dscp.get() {
            return;
        }
        if let Err(error) = set_dscp(socket, family, dscp) {
            eprintln!("replay: packets don't carry their DSCP: {error}");
            self.may_set_dscp.set(false);
        }
    }

    /// What to say when no descriptor is left.
    pub fn out_of_descriptors(&self, call: &str) -> String {
        format!(
            "{call}: no descriptor is left, all {} are in use; each concurrent flow needs one: raise the hard limit \
             (ulimit -Hn)",
            self.descriptor_limit
        )
    }
}

impl Listener {
    fn open(local: Local, id: usize, service: &Service, dscp: u8) -> io::Result<Self> {
        let port = u16::try_from(id)
            .ok()
            .and_then(|id| local.port.checked_add(id));
        let port = port.ok_or_else(|| {
            io::Error::other(format!(
                "--port {} leaves no port for the trace's {}th combination of transport, congestion control and \
                 version of IP",
                local.port,
                id + 1
            ))
        })?;
        let listen = || {
            let own = local.address(service)?;
            let socket = new_socket(own, service)?;
            socket.set_reuse_address(true)?;
            if dscp != 0 {
                set_dscp(&socket, own, dscp)?;
            }
            let address = if local.bind { own } else { any_of_family(own) };
            socket.bind(&SocketAddr::new(address, port).into())?;
            socket.listen(BACKLOG)?;
            Ok(socket)
        };
        let named = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("port {port} cannot be listened on: {error}"),
            )
        };
        let socket = listen().map_err(named)?;
        Ok(Self { socket, dscp })
    }
}

/// What connections of these flows begin with: the DSCP that all have, or 0; `None` without flows.
fn common_dscp<'a>(mut flows: impl Iterator<Item = &'a Flow>) -> Option<u8> {
    let first = flows.next()?.dscp;
    Some(if flows.all(|flow| flow.dscp == first) {
        first
    } else {
        0
    })
}

fn any_of_family(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

/// Sets the upper six bits of the field; the kernel keeps ECN's two to itself (`__ip_sock_set_tos`, `ipv6_setsockopt`).
fn set_dscp(socket: &Socket, family: IpAddr, dscp: u8) -> io::Result<()> {
    let field = u32::from(dscp) << 2;
    match family {
        IpAddr::V4(_) => socket.set_tos_v4(field),
        IpAddr::V6(_) => socket.set_tclass_v6(field),
    }
}

/// A non-blocking socket without Nagle's delay; accepted sockets inherit both from the listening one.
fn new_socket(family: IpAddr, service: &Service) -> io::Result<Socket> {
    let protocol = match service.transport {
        // Flows over RoCE have no sockets, and those over Homa one together.
        Transport::Tcp | Transport::Roce | Transport::Homa => Protocol::TCP,
        Transport::Mptcp => Protocol::MPTCP,
    };
    let domain = Domain::for_address(SocketAddr::new(family, 0));
    let socket = Socket::new(domain, Type::STREAM.nonblocking(), Some(protocol))?;
    socket.set_tcp_nodelay(true)?;
    if !service.congestion_control.is_empty() {
        socket.set_tcp_congestion(service.congestion_control.as_bytes())?;
    }
    Ok(socket)
}

/// Says what of a service this kernel has not.
fn lacks(service: &Service, error: &io::Error) -> io::Error {
    let Service {
        transport,
        congestion_control,
        line,
        ..
    } = service;
    let message = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EPERM) => {
            let available = std::fs::read_to_string(CONGESTION_CONTROLS).unwrap_or_default();
            format!(
                "congestion_control is \"{congestion_control}\" on line {line} of the trace: must be one that this \
                 host may use ({CONGESTION_CONTROLS} has {}): {error}",
                available.trim()
            )
        }
        Some(libc::EPROTONOSUPPORT | libc::ENOPROTOOPT) if *transport == Transport::Mptcp => format!(
            "transport is \"{transport}\" on line {line} of the trace: this kernel has no MPTCP, or net.mptcp.enabled \
             is 0: {error}"
        ),
        _ => format!("a socket for line {line} of the trace: {error}"),
    };
    io::Error::new(error.kind(), message)
}
