//! `tc qdisc` of the kind `dualpi2`, which kernels have from Linux 6.17 on and Debian trixie's tc (6.15) does not know.
//!
//! The words are those of tc-dualpi2(8) that our compiler writes, each once, in any order:
//!
//! ```text
//! [limit PACKETS] [memlimit BYTES] [target TIME] [tupdate TIME] [alpha HZ] [beta HZ] [step_thresh TIME]
//! [coupling_factor NUMBER] [classic_protection PERCENT%] [l4s_ect|any_ect]
//! ```

use super::words::{self, once, Words};
use netlink::Request;

/// The kind's name.
pub(super) const KIND: &str = "dualpi2";
/// What is said of a line that is not understood.
pub(super) const RIGHT: &str =
    "must be qdisc add or replace ... dualpi2 with limit, memlimit, target, tupdate, alpha, \
    beta, step_thresh, coupling_factor, classic_protection and l4s_ect or any_ect";

/// Linux, include/uapi/linux/pkt_sched.h: `TCA_DUALPI2_...`.
const LIMIT: u16 = 1;
const MEMORY_LIMIT: u16 = 2;
const TARGET: u16 = 3;
const TUPDATE: u16 = 4;
const ALPHA: u16 = 5;
const BETA: u16 = 6;
const STEP_THRESH_US: u16 = 8;
const COUPLING: u16 = 10;
const C_PROTECTION: u16 = 13;
const ECN_MASK: u16 = 14;
/// ECT(1), or any ECT.
const L4S_ECT: u8 = 1;
const ANY_ECT: u8 = 3;
/// Gains are told in so many parts of a hertz; the kernel's bound (`ALPHA_BETA_MAX`).
const GAIN_PARTS: f64 = 256.0;
const GAIN_MAX: f64 = ((1_u32 << 31) - 1) as f64;

/// Is this the line of this kind?
pub(super) fn is_named(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("qdisc") && words.any(|word| word == KIND)
}

pub(super) fn compile(words: &mut Words, message: &mut Request) -> Option<()> {
    let mut numbers = [None; TUPDATE as usize];
    let (mut alpha, mut beta, mut step) = (None, None, None);
    let (mut coupling, mut protection, mut mask) = (None, None, None);
    while let Some(word) = words.next() {
        match word {
            "limit" => once(&mut numbers[0], words.next_number())?,
            "memlimit" => once(&mut numbers[1], words.next_number())?,
            "target" => once(&mut numbers[2], time(words))?,
            "tupdate" => once(&mut numbers[3], time(words))?,
            "alpha" => once(&mut alpha, gain(words.next()?))?,
            "beta" => once(&mut beta, gain(words.next()?))?,
            "step_thresh" => once(&mut step, time(words))?,
            "coupling_factor" => once(&mut coupling, u8::try_from(words.next_number()?).ok())?,
            "classic_protection" => once(&mut protection, percent(words.next()?))?,
            "l4s_ect" => once(&mut mask, Some(L4S_ECT))?,
            "any_ect" => once(&mut mask, Some(ANY_ECT))?,
            _ => return None,
        }
    }
    let wide = [LIMIT, MEMORY_LIMIT, TARGET, TUPDATE]
        .into_iter()
        .zip(numbers);
    let gains = [(ALPHA, alpha), (BETA, beta), (STEP_THRESH_US, step)];
    let narrow = [
        (COUPLING, coupling),
        (C_PROTECTION, protection),
        (ECN_MASK, mask),
    ];
    // The kernel's newer parsers insist on the flag (nla_parse_nested in include/net/netlink.h).
    message.nest_flagged(libc::TCA_OPTIONS, |options| {
        for (kind, value) in wide.chain(gains) {
            if let Some(value) = value {
                options.attribute_u32(kind, value);
            }
        }
        for (kind, value) in narrow {
            if let Some(value) = value {
                options.attribute(kind, &[value]);
            }
        }
    });
    Some(())
}

fn time(words: &mut Words) -> Option<u32> {
    words::time_us(words.next()?)?.try_into().ok()
}

/// A gain in hertz, as the kernel is told it: never 0, which it refuses.
fn gain(word: &str) -> Option<u32> {
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let parts = (word.parse::<f64>().ok().filter(|_| plain)? * GAIN_PARTS).round();
    (1.0..=GAIN_MAX).contains(&parts).then_some(parts as u32)
}

fn percent(word: &str) -> Option<u8> {
    let share = words::number(word.strip_suffix('%')?)?;
    u8::try_from(share).ok().filter(|share| *share <= 100)
}

#[cfg(test)]
mod tests {
    use super::super::tc;
    use super::super::Interfaces;
    use super::*;

    fn message(options: &str) -> Option<Vec<u8>> {
        let mut interfaces = Interfaces([("eth1".to_owned(), 1)].into());
        let line = format!("qdisc add dev eth1 parent 1:1 handle 3: dualpi2 {options}");
        assert!(is_named(&line));
        let mut words = Words::of_line(&line).unwrap().unwrap();
        Some(tc::compile(&mut words, &mut interfaces)?.finish(1).to_vec())
    }

    #[test]
    fn each_word_is_an_attribute_of_its_width() {
        let bytes = message(
            "limit 66 memlimit 400000 target 15ms tupdate 16ms alpha 0.16 beta 3.2 step_thresh 1000us \
             coupling_factor 2 classic_protection 10% any_ect",
        )
        .unwrap();
        let (_, attributes) = bytes.split_at(16 + 20 + 12);
        let options = netlink::find_attribute(attributes, libc::TCA_OPTIONS).unwrap();
        assert_eq!(
            u16::from_ne_bytes([attributes[2], attributes[3]]) & 0x8000,
            0x8000
        );
        let found: Vec<(u16, Vec<u8>)> = netlink::attributes(options)
            .map(|(kind, payload)| (kind, payload.to_vec()))
            .collect();
        // 41 and 819 parts are the kernel's own defaults of 0.16 and 3.2 Hz (dualpi2_reset_default).
        let wide = [
            (1, 66),
            (2, 400_000),
            (3, 15_000),
            (4, 16_000),
            (5, 41),
            (6, 819),
            (8, 1_000_u32),
        ];
        let narrow = [(10, 2), (13, 10), (14, 3_u8)];
        let expected: Vec<(u16, Vec<u8>)> = wide
            .iter()
            .map(|(kind, value)| (*kind, value.to_ne_bytes().to_vec()))
            .chain(narrow.iter().map(|(kind, value)| (*kind, vec![*value])))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_it_does_not_understand_is_refused() {
        for wrong in [
            "limit",
            "limit 6 limit 6",
            "alpha 0",
            "alpha -1",
            "beta 1e300",
            "target 15",
            "coupling_factor 256",
            "classic_protection 101%",
            "classic_protection 10",
            "l4s_ect any_ect",
            "typical_rtt 1ms",
        ] {
            assert!(message(wrong).is_none(), "{wrong}");
        }
    }
}
