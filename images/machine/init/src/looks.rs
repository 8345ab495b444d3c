//! Looks at something that all machines of a lab must see at one instant: that routes are there, that queues are empty.
//! Each tells what it saw; a moment later each knows what all did. A machine that is alone does the same, at the same
//! instants.

use crate::clock::MILLISECOND_NS;
use crate::failure::Result;
use crate::wires::{self, Subject};

/// Bits of a word that tell of looks: of the last one, and of so many milliseconds before.
const KEPT: i64 = 32;

/// Looks are at least a millisecond apart: one has a millisecond of its own.
pub struct Looks {
    subject: Subject,
    /// Whether other machines are told.
    shared: bool,
    own: Word,
}

/// The millisecond of the last look, and for it (bit 0) and those before whether all was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    millisecond: i64,
    seen: u32,
}

impl Looks {
    pub fn new(subject: Subject, shared: bool) -> Self {
        Self {
            subject,
            shared,
            own: Word::default(),
        }
    }

    /// Tells all what this machine saw at an instant.
    pub fn tell(&mut self, at_ns: i64, is_there: bool) -> Result<()> {
        self.own = self.own.after(at_ns / MILLISECOND_NS, is_there);
        if self.shared {
            wires::tell_looks(self.subject, self.own.packed())?;
        }
        Ok(())
    }

    /// Whether all machines saw it at that instant: known [`wires::KNOWN_NS`] later.
    pub fn all_saw(&self, at_ns: i64) -> Result<bool> {
        let words = if self.shared {
            wires::looks(self.subject)?
        } else {
            vec![self.own.packed()]
        };
        let millisecond = at_ns / MILLISECOND_NS;
        let saw = |word: &u64| Word::unpacked(*word).saw(millisecond);
        Ok(words.iter().all(saw))
    }

    /// Whether a machine has left: what it would see nobody will know.
    pub fn any_left(&self) -> Result<bool> {
        Ok(self.shared && wires::any_left()?)
    }
}

impl Word {
    fn after(self, millisecond: i64, is_there: bool) -> Self {
        let passed = millisecond - self.millisecond;
        let before = if passed < KEPT {
            self.seen << passed
        } else {
            0
        };
        Self {
            millisecond,
            seen: before | u32::from(is_there),
        }
    }

    /// One that has not looked at that instant did not see it.
    fn saw(self, millisecond: i64) -> bool {
        let before = self.millisecond - millisecond;
        (0..KEPT).contains(&before) && self.seen >> before & 1 == 1
    }

    /// Milliseconds of a run fit into 32 bits: 49 days.
    fn packed(self) -> u64 {
        u64::try_from(self.millisecond).unwrap_or(0) << KEPT | u64::from(self.seen)
    }

    fn unpacked(word: u64) -> Self {
        Self {
            millisecond: i64::try_from(word >> KEPT).unwrap_or(0),
            seen: u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_remembered_while_another_machine_may_be_behind() {
        let word = Word::default().after(2_000, true).after(2_010, false);
        assert!(word.saw(2_000));
        assert!(!word.saw(2_010));
        assert!(!word.after(2_010 + KEPT, true).saw(2_010));
        assert_eq!(Word::unpacked(word.packed()), word);
    }

    #[test]
    fn who_has_not_looked_has_not_seen() {
        let word = Word::default().after(2_000, true).after(2_002, true);
        assert!(!word.saw(2_001));
        assert!(!word.saw(2_003));
        assert!(!Word::default().saw(2_000));
        // Another change, long after.
        assert!(!word.after(90_000, false).saw(90_000));
    }

    #[test]
    fn a_machine_that_is_alone_asks_nobody() {
        let mut looks = Looks::new(Subject::Routes, false);
        looks.tell(2_000_000_000, false).expect("told");
        looks.tell(2_010_000_000, true).expect("told");
        assert_eq!(looks.all_saw(2_000_000_000), Ok(false));
        assert_eq!(looks.all_saw(2_010_000_000), Ok(true));
    }
}
