//! Words of a batch line and the numbers in them. Everything returns `None` for what is to be left to the real tool.

use std::net::IpAddr;

pub struct Words<'a>(std::iter::Peekable<std::str::SplitAsciiWhitespace<'a>>);

impl<'a> Words<'a> {
    /// `Some(None)` is an empty line or a comment; `None` has quotes, a continuation or a comment behind words.
    pub fn of_line(line: &'a str) -> Option<Option<Self>> {
        if line.is_empty() || line.starts_with('#') {
            return (!line.ends_with('\\')).then_some(None);
        }
        if line.contains(['"', '\'', '\\', '#']) {
            return None;
        }
        Some(Some(Self(line.split_ascii_whitespace().peekable())))
    }

    pub fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// Takes the next word if it is this one.
    pub fn take(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }

    /// Takes the next word if it is one of these.
    pub fn next_if(&mut self, accepted: &[&str]) -> Option<&'a str> {
        self.0.next_if(|word| accepted.contains(word))
    }

    /// Takes the next word, if there is one, unless it ends what is being read.
    pub fn next_unless(&mut self, ends: fn(&str) -> bool) -> Option<&'a str> {
        self.0.next_if(|word| !ends(word))
    }

    pub fn peek(&mut self) -> Option<&'a str> {
        self.0.peek().copied()
    }

    pub fn next_number(&mut self) -> Option<u32> {
        number(self.next()?)?.try_into().ok()
    }
}

/// A plain decimal number, without sign, unit, or a leading zero (which means octal to the tools).
pub fn number(word: &str) -> Option<u64> {
    let plain =
        word.bytes().all(|byte| byte.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
    // The tools compute with doubles: beyond 2^53 they would round.
    word.parse()
        .ok()
        .filter(|number| plain && *number < 1 << 53)
}

/// Stores the value of a word that may stand once.
pub fn once<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
    let first = slot.is_none();
    *slot = Some(value?);
    first.then_some(())
}

/// A number with one of the units; the result is in the smallest unit.
fn with_unit(word: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (digits, unit) = word.split_at(word.bytes().position(|byte| !byte.is_ascii_digit())?);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    number(digits)?
        .checked_mul(*scale)
        .filter(|number| *number < 1 << 53)
}

/// A rate in bytes a second; tc rounds down to whole bytes.
pub fn rate(word: &str) -> Option<u64> {
    rate_bits(word).map(|bits| bits / 8)
}

/// A rate in bits a second.
pub fn rate_bits(word: &str) -> Option<u64> {
    with_unit(
        word,
        &[
            ("bit", 1),
            ("kbit", 1_000),
            ("mbit", 1_000_000),
            ("gbit", 1_000_000_000),
        ],
    )
}

/// A time in nanoseconds.
pub fn time_ns(word: &str) -> Option<u64> {
    with_unit(
        word,
        &[
            ("ns", 1),
            ("us", 1_000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
        ],
    )
}

/// A time in microseconds, of those words of tc that know no shorter unit.
pub fn time_us(word: &str) -> Option<u64> {
    with_unit(word, &[("us", 1), ("ms", 1_000), ("s", 1_000_000)])
}

/// A route's time in milliseconds.
pub fn time_ms(word: &str) -> Option<u32> {
    with_unit(word, &[("ms", 1), ("s", 1_000)])?.try_into().ok()
}

/// A probability, 0 to 1.
pub fn probability(word: &str) -> Option<f64> {
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.parse()
        .ok()
        .filter(|value| plain && (0.0..=1.0).contains(value))
}

/// A percentage with at most four decimals, 0 to 100 %, in parts of a million.
pub fn percent_ppm(word: &str) -> Option<u32> {
    let (whole, decimals) = match word.strip_suffix('%')?.split_once('.') {
        Some((whole, decimals)) => (whole, decimals),
        None => (word.strip_suffix('%')?, "0"),
    };
    let plain =
        (1..=4).contains(&decimals.len()) && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let parts =
        number(whole)?.checked_mul(10_000)? + format!("{decimals:0<4}").parse::<u64>().ok()?;
    u32::try_from(parts)
        .ok()
        .filter(|parts| plain && *parts <= 1_000_000)
}

/// A hexadecimal part of a qdisc's handle, 1 to 4 digits.
pub fn handle_part(word: &str) -> Option<u32> {
    let plain = (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(word, 16).ok()).flatten()
}

/// `address/length`; the length is the address's own without a slash.
pub fn prefix(word: &str) -> Option<(IpAddr, u8)> {
    let (text, length) = match word.split_once('/') {
        Some((text, length)) => (text, Some(number(length)?)),
        None => (word, None),
    };
    let address: IpAddr = text.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let length = length.unwrap_or(longest);
    (length <= longest).then_some((address, length as u8))
}

/// An Ethernet address, six bytes of two digits.
pub fn ethernet(word: &str) -> Option<[u8; 6]> {
    crate::job::Mac::try_from(word.to_owned())
        .ok()
        .map(|mac| mac.0)
}

/// The number of a routing table that fits in a header, and is not one with a name (ip-route(8): 253 to 255).
pub fn table(words: &mut Words) -> Option<u8> {
    let table = words.next_number()?.try_into().ok()?;
    (1..253).contains(&table).then_some(table)
}

pub fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

pub fn family(address: IpAddr) -> u8 {
    (if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    }) as u8
}
