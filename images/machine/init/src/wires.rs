//! What the machines of a lab agree on that is cut into parts: when it begins, and when it ends. By
//! /proc/fabriclab_wires (images/machine/kernel/tree/arch/um/kernel/wires_proc.c).

use std::fs;

use crate::clock;
use crate::failure::{Context, Failure, Result};

const FILE: &str = "/proc/fabriclab_wires";
/// All machines know of an end of traffic so much later: no cable between them is that long.
pub const KNOWN_NS: i64 = clock::MILLISECOND_NS;

/// The current network namespace is a node's, which draws from a stream of its own, whatever machine it is in.
pub fn begin_node(stream: u64) -> Result<()> {
    tell(&format!("node {stream}"))
}

/// This machine's traffic has ended.
pub fn end_traffic(now_ns: i64) -> Result<()> {
    tell(&format!("ended {now_ns}"))
}

/// When the lab ends: the same instant in all machines. `None`: some have traffic.
pub fn end_ns() -> Result<Option<i64>> {
    let text = fs::read_to_string(FILE).context(|| format!("read {FILE}"))?;
    let wrong = |_| {
        Failure::new(format!(
            "{FILE} says \"{}\", which is no number",
            text.trim()
        ))
    };
    let last_ns: i64 = text.trim().parse().map_err(wrong)?;
    Ok((last_ns > 0).then(|| clock::whole_millisecond_after(last_ns, KNOWN_NS)))
}

/// Nobody waits for this machine any more. One that is alone has nobody to tell.
pub fn leave() {
    let _ = fs::write(FILE, "leave");
}

fn tell(text: &str) -> Result<()> {
    fs::write(FILE, text).context(|| format!("write \"{text}\" to {FILE}"))
}
