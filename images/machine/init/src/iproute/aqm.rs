//! `tc qdisc`: codel, fq_codel, pie and fq. Source: iproute2 6.15, tc/q_{codel,fq_codel,pie,fq}.c; Linux,
//! include/uapi/linux/pkt_sched.h.

use super::words::{self, once, Words};
use netlink::Request;

#[derive(Clone, Copy)]
enum Unit {
    /// Packets, flows, or bytes.
    Count,
    /// Sent in microseconds.
    Time,
}

/// The words of a kind: name, attribute, unit; in the order in which tc sends them. Two words that say yes and no are
/// one attribute.
struct Kind {
    before_flag: &'static [(&'static str, u16, Unit)],
    flag: (&'static str, &'static str, u16),
    behind_flag: &'static [(&'static str, u16, Unit)],
}

const CODEL: Kind = Kind {
    before_flag: &[
        ("limit", 2, Unit::Count),
        ("interval", 3, Unit::Time),
        ("target", 1, Unit::Time),
    ],
    flag: ("ecn", "noecn", 4),
    behind_flag: &[],
};
const FQ_CODEL: Kind = Kind {
    before_flag: &[
        ("limit", 2, Unit::Count),
        ("flows", 5, Unit::Count),
        ("quantum", 6, Unit::Count),
        ("interval", 3, Unit::Time),
        ("target", 1, Unit::Time),
    ],
    flag: ("ecn", "noecn", 4),
    behind_flag: &[("memory_limit", 9, Unit::Count)],
};
const PIE: Kind = Kind {
    before_flag: &[
        ("limit", 2, Unit::Count),
        ("tupdate", 3, Unit::Time),
        ("target", 1, Unit::Time),
    ],
    flag: ("ecn", "noecn", 6),
    behind_flag: &[],
};

const FQ: Kind = Kind {
    before_flag: &[
        ("limit", 1, Unit::Count),
        ("flow_limit", 2, Unit::Count),
        ("quantum", 3, Unit::Count),
    ],
    flag: ("pacing", "nopacing", 5),
    behind_flag: &[],
};

/// `[limit PACKETS] [target TIME] [interval TIME] [ecn|noecn]`
pub(super) fn codel(words: &mut Words, message: &mut Request) -> Option<()> {
    CODEL.compile(words, message)
}

/// codel's words and `[flows N] [quantum BYTES] [memory_limit BYTES]`
pub(super) fn fq_codel(words: &mut Words, message: &mut Request) -> Option<()> {
    FQ_CODEL.compile(words, message)
}

/// `[limit PACKETS] [target TIME] [tupdate TIME] [ecn|noecn]`
pub(super) fn pie(words: &mut Words, message: &mut Request) -> Option<()> {
    PIE.compile(words, message)
}

/// `[limit PACKETS] [flow_limit PACKETS] [quantum BYTES] [pacing|nopacing]`
pub(super) fn fq(words: &mut Words, message: &mut Request) -> Option<()> {
    FQ.compile(words, message)
}

impl Kind {
    fn compile(&self, words: &mut Words, message: &mut Request) -> Option<()> {
        let known = || self.before_flag.iter().chain(self.behind_flag);
        let (mut values, mut flag) = (vec![None; known().count()], None);
        let (yes, no, flag_attribute) = self.flag;
        while let Some(word) = words.next() {
            match word {
                _ if word == yes => once(&mut flag, Some(1))?,
                _ if word == no => once(&mut flag, Some(0))?,
                _ => {
                    let place = known().position(|(name, ..)| *name == word)?;
                    let (.., unit) = known().nth(place)?;
                    once(&mut values[place], unit.read(words.next()?))?;
                }
            }
        }
        let (before, behind) = values.split_at(self.before_flag.len());
        message.nest(libc::TCA_OPTIONS, |options| {
            add(options, self.before_flag, before);
            if let Some(flag) = flag {
                options.attribute_u32(flag_attribute, flag);
            }
            add(options, self.behind_flag, behind);
        });
        Some(())
    }
}

impl Unit {
    /// Zero is left to tc, to which it means several things.
    fn read(self, word: &str) -> Option<u32> {
        let number = match self {
            Self::Count => words::number(word),
            Self::Time => words::time_us(word),
        };
        number?.try_into().ok().filter(|number| *number != 0)
    }
}

fn add(options: &mut Request, known: &[(&str, u16, Unit)], values: &[Option<u32>]) {
    for ((_, kind, _), value) in known.iter().zip(values) {
        if let Some(value) = value {
            options.attribute_u32(*kind, *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tc;
    use super::super::Interfaces;
    use super::*;

    /// Headers of netlink and of a qdisc.
    const BEFORE_KIND: usize = 16 + 20;

    /// What stands behind the headers, in words of 32 bits.
    fn attributes(line: &str) -> Vec<u32> {
        let mut interfaces = Interfaces([("eth1".to_owned(), 1)].into());
        let mut words = Words::of_line(line).unwrap().unwrap();
        let mut message = tc::compile(&mut words, &mut interfaces).unwrap();
        let bytes = message.finish(1)[BEFORE_KIND..].to_vec();
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    /// Recorded by strace from tc of iproute2 6.15.
    #[test]
    fn the_bytes_are_those_of_tc() {
        let codel =
            "qdisc add dev eth1 root handle 3: codel limit 42 target 5000us interval 100000us ecn";
        let recorded = [
            0x0001_000a,
            0x6564_6f63,
            0x0000_006c, // kind
            0x0002_0024,
            0x0002_0008,
            42,
            0x0003_0008,
            100_000,
            0x0001_0008,
            5_000,
            0x0004_0008,
            1,
        ];
        assert_eq!(attributes(codel), recorded);
        let fq_codel = "qdisc add dev eth1 root handle 3: fq_codel limit 42 memory_limit 256000 target 5ms interval 1s \
            noecn flows 64 quantum 300";
        let recorded = [
            0x0001_000d,
            0x635f_7166,
            0x6c65_646f,
            0x0000_0000, // kind
            0x0002_003c,
            0x0002_0008,
            42,
            0x0005_0008,
            64,
            0x0006_0008,
            300,
            0x0003_0008,
            1_000_000,
            0x0001_0008,
            5_000,
            0x0004_0008,
            0,
            0x0009_0008,
            256_000,
        ];
        assert_eq!(attributes(fq_codel), recorded);
        let pie = "qdisc add dev eth1 root handle 3: pie limit 42 target 14999us tupdate 15ms ecn";
        let recorded = [
            0x0001_0008,
            0x0065_6970, // kind
            0x0002_0024,
            0x0002_0008,
            42,
            0x0003_0008,
            15_000,
            0x0001_0008,
            14_999,
            0x0006_0008,
            1,
        ];
        assert_eq!(attributes(pie), recorded);
    }
}
