//! Values of a port's words: each has a message for what is wrong with it.

use crate::iproute::words::{self, Words};
use netlink::switch_port;

pub(super) const QUEUES: u64 = switch_port::QUEUES as u64;
pub(super) const POOLS: u64 = switch_port::POOLS as u64;

/// What is wrong with a line: the word, and what would be right.
pub(super) type Parsed<T> = Result<T, String>;

/// The next word, as `read` understands it.
pub(super) fn value<T>(
    words: &mut Words,
    name: &str,
    what: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Parsed<T> {
    let word = words
        .next()
        .ok_or_else(|| format!("{name}: has no value; it must be {what}"))?;
    read(word).ok_or_else(|| format!("{name} \"{word}\": must be {what}"))
}

pub(super) fn number(words: &mut Words, name: &str, least: u64, most: u64) -> Parsed<u64> {
    let what = format!("a whole number from {least} to {most}");
    value(words, name, &what, |word| {
        words::number(word).filter(|number| (least..=most).contains(number))
    })
}

pub(super) fn bytes(words: &mut Words, name: &str) -> Parsed<u64> {
    value(words, name, "a whole number of bytes", words::number)
}

pub(super) fn rate(words: &mut Words, name: &str) -> Parsed<u64> {
    value(
        words,
        name,
        "a rate such as 1000000000bit",
        words::rate_bits,
    )
}

pub(super) fn time(words: &mut Words, name: &str) -> Parsed<u64> {
    value(words, name, "a time such as 25000ns", words::time_ns)
}

/// Parts of 2^32 - 1.
pub(super) fn percent(words: &mut Words, name: &str) -> Parsed<u32> {
    let what = "0 to 100 with a % and at most four decimals, such as 0.1000%";
    value(words, name, what, |word| {
        let parts_per_million = words::percent_ppm(word)?;
        let scaled = u64::from(parts_per_million) * u64::from(u32::MAX);
        Some(((scaled + 500_000) / 1_000_000) as u32)
    })
}

pub(super) fn list(word: &str) -> Option<Vec<u8>> {
    word.split(',')
        .map(|entry| words::number(entry).filter(|number| *number < QUEUES))
        .map(|entry| entry.map(|number| number as u8))
        .collect()
}

/// Nothing when a number stands twice.
pub(super) fn bit_mask(numbers: &[u8]) -> Option<u8> {
    numbers.iter().try_fold(0, |mask: u8, number| {
        let bit = 1 << number;
        (mask & bit == 0).then_some(mask | bit)
    })
}

/// Stores the value of a word that may stand once.
pub(super) fn once<T>(name: &str, slot: &mut Option<T>, value: T) -> Parsed<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name}: given twice")),
    }
}

pub(super) fn unknown(word: &str, of: &str) -> String {
    format!("\"{word}\": {of} has no such word")
}
