//! `tc qdisc`: tbf, netem's delay, red and fifos; what stands before the kind of any. Source: iproute2 6.15,
//! tc/{tc_qdisc,q_tbf,q_netem,q_red,q_fifo}.c; the structures' layout: Linux, include/uapi/linux/pkt_sched.h.

use super::command::Interfaces;
use super::red::{self, TABLE};
use super::words::{self, once, Words};
use super::{aqm, dualpi2};
use netlink::uapi::TC_H_ROOT;
use netlink::Request;

/// Linux, include/uapi/linux/pkt_sched.h.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RTAB: u16 = 2;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
const TCA_RED_FLAGS: u16 = 4;
/// ECN, harddrop, adaptive, nodrop.
const RED_FLAGS: [(&str, u32); 4] = [("ecn", 1), ("harddrop", 2), ("adaptive", 4), ("nodrop", 8)];
const LINKLAYER_ETHERNET: u8 = 1;
/// tc's default for the size of a packet in a rate table.
const RATE_TABLE_MTU: u32 = 2047;
const NETEM_LIMIT_PACKETS: u32 = 1000;

/// What is to be done with a qdisc.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Add,
    Replace,
    Change,
}

/// A line's words before the qdisc's kind.
pub(super) struct Head {
    pub(super) verb: Verb,
    index: u32,
    parent: u32,
    handle: u32,
}

impl Head {
    /// `qdisc add|replace|change dev INTERFACE root|parent A:B [handle C:]`, the last three in any order. What is wrong
    /// is told in words.
    pub(super) fn read(words: &mut Words, interfaces: &mut Interfaces) -> Result<Self, String> {
        let verb = match (words.next(), words.next()) {
            (Some("qdisc"), Some("add")) => Verb::Add,
            (Some("qdisc"), Some("replace")) => Verb::Replace,
            (Some("qdisc"), Some("change")) => Verb::Change,
            _ => return Err("must begin with qdisc add, qdisc replace or qdisc change".to_owned()),
        };
        let (mut index, mut parent, mut handle) = (None, None, None);
        while let Some(word) = words.next_if(&["dev", "root", "parent", "handle"]) {
            let argument = match word {
                "root" => "",
                _ => words.next().unwrap_or_default(),
            };
            let (slot, value, right) = match word {
                "dev" => (
                    &mut index,
                    interfaces.index(argument),
                    "an interface of this node",
                ),
                "handle" => (&mut handle, major(argument), "a handle such as 1:"),
                "parent" => (&mut parent, class(argument), "a class such as 1:1"),
                _ => (&mut parent, Some(TC_H_ROOT), ""),
            };
            let value = value.ok_or_else(|| format!("{word} \"{argument}\": must be {right}"))?;
            if slot.replace(value).is_some() {
                return Err(format!("{word}: given twice"));
            }
        }
        Ok(Self {
            verb,
            index: index.ok_or("there must be dev and an interface")?,
            parent: parent.ok_or("there must be root, or parent and a class")?,
            handle: handle.unwrap_or(0),
        })
    }

    pub(super) fn is_root(&self) -> bool {
        self.parent == TC_H_ROOT
    }

    /// The request without the kind's options.
    pub(super) fn message(&self, kind: &str) -> Request {
        // struct tcmsg
        let mut header = vec![0; 4];
        for field in [self.index, self.handle, self.parent, 0] {
            header.extend_from_slice(&field.to_ne_bytes());
        }
        let flags = match self.verb {
            Verb::Add => libc::NLM_F_CREATE | libc::NLM_F_EXCL,
            Verb::Replace => libc::NLM_F_CREATE | libc::NLM_F_REPLACE,
            Verb::Change => 0,
        };
        let mut message = Request::acknowledged(libc::RTM_NEWQDISC, flags, &header);
        message.attribute_string(libc::TCA_KIND, kind);
        message
    }
}

/// `qdisc add|replace ... KIND ...`, of the kinds that the real tool has too; `qdisc change ...` of RED and fifos
pub(super) fn compile(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    let head = Head::read(words, interfaces).ok()?;
    let kind = words.next()?;
    if kind == "own" {
        return own(words, &head);
    }
    let mut message = head.message(kind);
    match kind {
        "red" => red(words, &mut message, head.verb == Verb::Change)?,
        "bfifo" | "pfifo" => fifo(words, &mut message)?,
        _ if head.verb == Verb::Change => return None,
        "tbf" => tbf(words, &mut message)?,
        "netem" => netem(words, &mut message)?,
        "codel" => aqm::codel(words, &mut message)?,
        "fq_codel" => aqm::fq_codel(words, &mut message)?,
        "pie" => aqm::pie(words, &mut message)?,
        "fq" => aqm::fq(words, &mut message)?,
        dualpi2::KIND => dualpi2::compile(words, &mut message)?,
        _ => return None,
    }
    Some(message)
}

/// Is this the line of a user's own qdisc?
pub(super) fn is_own(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("qdisc") && words.any(|word| word == "own")
}

/// `own ID [WORDS...]`: a user's own qdisc, which tc does not know. It is told the words as they stand
/// (include/net/own_qdisc.h in the kernel's tree).
fn own(words: &mut Words, head: &Head) -> Option<Request> {
    let mut message = head.message(words.next()?);
    let told: Vec<&str> = std::iter::from_fn(|| words.next()).collect();
    message.attribute_string(libc::TCA_OPTIONS, &told.join(" "));
    Some(message)
}

fn major(word: &str) -> Option<u32> {
    Some(words::handle_part(word.strip_suffix(':')?)? << 16)
}

fn class(word: &str) -> Option<u32> {
    let (major, minor) = word.split_once(':')?;
    let minor = if minor.is_empty() {
        0
    } else {
        words::handle_part(minor)?
    };
    Some((words::handle_part(major)? << 16) | minor)
}

/// `rate RATE burst BYTES limit BYTES [overhead BYTES] [mpu BYTES]`
fn tbf(words: &mut Words, message: &mut Request) -> Option<()> {
    let (mut rate, mut burst, mut limit, mut overhead, mut mpu) = (None, None, None, None, None);
    while let Some(word) = words.next() {
        match word {
            "rate" => once(&mut rate, words::rate(words.next()?))?,
            "burst" => once(&mut burst, words.next_number())?,
            "limit" => once(&mut limit, words.next_number())?,
            "overhead" => once(&mut overhead, u16::try_from(words.next_number()?).ok())?,
            "mpu" => once(&mut mpu, u16::try_from(words.next_number()?).ok())?,
            _ => return None,
        }
    }
    let (rate, burst, limit) = (rate?, burst?, limit?);
    if rate == 0 || burst == 0 || limit == 0 {
        return None;
    }
    let (overhead, mpu) = (overhead.unwrap_or(0), mpu.unwrap_or(0));
    // Faster ones have an attribute of their own.
    let rate_low = u32::try_from(rate).unwrap_or(u32::MAX);
    let (cell_log, table) = rate_table(rate_low, mpu);
    // struct tc_tbf_qopt: the rate's tc_ratespec, that of the peak rate, three numbers
    let mut parameters = vec![cell_log, LINKLAYER_ETHERNET];
    parameters.extend_from_slice(&overhead.to_ne_bytes());
    parameters.extend_from_slice(&(-1_i16).to_ne_bytes());
    parameters.extend_from_slice(&mpu.to_ne_bytes());
    parameters.extend_from_slice(&rate_low.to_ne_bytes());
    parameters.extend_from_slice(&[0; 12]);
    for field in [limit, red::transmission_ticks(rate_low, burst), 0] {
        parameters.extend_from_slice(&field.to_ne_bytes());
    }
    message.nest(libc::TCA_OPTIONS, |options| {
        options
            .attribute(TCA_TBF_PARMS, &parameters)
            .attribute_u32(TCA_TBF_BURST, burst);
        if rate > u64::from(u32::MAX) {
            options.attribute(TCA_TBF_RATE64, &rate.to_ne_bytes());
        }
        options.attribute(TCA_TBF_RTAB, &table);
    });
    Some(())
}

/// The kernel no longer looks it up, but wants it.
fn rate_table(bytes_per_second: u32, mpu: u16) -> (u8, Vec<u8>) {
    let cell_log = (0..32)
        .find(|log| RATE_TABLE_MTU >> log <= 255)
        .unwrap_or(0);
    let sizes = (1..=TABLE as u32).map(|cell| (cell << cell_log).max(u32::from(mpu)));
    (
        cell_log as u8,
        sizes
            .flat_map(|size| red::transmission_ticks(bytes_per_second, size).to_ne_bytes())
            .collect(),
    )
}

/// `[limit PACKETS] [delay TIME]`
fn netem(words: &mut Words, message: &mut Request) -> Option<()> {
    let (mut limit, mut delay_ns) = (None, None);
    while let Some(word) = words.next() {
        match word {
            "limit" => once(&mut limit, words.next_number())?,
            "delay" => once(&mut delay_ns, words::time_ns(words.next()?))?,
            _ => return None,
        }
    }
    // struct tc_netem_qopt, whose times are obsolete
    let mut parameters = vec![0; 24];
    parameters[4..8].copy_from_slice(&limit.unwrap_or(NETEM_LIMIT_PACKETS).to_ne_bytes());
    message.nest(libc::TCA_OPTIONS, |options| {
        options.raw_padded(&parameters);
        if let Some(delay_ns) = delay_ns {
            options.attribute(TCA_NETEM_LATENCY64, &delay_ns.to_ne_bytes());
        }
    });
    Some(())
}

/// `limit BYTES min BYTES max BYTES avpkt BYTES burst PACKETS bandwidth RATE [probability P] [ecn] [harddrop]
/// [adaptive] [nodrop]`
///
/// A change has a limit of 0, which tc does not take: with another one RED throws its queue away (`__red_change` in
/// net/sched/sch_red.c).
fn red(words: &mut Words, message: &mut Request, changes: bool) -> Option<()> {
    let (
        mut limit,
        mut min,
        mut max,
        mut average_packet,
        mut burst,
        mut bandwidth,
        mut probability,
    ) = (None, None, None, None, None, None, None);
    let mut flags = 0;
    while let Some(word) = words.next() {
        match word {
            "limit" => once(&mut limit, words.next_number())?,
            "min" => once(&mut min, words.next_number())?,
            "max" => once(&mut max, words.next_number())?,
            "avpkt" => once(&mut average_packet, words.next_number())?,
            "burst" => once(&mut burst, words.next_number())?,
            "bandwidth" => once(
                &mut bandwidth,
                u32::try_from(words::rate(words.next()?)?).ok(),
            )?,
            "probability" => once(&mut probability, words::probability(words.next()?))?,
            _ => flags |= RED_FLAGS.iter().find(|(name, _)| *name == word)?.1,
        }
    }
    let (limit, min, max, average_packet, burst, bandwidth) =
        (limit?, min?, max?, average_packet?, burst?, bandwidth?);
    if [min, max, average_packet, burst, bandwidth].contains(&0) || (limit == 0) != changes {
        return None;
    }
    let probability = probability.unwrap_or(0.02);
    let averaging_log = red::averaging_log(min, burst, average_packet)?;
    let probability_log = red::probability_log(min, max, probability)?;
    let (step_log, damping) = red::idle_damping(averaging_log, average_packet, bandwidth)?;
    // struct tc_red_qopt, whose flags are obsolete
    let mut parameters = Vec::new();
    for field in [limit, min, max] {
        parameters.extend_from_slice(&field.to_ne_bytes());
    }
    parameters.extend_from_slice(&[averaging_log, probability_log, step_log, 0]);
    // In 32 bits a probability of 1 wraps to 0 in tc too, and the kernel then takes it from the slope.
    let scaled = (probability * 4_294_967_296.0) as u64 as u32;
    let selector: u32 = RED_FLAGS.iter().map(|(_, flag)| flag).sum();
    message.nest(libc::TCA_OPTIONS, |options| {
        options
            .attribute(TCA_RED_PARMS, &parameters)
            .attribute(TCA_RED_STAB, &damping)
            .attribute_u32(TCA_RED_MAX_P, scaled);
        // struct nla_bitfield32
        options.attribute(
            TCA_RED_FLAGS,
            &[flags.to_ne_bytes(), selector.to_ne_bytes()].concat(),
        );
    });
    Some(())
}

/// `[limit BYTES|PACKETS]`
fn fifo(words: &mut Words, message: &mut Request) -> Option<()> {
    match words.next() {
        None => Some(()),
        Some("limit") => {
            let limit = words.next_number()?;
            message.attribute_u32(libc::TCA_OPTIONS, limit);
            words.next().is_none().then_some(())
        }
        Some(_) => None,
    }
}
