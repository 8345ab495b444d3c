//! `tc qdisc` of the kind `switch_port`: one line describes a port of a switch with a shared buffer. No tool knows it
//! but this program.
//!
//! ```text
//! rate RATEbit [delay TIMEns] [overhead BYTES] [mpu BYTES] [loss PERCENT%] [cell BYTES]
//! [slices N] [slice IN OUT]
//! [memory POOL BYTES [HEADROOM]]... [ring BYTES] [tx_queues N]
//! [pacer BYTES interval TIMEns idle TIMEns eta PERCENT% beta N probability PERCENT%]
//! [qcn LEASTbit ACTIVEbit HYPERbit CYCLE_BYTES CYCLEns]
//! [roce MTU WINDOW ACK_EVERY RETRIES TIMEOUTns INTERVALns DSCP ACK_DSCP CNP_DSCP
//!     [selective] [reads N] [trimmed] [control NAME WORD,VALUE,...|-]] [telemetry]
//! [trimming none | BYTES DSCP QUEUE|dynamic]
//! [dscp_to_tc N,... (64)] [tc_to_queue N,... (8)] [tc_to_group ...] [priority_to_queue ...] [priority_to_group ...]
//! [pfc none | PRIORITY,... [quanta N] [reaction TIMEns] [watchdog DETECTIONns RESTORATIONns drop|forward]]
//! [queue INDEX [pool POOL] [reserved BYTES] [limit BYTES | alpha LOG2] [strict | dwrr BYTES | wrr FRAMES]
//!     [cir RATEbit BYTES] [pir RATEbit BYTES]
//!     [wred MIN MAX PERCENT% [weight LOG2] [ecn] [keep_non_ect]] [phantom RATEbit BYTES]
//!     [voq_limit BYTES] [event BYTES] [qcn SET_POINT SAMPLE_BYTES WEIGHT]
//!     [sharing POLICY TIMEns [unscheduled LOG2 CLASS,...]] [trim]]...
//! [group INDEX [pool POOL] [reserved BYTES] [limit BYTES | alpha LOG2] [lossless HEADROOM XON XON_OFFSET]]...
//! ```
//!
//! Each word once, in any order; a queue and a group reach to the next one. WRED's MIN and MAX count bytes, or with
//! `ns` a frame's time in the queue. What is left out is not sent: the kernel's default for a new port, the old value
//! for one that is changed; but a queue or a group that is named is named as a whole. What the values mean:
//! `uapi/switch_port.h` beside the kernel's code. Checked here is what the kernel could refuse in general terms only;
//! the rest it names itself.

mod options;
mod queue;
mod roce;
mod values;

use super::command::Interfaces;
use super::tc::{Head, Verb};
use super::words::{self, Words};
use netlink::switch_port::{self, storm, TRIM_BY_CLASS};
use netlink::Request;
use options::{Limiter, Pacer, Pfc, Pool, Port, Trimming};
use values::{
    bit_mask, bytes, list, number, once, percent, rate, time, unknown, value, Parsed, POOLS, QUEUES,
};

/// The kind's name.
pub(super) const KIND: &str = "switch_port";

const SLICES: u64 = switch_port::SLICES as u64;
/// Within what the kernel takes a value (its `parse.c`).
const OVERHEAD_MAX: u64 = 1024;
const MPU_MAX: u64 = 16384;
const CELL_MAX: u64 = 32767;
const QUANTA_MIN: u64 = 2;
const DSCP_MAX: u64 = 63;
const QUANTA_DEFAULT: u16 = u16::MAX;

/// Is this line of this kind? A file that has one can't be left to the real tool.
pub(super) fn is_named(line: &str) -> bool {
    !line.trim_start().starts_with('#') && line.split_ascii_whitespace().any(|word| word == KIND)
}

/// The request of a line that names the kind.
pub(super) fn compile(words: &mut Words, interfaces: &mut Interfaces) -> Parsed<Request> {
    let head = Head::read(words, interfaces)?;
    if !words.take(KIND) {
        let word = words.next().unwrap_or_default();
        return Err(format!("\"{word}\": must be dev, root, handle or {KIND}"));
    }
    if !head.is_root() {
        return Err(format!("{KIND} must be the root of its device"));
    }
    let port = read(words)?;
    if port.rate_bps.is_none() && head.verb != Verb::Change {
        return Err(format!(
            "{KIND}: a port needs a rate, such as \"rate 1000000000bit\""
        ));
    }
    Ok(options::message(head.message(KIND), &port))
}

fn read(words: &mut Words) -> Parsed<Port> {
    let mut port = Port::default();
    while let Some(word) = words.next() {
        match word {
            "rate" => once(word, &mut port.rate_bps, rate(words, word)?)?,
            "delay" => once(word, &mut port.delay_ns, time(words, word)?)?,
            "overhead" => once(
                word,
                &mut port.overhead,
                number(words, word, 0, OVERHEAD_MAX)? as u32,
            )?,
            "mpu" => once(word, &mut port.mpu, number(words, word, 0, MPU_MAX)? as u32)?,
            "loss" => once(word, &mut port.loss, percent(words, word)?)?,
            "cell" => once(
                word,
                &mut port.cell,
                number(words, word, 1, CELL_MAX)? as u32,
            )?,
            "slices" => once(
                word,
                &mut port.slices,
                number(words, word, 1, SLICES)? as u32,
            )?,
            "slice" => once(word, &mut port.slice, slice(words, word)?)?,
            "ring" => once(word, &mut port.ring, bytes(words, word)?)?,
            "tx_queues" => once(
                word,
                &mut port.tx_queues,
                number(words, word, 1, QUEUES)? as u8,
            )?,
            "pacer" => once(word, &mut port.pacer, pacer(words)?)?,
            "qcn" => once(word, &mut port.limiter, limiter(words, word)?)?,
            "roce" => once(word, &mut port.roce, roce::roce(words, word)?)?,
            "telemetry" => once(word, &mut port.telemetry, ())?,
            "trimming" => once(word, &mut port.trimming, trimming(words, word)?)?,
            "memory" => memory(words, &mut port.pools)?,
            "pfc" => once(word, &mut port.pfc, pfc(words)?)?,
            "queue" => queue::queue(words, &mut port.queues)?,
            "group" => queue::group(words, &mut port.groups)?,
            _ => match port.maps.slot(word) {
                Some((slot, entries)) => once(word, slot, map(words, word, entries)?)?,
                None => return Err(unknown(word, "a port")),
            },
        }
    }
    Ok(port)
}

/// `IN OUT`
fn slice(words: &mut Words, name: &str) -> Parsed<[u8; 2]> {
    let into = number(words, name, 0, SLICES - 1)? as u8;
    Ok([into, number(words, name, 0, SLICES - 1)? as u8])
}

/// `none | BYTES DSCP QUEUE|dynamic`
fn trimming(words: &mut Words, name: &str) -> Parsed<Trimming> {
    if words.take("none") {
        return Ok(Trimming::default());
    }
    let size = number(words, name, 1, u32::MAX.into())? as u32;
    let dscp = number(words, name, 0, DSCP_MAX)? as u8;
    let queue = match words.take("dynamic") {
        true => TRIM_BY_CLASS,
        false => number(words, name, 0, QUEUES - 1)? as u8,
    };
    Ok(Trimming { size, dscp, queue })
}

/// `POOL BYTES [HEADROOM]`
fn memory(words: &mut Words, pools: &mut Vec<Pool>) -> Parsed<()> {
    let index = number(words, "memory", 0, POOLS - 1)? as u32;
    let place = format!("memory {index}");
    if pools.iter().any(|pool| pool.index == index) {
        return Err(format!("{place}: named twice"));
    }
    let size = bytes(words, &place)?;
    let headroom = match words.peek().and_then(words::number) {
        Some(_) => bytes(words, &place)?,
        None => 0,
    };
    pools.push(Pool {
        index,
        size,
        headroom,
    });
    Ok(())
}

/// `N,N,...`, one for each of `entries`
fn map(words: &mut Words, name: &str, entries: usize) -> Parsed<Vec<u8>> {
    let what = format!(
        "{entries} numbers from 0 to {}, with commas between",
        QUEUES - 1
    );
    value(words, name, &what, |word| {
        list(word).filter(|map| map.len() == entries)
    })
}

/// `none | PRIORITY,... [quanta N] [reaction TIMEns] [watchdog DETECTIONns RESTORATIONns drop|forward]`
fn pfc(words: &mut Words) -> Parsed<Pfc> {
    let what = "none, or priorities from 0 to 7, each once, with commas between";
    let priorities = match words.take("none") {
        true => 0,
        false => value(words, "pfc", what, |word| bit_mask(&list(word)?))?,
    };
    let (mut quanta, mut reaction_ns, mut watchdog) = (None, None, None);
    while let Some(word) = words.next_if(&["quanta", "reaction", "watchdog"]) {
        match word {
            "quanta" => once(
                word,
                &mut quanta,
                number(words, word, QUANTA_MIN, u16::MAX.into())? as u16,
            )?,
            "reaction" => once(word, &mut reaction_ns, time(words, word)?)?,
            _ => once(word, &mut watchdog, self::watchdog(words)?)?,
        }
    }
    let (detection_ns, restoration_ns, storm_action) = watchdog.unwrap_or_default();
    Ok(Pfc {
        reaction_ns: reaction_ns.unwrap_or(0),
        detection_ns,
        restoration_ns,
        quanta: quanta.unwrap_or(QUANTA_DEFAULT),
        priorities,
        storm_action,
    })
}

/// `BYTES interval TIMEns idle TIMEns eta PERCENT% beta N probability PERCENT%`, in this order
fn pacer(words: &mut Words) -> Parsed<Pacer> {
    let named = |words: &mut Words, name: &str| match words.take(name) {
        true => Ok(()),
        false => Err(format!("pacer: {name} is missing")),
    };
    let bucket = bytes(words, "pacer")?;
    named(words, "interval")?;
    let interval_ns = time(words, "interval")?;
    named(words, "idle")?;
    let idle_ns = time(words, "idle")?;
    named(words, "eta")?;
    let eta = percent(words, "eta")?;
    named(words, "beta")?;
    let beta = number(words, "beta", 0, u32::MAX.into())? as u32;
    named(words, "probability")?;
    Ok(Pacer {
        bucket,
        interval_ns,
        idle_ns,
        eta,
        beta,
        probability: percent(words, "probability")?,
    })
}

/// `LEASTbit ACTIVEbit HYPERbit CYCLE_BYTES CYCLEns`
fn limiter(words: &mut Words, name: &str) -> Parsed<Limiter> {
    Ok(Limiter {
        least_bps: rate(words, name)?,
        active_bps: rate(words, name)?,
        hyper_bps: rate(words, name)?,
        cycle_bytes: bytes(words, name)?,
        cycle_ns: time(words, name)?,
    })
}

/// Detection and restoration in nanoseconds, and `enum tc_switch_storm_action`.
fn watchdog(words: &mut Words) -> Parsed<(u64, u64, u8)> {
    let name = "watchdog";
    let (detection_ns, restoration_ns) = (time(words, name)?, time(words, name)?);
    let action = value(words, name, "drop or forward", |word| match word {
        "drop" => Some(storm::DROP),
        "forward" => Some(storm::FORWARD),
        _ => None,
    })?;
    Ok((detection_ns, restoration_ns, action))
}

#[cfg(test)]
#[path = "switch_port/tests.rs"]
mod tests;
