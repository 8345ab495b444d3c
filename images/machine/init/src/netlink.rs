//! Netlink: one request, one acknowledgement. Layout of messages: rtnetlink(7), netlink(7).

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    recv, send, socket, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType,
};

use crate::failure::{Context, Failure, Result};

const HEADER_BYTES: usize = 16;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
const NLA_F_NESTED: u16 = 1 << 15;
/// Linux, include/uapi/linux/netlink.h: attribute of an extended acknowledgement.
const NLMSGERR_ATTR_MSG: u16 = 1;
const NLM_F_ACK_TLVS: u16 = 0x200;
/// Linux, include/uapi/linux/genetlink.h.
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// A request under construction.
pub struct Message(Vec<u8>);

impl Message {
    /// `kind` is an `RTM_` number or a family of generic netlink, `flags` are `NLM_F_` bits beside REQUEST and ACK, `header` is the fixed part.
    pub fn new(kind: u16, flags: libc::c_int, header: &[u8]) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend_from_slice(header);
        let mut message = Self(bytes);
        message.pad();
        message
    }

    pub fn set_kind(&mut self, kind: u16) {
        self.0[4..6].copy_from_slice(&kind.to_ne_bytes());
    }

    pub fn attribute(&mut self, kind: u16, payload: &[u8]) -> &mut Self {
        self.raw(&((ATTRIBUTE_HEADER_BYTES + payload.len()) as u16).to_ne_bytes());
        self.raw(&kind.to_ne_bytes());
        self.raw(payload);
        self.pad();
        self
    }

    pub fn attribute_u32(&mut self, kind: u16, value: u32) -> &mut Self {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// A string with its final zero.
    pub fn attribute_string(&mut self, kind: u16, text: &str) -> &mut Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.attribute(kind, &bytes)
    }

    /// An attribute that holds what `fill` adds.
    pub fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.0.len();
        self.raw(&[0, 0]);
        self.raw(&kind.to_ne_bytes());
        fill(self);
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self
    }

    pub fn nest_flagged(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.nest(kind | NLA_F_NESTED, fill)
    }

    /// Bytes without a header of their own, padded.
    pub fn raw_padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw(bytes);
        self.pad();
        self
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub fn finish(&mut self, sequence: u32) -> &[u8] {
        let length = self.0.len() as u32;
        self.0[0..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        &self.0
    }
}

/// What the kernel answered to a refused request.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub errno: Errno,
    /// The kernel's own words, where it has some.
    pub message: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match &self.message {
            Some(message) => write!(formatter, "{message} ({})", self.errno.desc()),
            None => formatter.write_str(self.errno.desc()),
        }
    }
}

/// A socket of the network namespace that it was opened in.
pub struct Socket {
    socket: OwnedFd,
    sequence: u32,
}

impl Socket {
    pub fn open() -> Result<Self> {
        Self::of(SockProtocol::NetlinkRoute)
    }

    /// Of generic netlink.
    pub fn open_generic() -> Result<Self> {
        Self::of(SockProtocol::NetlinkGeneric)
    }

    fn of(protocol: SockProtocol) -> Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            protocol,
        )
        .context(|| "open a netlink socket".to_owned())?;
        ask_for_extended_acknowledgements(&socket);
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// The number of a family of generic netlink.
    pub fn family(&mut self, name: &str) -> Result<u16> {
        // struct genlmsghdr
        let mut message = Message::new(GENL_ID_CTRL, 0, &[CTRL_CMD_GETFAMILY, 1, 0, 0]);
        message.attribute_string(CTRL_ATTR_FAMILY_NAME, name);
        let mut found = None;
        self.exchange(&mut message, |answer| {
            found = found.or_else(|| family_of(answer));
        })
        .map_err(|refusal| {
            Failure::new(format!(
                "the kernel has no netlink family {name}: {refusal}"
            ))
        })?;
        found
            .ok_or_else(|| Failure::new(format!("the kernel gave netlink family {name} no number")))
    }

    /// Sends a request and waits for its acknowledgement.
    pub fn request(&mut self, message: &mut Message) -> std::result::Result<(), Refusal> {
        self.exchange(message, |_| ())
    }

    /// The same; `look` sees what comes before the acknowledgement.
    fn exchange(
        &mut self,
        message: &mut Message,
        mut look: impl FnMut(&[u8]),
    ) -> std::result::Result<(), Refusal> {
        self.sequence += 1;
        let plain = |errno| Refusal {
            errno,
            message: None,
        };
        send(
            self.socket.as_raw_fd(),
            message.finish(self.sequence),
            MsgFlags::empty(),
        )
        .map_err(plain)?;
        let mut answer = [0; 8192];
        loop {
            let length =
                recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::empty()).map_err(plain)?;
            if let Some(result) = acknowledgement(&answer[..length], self.sequence) {
                return result;
            }
            look(&answer[..length]);
        }
    }
}

/// The family's number in the answer to CTRL_CMD_GETFAMILY.
fn family_of(answer: &[u8]) -> Option<u16> {
    if read_u16(answer, 4)? != GENL_ID_CTRL {
        return None;
    }
    let value = attribute(answer, HEADER_BYTES + 4, CTRL_ATTR_FAMILY_ID)?;
    read_u16(value, 0)
}

/// The payload of an attribute of that kind, the first one of those that start at `at`.
fn attribute(bytes: &[u8], mut at: usize, wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(read_u16(bytes, at)?);
        let kind = read_u16(bytes, at + 2)?;
        let payload = bytes.get(at + ATTRIBUTE_HEADER_BYTES..at + length)?;
        if kind == wanted {
            return Some(payload);
        }
        at += length.next_multiple_of(4);
    }
}

/// A kernel that does not know the option still answers, with error numbers alone.
fn ask_for_extended_acknowledgements(socket: &OwnedFd) {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is one int, which outlives the call.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_NETLINK,
            libc::NETLINK_EXT_ACK,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
}

/// The answer to the request of that number, if it is one.
fn acknowledgement(answer: &[u8], sequence: u32) -> Option<std::result::Result<(), Refusal>> {
    let is_ours =
        read_u16(answer, 4)? == libc::NLMSG_ERROR as u16 && read_u32(answer, 8)? == sequence;
    if !is_ours {
        return None;
    }
    let code = read_u32(answer, HEADER_BYTES)? as i32;
    if code == 0 {
        return Some(Ok(()));
    }
    Some(Err(Refusal {
        errno: Errno::from_raw(-code),
        message: extended_message(answer),
    }))
}

/// The text of an extended acknowledgement, which stands behind a copy of the request (its header only, or all of it).
fn extended_message(answer: &[u8]) -> Option<String> {
    let flags = read_u16(answer, 6)?;
    if flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    const NLM_F_CAPPED: u16 = 0x100;
    let request = HEADER_BYTES + 4;
    let copied = if flags & NLM_F_CAPPED != 0 {
        HEADER_BYTES
    } else {
        read_u32(answer, request)? as usize
    };
    let text = attribute(
        answer,
        request + copied.next_multiple_of(4),
        NLMSGERR_ATTR_MSG,
    )?;
    Some(
        String::from_utf8_lossy(text)
            .trim_end_matches('\0')
            .to_owned(),
    )
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
