//! A port's queues and priority groups, from words.

use super::options::{
    Account, CongestionPoint, Group, Lossless, Phantom, Queue, Scheduler, Sharing, Wred,
    POLICY_BYTES,
};
use super::values::{
    bit_mask, bytes, list, number, once, percent, rate, time, unknown, value, Parsed, POOLS, QUEUES,
};
use crate::iproute::words::{self, Words};
use netlink::switch_port::scheduling::{DWRR, STRICT, WRR};
use netlink::switch_port::wred;

/// Within what the kernel takes a value (its `parse.c`).
const QUANTUM_MIN_BYTES: u64 = 64;
const ALPHA_LOG: std::ops::RangeInclusive<i8> = -8..=7;
const WEIGHT_LOG_MAX: u64 = 15;

/// Words that begin the next queue or group, and so end this one.
fn is_next(word: &str) -> bool {
    matches!(word, "queue" | "group")
}

/// Reads `INDEX ...` to the next queue or group.
pub(super) fn queue(words: &mut Words, queues: &mut Vec<Queue>) -> Parsed<()> {
    let index = number(words, "queue", 0, QUEUES - 1)? as u8;
    let place = |message| format!("queue {index}: {message}");
    if queues.iter().any(|queue| queue.index == index) {
        return Err(place("named twice".to_owned()));
    }
    queues.push(queue_words(words, index).map_err(place)?);
    Ok(())
}

fn queue_words(words: &mut Words, index: u8) -> Parsed<Queue> {
    let mut account = AccountWords::default();
    let (mut scheduling, mut cir, mut pir) = (None, None, None);
    let (mut wred, mut phantom, mut voq_limit, mut event) = (None, None, None, None);
    let (mut qcn, mut sharing, mut trims) = (None, None, None);
    while let Some(word) = words.next_unless(is_next) {
        match word {
            "strict" | "dwrr" | "wrr" => once(
                "strict, dwrr or wrr",
                &mut scheduling,
                self::scheduling(words, word)?,
            )?,
            "cir" => once(word, &mut cir, bucket(words, word)?)?,
            "pir" => once(word, &mut pir, bucket(words, word)?)?,
            "wred" => once(word, &mut wred, self::wred(words)?)?,
            "phantom" => once(word, &mut phantom, bucket(words, word)?)?,
            "voq_limit" => once(word, &mut voq_limit, bytes(words, word)?)?,
            "event" => once(word, &mut event, bytes(words, word)?)?,
            "qcn" => once(word, &mut qcn, congestion_point(words, word)?)?,
            "sharing" => once(word, &mut sharing, self::sharing(words, word)?)?,
            "trim" => once(word, &mut trims, ())?,
            _ => account.read(words, word, "a queue")?,
        }
    }
    let (scheduling, quantum) = scheduling.unwrap_or((STRICT, 1));
    let (cir_bps, cbs) = cir.unwrap_or_default();
    let (pir_bps, pbs) = pir.unwrap_or_default();
    Ok(Queue {
        index,
        scheduler: Scheduler {
            cir_bps,
            cbs,
            pir_bps,
            pbs,
            quantum,
            scheduling,
        },
        account: account.finish()?,
        wred,
        phantom: phantom.map(|(rate_bps, threshold)| Phantom {
            rate_bps,
            threshold,
        }),
        voq_limit,
        event,
        qcn,
        sharing,
        trims,
    })
}

/// `enum tc_switch_scheduling`, and the quantum in its unit.
fn scheduling(words: &mut Words, name: &str) -> Parsed<(u8, u32)> {
    let quantum = |words: &mut Words, least| number(words, name, least, u32::MAX.into());
    match name {
        "dwrr" => Ok((DWRR, quantum(words, QUANTUM_MIN_BYTES)? as u32)),
        "wrr" => Ok((WRR, quantum(words, 1)? as u32)),
        _ => Ok((STRICT, 1)),
    }
}

/// `SET_POINT SAMPLE_BYTES WEIGHT`
fn congestion_point(words: &mut Words, name: &str) -> Parsed<CongestionPoint> {
    Ok(CongestionPoint {
        set_point: bytes(words, name)?,
        sample: bytes(words, name)?,
        weight: number(words, name, 0, u32::MAX.into())? as u32,
    })
}

/// `POLICY TIMEns [congested BYTES] [unscheduled LOG2 CLASS,...]`
fn sharing(words: &mut Words, name: &str) -> Parsed<Sharing> {
    let what = "a policy's name of at most 15 characters";
    let policy = value(words, name, what, |word| {
        (word.len() < POLICY_BYTES).then(|| word.to_owned())
    })?;
    let interval_ns = u32::try_from(time(words, name)?)
        .map_err(|_| format!("{name}: the interval must be below 4 s"))?;
    let congested = if words.take("congested") {
        number(words, "congested", 1, 1_000_000_000)? as u32
    } else {
        0
    };
    let (mut unscheduled_alpha_log, mut unscheduled_classes) = (0, 0);
    if words.take("unscheduled") {
        unscheduled_alpha_log = alpha_log(words, "unscheduled")?;
        let what = "classes from 0 to 7, each once, with commas between";
        unscheduled_classes = value(words, "unscheduled", what, |word| bit_mask(&list(word)?))?;
    }
    Ok(Sharing {
        policy,
        interval_ns,
        congested,
        unscheduled_alpha_log,
        unscheduled_classes,
    })
}

/// `RATEbit BYTES`
fn bucket(words: &mut Words, name: &str) -> Parsed<(u64, u64)> {
    Ok((rate(words, name)?, bytes(words, name)?))
}

/// `MIN MAX PERCENT% [weight LOG2] [ecn] [keep_non_ect]`
fn wred(words: &mut Words) -> Parsed<Wred> {
    let name = "wred";
    let ((min, by_delay), (max, max_by_delay)) = (threshold(words, name)?, threshold(words, name)?);
    if by_delay != max_by_delay {
        return Err("wred: both thresholds must be bytes, or both times".to_owned());
    }
    let probability = percent(words, name)?;
    let (mut weight, mut ecn, mut keep) = (None, None, None);
    while let Some(word) = words.next_if(&["weight", "ecn", "keep_non_ect"]) {
        match word {
            "weight" => once(
                word,
                &mut weight,
                number(words, word, 0, WEIGHT_LOG_MAX)? as u8,
            )?,
            "ecn" => once(word, &mut ecn, wred::ECN)?,
            _ => once(word, &mut keep, wred::KEEP_NON_ECT)?,
        }
    }
    let delay = if by_delay { wred::DELAY } else { 0 };
    Ok(Wred {
        min,
        max,
        probability,
        weight_log: weight.unwrap_or(0),
        flags: ecn.unwrap_or(0) | keep.unwrap_or(0) | delay,
    })
}

/// Bytes, or nanoseconds and `true`.
fn threshold(words: &mut Words, name: &str) -> Parsed<(u64, bool)> {
    let what = "a whole number of bytes, or a time such as 50000ns";
    value(words, name, what, |word| {
        let bytes = words::number(word).map(|bytes| (bytes, false));
        bytes.or_else(|| words::time_ns(word).map(|ns| (ns, true)))
    })
}

/// Reads `INDEX ...` to the next queue or group.
pub(super) fn group(words: &mut Words, groups: &mut Vec<Group>) -> Parsed<()> {
    let index = number(words, "group", 0, QUEUES - 1)? as u8;
    let place = |message| format!("group {index}: {message}");
    if groups.iter().any(|group| group.index == index) {
        return Err(place("named twice".to_owned()));
    }
    groups.push(group_words(words, index).map_err(place)?);
    Ok(())
}

fn group_words(words: &mut Words, index: u8) -> Parsed<Group> {
    let mut account = AccountWords::default();
    let mut lossless = None;
    while let Some(word) = words.next_unless(is_next) {
        match word {
            "lossless" => once(word, &mut lossless, self::lossless(words, word)?)?,
            _ => account.read(words, word, "a priority group")?,
        }
    }
    Ok(Group {
        index,
        account: account.finish()?,
        lossless,
    })
}

/// `HEADROOM XON XON_OFFSET`
fn lossless(words: &mut Words, name: &str) -> Parsed<Lossless> {
    Ok(Lossless {
        headroom: bytes(words, name)?,
        xon: bytes(words, name)?,
        xon_offset: bytes(words, name)?,
    })
}

/// `[pool POOL] [reserved BYTES] [limit BYTES | alpha LOG2]`
#[derive(Default)]
struct AccountWords {
    pool: Option<u8>,
    reserved: Option<u64>,
    limit: Option<u64>,
    alpha_log: Option<i8>,
}

impl AccountWords {
    fn read(&mut self, words: &mut Words, word: &str, of: &str) -> Parsed<()> {
        match word {
            "pool" => once(
                word,
                &mut self.pool,
                number(words, word, 0, POOLS - 1)? as u8,
            ),
            "reserved" => once(word, &mut self.reserved, bytes(words, word)?),
            "limit" => once(word, &mut self.limit, bytes(words, word)?),
            "alpha" => once(word, &mut self.alpha_log, alpha_log(words, word)?),
            _ => Err(unknown(word, of)),
        }
    }

    fn finish(self) -> Parsed<Account> {
        if self.limit.is_some() && self.alpha_log.is_some() {
            return Err("limit and alpha: a limit is static or dynamic".to_owned());
        }
        Ok(Account {
            reserved: self.reserved.unwrap_or(0),
            limit: self.limit,
            pool: self.pool,
            alpha_log: self.alpha_log,
        })
    }
}

fn alpha_log(words: &mut Words, name: &str) -> Parsed<i8> {
    let what = "a power of two's logarithm from -8 to 7";
    value(words, name, what, |word| {
        let (negative, digits) = match word.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, word),
        };
        let size = i8::try_from(words::number(digits)?).ok()?;
        Some(if negative { -size } else { size }).filter(|log| ALPHA_LOG.contains(log))
    })
}
