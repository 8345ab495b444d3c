//! What lines of all tools share: the interfaces that they name, and what becomes of a line.

use std::collections::HashMap;

use netlink::Request;
use nix::net::if_::if_nametoindex;

/// The interfaces of the current network namespace.
#[derive(Default)]
pub(super) struct Interfaces(pub(super) HashMap<String, u32>);

impl Interfaces {
    pub(super) fn index(&mut self, name: &str) -> Option<u32> {
        if let Some(index) = self.0.get(name) {
            return Some(*index);
        }
        let index = if_nametoindex(name).ok()?;
        self.0.insert(name.to_owned(), index);
        Some(index)
    }
}

/// What a line asks for, and of whom.
pub(super) enum Command {
    Route(Request),
    /// The path manager of MPTCP, by generic netlink.
    Mptcp(Request),
}

/// `NLM_F_` flags of a verb.
pub(super) fn verb_flags(verb: &str) -> Option<libc::c_int> {
    match verb {
        "add" => Some(libc::NLM_F_CREATE | libc::NLM_F_EXCL),
        "replace" => Some(libc::NLM_F_CREATE | libc::NLM_F_REPLACE),
        _ => None,
    }
}
