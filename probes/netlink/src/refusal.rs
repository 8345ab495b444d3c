//! Acknowledgements, and why the kernel refused.

use std::fmt;

use nix::errno::Errno;

use crate::answer::{find_attribute, text, u32_at, Message};
use crate::layout::{align, HEADER_BYTES};
use crate::uapi::NLMSGERR_ATTR_MSG;

/// What the kernel answered to a refused request.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub errno: Errno,
    /// The kernel's own words, where it has some.
    pub message: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.message {
            Some(message) => write!(formatter, "{message} ({})", self.errno.desc()),
            None => formatter.write_str(self.errno.desc()),
        }
    }
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Self {
            errno,
            message: None,
        }
    }
}

/// What the message says of the request of that number, if it is its acknowledgement.
pub fn acknowledgement(message: &Message, sequence: u32) -> Option<Result<(), Refusal>> {
    if i32::from(message.kind) != libc::NLMSG_ERROR || message.sequence != sequence {
        return None;
    }
    let code = u32_at(message.payload, 0)? as i32;
    if code == 0 {
        return Some(Ok(()));
    }
    Some(Err(Refusal {
        errno: Errno::from_raw(-code),
        message: extended_message(message),
    }))
}

/// The text of an extended acknowledgement, which stands behind a copy of the request (its header only, or all of it).
fn extended_message(message: &Message) -> Option<String> {
    let flags = libc::c_int::from(message.flags);
    if flags & libc::NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let request = message.payload.get(4..)?;
    let copied = match flags & libc::NLM_F_CAPPED {
        0 => u32_at(request, 0)? as usize,
        _ => HEADER_BYTES,
    };
    find_attribute(request.get(align(copied)..)?, NLMSGERR_ATTR_MSG).map(text)
}
