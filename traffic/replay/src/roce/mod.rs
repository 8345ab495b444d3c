//! Flows over the host's RoCE NIC: the device, and what each end of a flow does.

mod device;
mod end;

pub use device::{Completion, Connect, Counters, Device, Event, Post};
pub use end::End;
