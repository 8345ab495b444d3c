//! What the machines of a lab agree on that is cut into parts: when it begins, when routes are there, and when it ends.
//! By /proc/fabriclab_wires (images/machine/kernel/tree/arch/um/kernel/wires_proc.c).

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::job::{Job, Wires};

const FILE: &str = "/proc/fabriclab_wires";
/// More than its text ever has: 66 numbers of 64 bits.
const LONGEST: usize = 2048;
/// So many subjects of looks there are: WIRES_SUBJECTS of the kernel's `wires.h`.
const SUBJECTS: usize = 2;
/// When the traffic of all ends because the host wants it to, in the directory that all of them write to.
const STOP_AT: &str = "stop-at";
/// All machines know so much later what one of them has told: none runs further ahead of another.
pub const KNOWN_NS: i64 = clock::MILLISECOND_NS;

/// What machines look at ([`crate::looks`]). Each has a word of every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Routes,
    Queues,
}

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

/// When probes and traffic start: an instant on which machines agreed. That is when all knew that routes are there;
/// where nothing has to be ready before, when cables began to carry; else now, for such labs are in one machine.
pub fn lab_begin_ns(job: &Job, ready_ns: Option<i64>) -> i64 {
    let is_ready = job.daemons.is_empty() && job.setup.is_empty() && job.still.is_none();
    let wires = job.wires.as_ref().filter(|_| is_ready);
    ready_ns
        .or(wires.map(|wires| wires.begin_ns))
        .unwrap_or_else(clock::monotonic_ns)
}

/// This machine's traffic has ended.
pub fn end_traffic(now_ns: i64) -> Result<()> {
    tell(&format!("ended {now_ns}"))
}

/// What this machine has seen when it looked.
pub fn tell_looks(subject: Subject, word: u64) -> Result<()> {
    tell(&format!("looks {} {word}", subject as usize))
}

/// What each machine has told so.
pub fn looks(subject: Subject) -> Result<Vec<u64>> {
    let of_all = numbers()?.into_iter().skip(2 + subject as usize);
    Ok(of_all.step_by(SUBJECTS).collect())
}

/// Whether a machine has left: it looks at nothing any more.
pub fn any_left() -> Result<bool> {
    Ok(numbers()?[1] > 0)
}

/// When the last traffic of all machines ended. `None`: some have traffic.
pub fn last_end_ns() -> Result<Option<i64>> {
    let last_ns = i64::try_from(numbers()?[0]).unwrap_or(i64::MAX);
    Ok((last_ns > 0).then_some(last_ns))
}

/// When all know what one told at an instant: a whole millisecond.
pub fn all_know_ns(told_ns: i64) -> i64 {
    clock::whole_millisecond_after(told_ns, KNOWN_NS)
}

/// The file's: when the traffic of all has ended, how many have left, and each machine's looks, by subject.
fn numbers() -> Result<Vec<u64>> {
    let text = read_once().context(|| format!("read {FILE}"))?;
    let read: std::result::Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    match read {
        Ok(numbers) if numbers.len() > 2 => Ok(numbers),
        _ => Err(Failure::new(format!(
            "{FILE} says \"{}\", where numbers are wanted",
            text.trim()
        ))),
    }
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
