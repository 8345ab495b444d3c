//! The little of netlink (RFC 3549, `Documentation/userspace-api/netlink/`) that a sampler needs: build requests once, send many in one
//! system call, receive many answers in one system call, walk over messages and attributes without copying.

mod socket;
mod wire;

pub use socket::{Inbox, Protocol, Socket};
pub use wire::{
    attributes, find_attribute, messages, text, u16_at, u32_at, u64_at, Message, Reply,
    RequestBuilder,
};
