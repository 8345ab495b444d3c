//! Interfaces and qdiscs that exist, by rtnetlink: asked at the start, and for an interface that has vanished.

use std::io;
use std::path::Path;

use crate::config::Handle;
use crate::namespace::describe;
use netlink::{attributes, find_attribute, messages, text, u32_at, Inbox, Reply, Request, Socket};

/// `struct ifinfomsg` of `include/uapi/linux/rtnetlink.h`.
const INTERFACE_HEADER_BYTES: usize = 16;
/// `ifi_index` in it.
pub const INDEX_OFFSET: usize = 4;

/// `struct tcmsg` of the same header, and the places of its fields.
pub const QDISC_HEADER_BYTES: usize = 20;
const QDISC_INTERFACE_OFFSET: usize = 4;
const QDISC_HANDLE_OFFSET: usize = 8;

/// The kernel's datagrams in a dump are at most this long, whatever the buffer.
pub const DUMP_BYTES: usize = 32 * 1024;

pub struct Link {
    pub index: u32,
    pub name: String,
}

pub struct Qdisc {
    pub handle: u32,
    pub kind: String,
}

/// The interfaces of the socket's namespace.
pub fn list(socket: &Socket) -> io::Result<Vec<Link>> {
    let mut links = Vec::new();
    dump(
        socket,
        libc::RTM_GETLINK,
        &[0; INTERFACE_HEADER_BYTES],
        |payload| {
            let name = payload
                .get(INTERFACE_HEADER_BYTES..)
                .and_then(|rest| find_attribute(rest, libc::IFLA_IFNAME));
            if let (Some(index), Some(name)) = (u32_at(payload, INDEX_OFFSET), name) {
                links.push(Link {
                    index,
                    name: text(name),
                });
            }
        },
    )?;
    Ok(links)
}

/// The index of an interface that must exist; `key` is where it stands in the configuration.
pub fn find(
    socket: &Socket,
    netns: Option<&Path>,
    interface: &str,
    key: &str,
) -> Result<u32, String> {
    let existing = list(socket)
        .map_err(|error| format!("{key}: interfaces of {}: {error}", describe(netns)))?;
    if let Some(link) = existing.iter().find(|link| link.name == interface) {
        return Ok(link.index);
    }
    let names: Vec<&str> = existing.iter().map(|link| link.name.as_str()).collect();
    Err(format!(
        "{key}.interface: `{interface}` does not exist in {}; there are: {}",
        describe(netns),
        names.join(", ")
    ))
}

/// The qdiscs of one interface that have a handle.
pub fn list_qdiscs(socket: &Socket, interface_index: u32) -> io::Result<Vec<Qdisc>> {
    let mut qdiscs = Vec::new();
    dump(
        socket,
        libc::RTM_GETQDISC,
        &qdisc_header(interface_index, 0),
        |payload| {
            let kind = payload
                .get(QDISC_HEADER_BYTES..)
                .and_then(|rest| attributes(rest).find(|(kind, _)| *kind == libc::TCA_KIND));
            let handle = u32_at(payload, QDISC_HANDLE_OFFSET).unwrap_or(0);
            if let (true, Some((_, kind))) = (
                handle != 0 && u32_at(payload, QDISC_INTERFACE_OFFSET) == Some(interface_index),
                kind,
            ) {
                qdiscs.push(Qdisc {
                    handle,
                    kind: text(kind),
                });
            }
        },
    )?;
    Ok(qdiscs)
}

/// As an error message names them: `1: (tbf), 2: (netem)`.
pub fn describe_qdiscs(qdiscs: &[Qdisc]) -> String {
    let existing: Vec<String> = qdiscs
        .iter()
        .map(|qdisc| format!("{} ({})", Handle(qdisc.handle), qdisc.kind))
        .collect();
    match existing.is_empty() {
        true => "none".to_owned(),
        false => existing.join(", "),
    }
}

pub fn qdisc_header(interface_index: u32, handle: u32) -> [u8; QDISC_HEADER_BYTES] {
    let mut header = [0; QDISC_HEADER_BYTES];
    header[QDISC_INTERFACE_OFFSET..][..4].copy_from_slice(&interface_index.to_ne_bytes());
    header[QDISC_HANDLE_OFFSET..][..4].copy_from_slice(&handle.to_ne_bytes());
    header
}

/// Asks for the interface of that name: the answer carries its index, or is ENODEV.
pub fn request_by_name(name: &str, sequence: u32, buffer: &mut Vec<u8>) {
    let mut request = Request::new(libc::RTM_GETLINK, 0, &[0; INTERFACE_HEADER_BYTES]);
    request
        .attribute_u32(libc::IFLA_EXT_MASK, libc::RTEXT_FILTER_SKIP_STATS as u32)
        .attribute_string(libc::IFLA_IFNAME, name);
    buffer.extend_from_slice(request.finish(sequence));
}

fn dump(socket: &Socket, kind: u16, header: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    receive_dump(
        socket,
        Request::new(kind, libc::NLM_F_DUMP, header).finish(0),
        &mut Inbox::new(2, DUMP_BYTES),
        |_, payload| each(payload),
    )
}

/// Sends a request for a dump and hands on each message of the answer: its type and its payload.
pub fn receive_dump(
    socket: &Socket,
    request: &[u8],
    inbox: &mut Inbox,
    mut each: impl FnMut(u16, &[u8]),
) -> io::Result<()> {
    socket.send(request)?;
    loop {
        inbox.receive(socket, Inbox::MAX_SLOTS)?;
        if inbox.is_empty() {
            return Err(io::Error::other("the kernel did not end its answer"));
        }
        for message in inbox.datagrams().flat_map(messages) {
            let message = message?;
            match message.reply() {
                Reply::Data(payload) => each(message.kind, payload),
                Reply::Done => return Ok(()),
                Reply::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }
}
