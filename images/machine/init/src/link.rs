//! Links: cables or pairs of veth interfaces, made directly in their nodes' network namespaces, and interfaces without
//! offloads.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink::{Protocol, Request, Socket};
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};

use crate::failure::{Context, Failure, Result};
use crate::job::{Chooser, Endpoint, InterruptDelay, Link, Mac, Nic, WireEnd};
use crate::sys;

/// Linux, include/uapi/linux/veth.h.
const VETH_INFO_PEER: u16 = 1;
/// kernel/tree/drivers/net/wire.c.
const WIRE_NUMBER: u16 = 1;
const WIRE_DELAY_NS: u16 = 2;
const WIRE_PART: u16 = 3;
const WIRE_DELAY_IN_NS: u16 = 4;
const WIRE_LOSS_PPM: u16 = 5;
/// Linux, include/uapi/linux/ethtool.h: commands that switch an offload.
const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const ETHTOOL_SGRO: u32 = 0x2c;
/// Full frames one by one.
const ONE_SEGMENT: u32 = 1;

/// A netlink socket of the current network namespace that tells why the kernel refuses.
pub fn open_socket(protocol: Protocol) -> Result<Socket> {
    Socket::open(protocol)
        .map(Socket::with_reasons)
        .context(|| "open a netlink socket".to_owned())
}

/// Makes a link; `a` and `b` are the network namespaces of its ends.
pub fn create(machine: &mut Socket, link: &Link, a: &File, b: &File) -> Result<()> {
    let mut message = Request::acknowledged(
        libc::RTM_NEWLINK,
        libc::NLM_F_CREATE | libc::NLM_F_EXCL,
        &interface_header(0, 0),
    );
    add_end(&mut message, &link.a, link.mtu, a);
    message.nest_flagged(libc::IFLA_LINKINFO, |info| {
        info.attribute(libc::IFLA_INFO_KIND, b"veth");
        info.nest_flagged(libc::IFLA_INFO_DATA, |data| {
            data.nest_flagged(VETH_INFO_PEER, |peer| {
                peer.raw_padded(&interface_header(0, 0));
                add_end(peer, &link.b, link.mtu, b);
            });
        });
    });
    machine.request(&mut message).map_err(|refusal| {
        let (a, b) = (&link.a, &link.b);
        Failure::new(format!(
            "make the link {}:{} - {}:{}: {refusal}",
            a.node, a.interface, b.node, b.interface
        ))
    })
}

/// Makes one end of a cable in a network namespace.
pub fn create_wire(machine: &mut Socket, end: &WireEnd, namespace: &File) -> Result<()> {
    let mut message = Request::acknowledged(
        libc::RTM_NEWLINK,
        libc::NLM_F_CREATE | libc::NLM_F_EXCL,
        &interface_header(0, 0),
    );
    add_interface(&mut message, &end.interface, &end.mac, end.mtu, namespace);
    message.nest_flagged(libc::IFLA_LINKINFO, |info| {
        info.attribute(libc::IFLA_INFO_KIND, b"wire");
        info.nest_flagged(libc::IFLA_INFO_DATA, |data| {
            data.attribute_u32(WIRE_NUMBER, end.number);
            data.attribute(WIRE_DELAY_NS, &end.delay_ns.to_ne_bytes());
            data.attribute(WIRE_DELAY_IN_NS, &end.delay_in_ns.to_ne_bytes());
            if let Some(part) = end.part {
                data.attribute_u32(WIRE_PART, part);
            }
        });
    });
    machine.request(&mut message).map_err(|refusal| {
        Failure::new(format!(
            "make the wire {} of {}:{}: {refusal}",
            end.number, end.node, end.interface
        ))
    })
}

/// Changes an end of a cable in the current network namespace: `INTERFACE OUT IN LOSS`, delays in nanoseconds and the
/// share in millionths that it loses of what it sends.
pub fn change_wire(namespace: &mut Socket, line: &str) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let &[interface, out, back, loss] = words.as_slice() else {
        return Err(Failure::new("must be INTERFACE OUT IN LOSS"));
    };
    let wrong = |word| Failure::new(format!("\"{word}\" is not a number"));
    let number = |word| str::parse::<u64>(word).map_err(|_| wrong(word));
    let (out_ns, in_ns) = (number(out)?, number(back)?);
    let loss_ppm = loss.parse::<u32>().map_err(|_| wrong(loss))?;
    let mut message = Request::acknowledged(libc::RTM_NEWLINK, 0, &interface_header(0, 0));
    message.attribute_string(libc::IFLA_IFNAME, interface);
    message.nest_flagged(libc::IFLA_LINKINFO, |info| {
        info.attribute(libc::IFLA_INFO_KIND, b"wire");
        info.nest_flagged(libc::IFLA_INFO_DATA, |data| {
            data.attribute(WIRE_DELAY_NS, &out_ns.to_ne_bytes());
            data.attribute(WIRE_DELAY_IN_NS, &in_ns.to_ne_bytes());
            data.attribute_u32(WIRE_LOSS_PPM, loss_ppm);
        });
    });
    namespace
        .request(&mut message)
        .map_err(|refusal| Failure::new(format!("change the cable of {interface}: {refusal}")))
}

fn add_end(message: &mut Request, end: &Endpoint, mtu: u32, namespace: &File) {
    add_interface(message, &end.interface, &end.mac, mtu, namespace);
}

fn add_interface(message: &mut Request, name: &str, mac: &Mac, mtu: u32, namespace: &File) {
    message.attribute_string(libc::IFLA_IFNAME, name);
    message.attribute_u32(libc::IFLA_MTU, mtu);
    message.attribute(libc::IFLA_ADDRESS, &mac.0);
    message.attribute_u32(libc::IFLA_NET_NS_FD, namespace.as_raw_fd() as u32);
}

/// Sets an interface of the current network namespace up.
pub fn set_up(namespace: &mut Socket, interface: &str) -> Result<()> {
    let up = libc::IFF_UP as u32;
    let mut message = Request::acknowledged(libc::RTM_NEWLINK, 0, &interface_header(up, up));
    message.attribute_string(libc::IFLA_IFNAME, interface);
    namespace
        .request(&mut message)
        .map_err(|refusal| Failure::new(format!("set {interface} up: {refusal}")))
}

/// Gives an interface of the current network namespace the largest burst that TCP may hand it.
fn limit_bursts(namespace: &mut Socket, nic: &Nic) -> Result<()> {
    let mut message = Request::acknowledged(libc::RTM_NEWLINK, 0, &interface_header(0, 0));
    message.attribute_string(libc::IFLA_IFNAME, &nic.interface);
    match nic.tso_bytes {
        Some(bytes) => message.attribute_u32(libc::IFLA_GSO_MAX_SIZE, bytes),
        None => message.attribute_u32(libc::IFLA_GSO_MAX_SEGS, ONE_SEGMENT),
    };
    namespace.request(&mut message).map_err(|refusal| {
        Failure::new(format!("limit the bursts of {}: {refusal}", nic.interface))
    })
}

/// `struct ifinfomsg`, rtnetlink(7), of no particular interface.
fn interface_header(flags: u32, change: u32) -> [u8; 16] {
    let mut header = [0; 16];
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&change.to_ne_bytes());
    header
}

/// Switches offloads of the interfaces of one network namespace.
pub struct Offloads(OwnedFd);

impl Offloads {
    /// In the current network namespace.
    pub fn open() -> Result<Self> {
        socket(
            AddressFamily::Inet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            None,
        )
        .map(Self)
        .context(|| "open a socket".to_owned())
    }

    /// TSO, GSO and GRO off: a queue limit in bytes must see packets as they are on the wire. Checksum offload stays:
    /// it changes no packet.
    pub fn switch_off(&self, interface: &str) -> Result<()> {
        for (name, command) in [
            ("TSO", ETHTOOL_STSO),
            ("GSO", ETHTOOL_SGSO),
            ("GRO", ETHTOOL_SGRO),
        ] {
            sys::ethtool(&self.0, interface, command, 0)
                .context(|| format!("switch {name} of {interface} off"))?;
        }
        Ok(())
    }

    /// What a NIC offers. TSO itself is cut by the port's qdisc, which has the line: the device's own stays off.
    pub fn switch_on(&self, namespace: &mut Socket, nic: &Nic) -> Result<()> {
        let interface = &nic.interface;
        limit_bursts(namespace, nic)?;
        if nic.gro {
            sys::ethtool(&self.0, interface, ETHTOOL_SGRO, 1)
                .context(|| format!("switch GRO of {interface} on"))?;
        }
        if nic.receive_queues > 1 {
            sys::ethtool_receive_queues(&self.0, interface, nic.receive_queues)
                .context(|| format!("give {interface} its receive queues"))?;
        }
        match nic.interrupt_delay_us {
            InterruptDelay::Us(0) => Ok(()),
            InterruptDelay::Us(us) => sys::ethtool_interrupt_delay(&self.0, interface, us),
            InterruptDelay::Chosen(Chooser::Adaptive) => {
                sys::ethtool_adaptive_interrupts(&self.0, interface)
            }
        }
        .context(|| format!("delay the interrupts of {interface}"))?;
        Ok(())
    }
}
