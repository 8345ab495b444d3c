//! The little of netlink (RFC 3549, `Documentation/userspace-api/netlink/`) that PID 1 and the sampler need: build
//! requests, send many in one system call, receive many answers in one system call, walk over messages and attributes
//! without copying.
//!
//! It is a crate of our own because what it serves counts system calls and bytes: the sampler's requests are built once
//! and sent again and again, many in one call, and PID 1's must be to the byte those of iproute2. The crates for
//! netlink model each message as a type instead, parse into allocations, and know neither our own qdisc nor MPTCP's
//! path manager.

mod answer;
mod family;
mod inbox;
mod layout;
mod refusal;
mod request;
mod socket;
pub mod switch_port;
pub mod uapi;

pub use answer::{
    attributes, find_attribute, messages, text, u16_at, u32_at, u64_at, Message, Reply,
};
pub use family::Family;
pub use inbox::Inbox;
pub use refusal::Refusal;
pub use request::Request;
pub use socket::{Protocol, Socket};
