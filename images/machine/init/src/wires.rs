//! What the machines of a lab agree on that is cut into parts: when it begins, and when it ends. By
//! /proc/fabriclab_wires (images/machine/kernel/tree/arch/um/kernel/wires_proc.c).

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::job::{Job, Wires};

const FILE: &str = "/proc/fabriclab_wires";
/// More than its text ever has: a number.
const LONGEST: usize = 64;
/// When the traffic of all ends because the host wants it to, in the directory that all of them write to.
const STOP_AT: &str = "stop-at";
/// All machines know of an end of traffic so much later: no cable between them is that long.
pub const KNOWN_NS: i64 = clock::MILLISECOND_NS;

/// The current network namespace is a node's, which draws from a stream of its own, whatever machine it is in.
pub fn begin_node(stream: u64) -> Result<()> {
    tell(&format!("node {stream}"))
}

/// How long it takes until cables carry.
pub fn until_begin_ns(wires: &Wires) -> Result<i64> {
    let now_ns = clock::monotonic_ns();
    if now_ns < wires.begin_ns {
        return Ok(wires.begin_ns - now_ns);
    }
    Err(Failure::new(format!(
        "the lab was to begin {} virtual ms after the start, and its nodes took {} ms",
        wires.begin_ns / clock::MILLISECOND_NS,
        now_ns / clock::MILLISECOND_NS
    )))
}

/// When probes and traffic start: now; where nothing has to be ready before, at the instant on which machines agreed.
pub fn lab_begin_ns(job: &Job) -> i64 {
    let is_ready = job.daemons.is_empty()
        && job.setup.is_empty()
        && job.ready.is_none()
        && job.still.is_none();
    let wires = job.wires.as_ref().filter(|_| is_ready);
    wires.map_or_else(clock::monotonic_ns, |wires| wires.begin_ns)
}

/// This machine's traffic has ended.
pub fn end_traffic(now_ns: i64) -> Result<()> {
    tell(&format!("ended {now_ns}"))
}

/// When the lab ends: the same instant in all machines. `None`: some have traffic.
pub fn end_ns() -> Result<Option<i64>> {
    let text = read_once().context(|| format!("read {FILE}"))?;
    let wrong = |_| {
        Failure::new(format!(
            "{FILE} says \"{}\", which is not a number",
            text.trim()
        ))
    };
    let last_ns: i64 = text.trim().parse().map_err(wrong)?;
    Ok((last_ns > 0).then(|| clock::whole_millisecond_after(last_ns, KNOWN_NS)))
}

/// By one system call: between two, other machines may make the text longer, and the second would bring its end.
fn read_once() -> std::io::Result<String> {
    let mut bytes = [0; LONGEST];
    let length = fs::File::open(FILE)?.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Nobody waits for this machine any more. One that is alone has nobody to tell.
pub fn leave() {
    let _ = fs::write(FILE, "leave");
}

/// Whether the traffic is to end now. Machines may see the host's wish at different ticks: who sees it first says that
/// all end at the next one, which no machine reaches before that is written.
pub fn stops_now(job: &Path, part: u32, tick_ns: i64, interval_ns: i64) -> Result<bool> {
    let agreed = job.join(STOP_AT);
    let read = || fs::read_to_string(&agreed).ok()?.trim().parse().ok();
    if let Some(at_ns) = read() {
        let at_ns: i64 = at_ns;
        return Ok(tick_ns >= at_ns);
    }
    let own = job.join(format!("{STOP_AT}-{part}"));
    fs::write(&own, (tick_ns + interval_ns).to_string())
        .and_then(|()| fs::rename(&own, &agreed))
        .context(|| format!("write {}", agreed.display()))?;
    Ok(false)
}

fn tell(text: &str) -> Result<()> {
    fs::write(FILE, text).context(|| format!("write \"{text}\" to {FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_stop_at_the_tick_after_the_first_that_saw_the_wish() {
        let job = std::env::temp_dir().join(format!("wires-{}", std::process::id()));
        fs::create_dir_all(&job).expect("a directory");
        assert_eq!(stops_now(&job, 0, 300, 100), Ok(false));
        assert_eq!(stops_now(&job, 1, 300, 100), Ok(false));
        assert_eq!(stops_now(&job, 1, 400, 100), Ok(true));
        assert_eq!(stops_now(&job, 0, 400, 100), Ok(true));
        fs::remove_dir_all(&job).expect("it is there");
    }
}
