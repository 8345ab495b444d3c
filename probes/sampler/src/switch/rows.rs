//! Tables whose rows hold until the next one of the same port, queue, group or pool.

use crate::ports::Values;
use crate::series::Series;

/// What the last row said.
#[derive(Debug, PartialEq)]
pub struct Latest<const N: usize>(Option<Option<Values<N>>>);

impl<const N: usize> Default for Latest<N> {
    fn default() -> Self {
        Self(None)
    }
}

/// Whom a row is about, and when.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub time_ns: u64,
    pub name: &'a str,
    /// The last sample: every row is written again.
    pub last: bool,
}

impl<const N: usize> Latest<N> {
    /// Whether there is a row to write. What never was there has none; what is gone has one of empty values.
    fn take(&mut self, values: Option<Values<N>>, last: bool) -> bool {
        let is_known = self.0.is_some() || values.is_some();
        let is_new = self.0 != Some(values);
        if is_known {
            self.0 = Some(values);
        }
        is_known && (is_new || last)
    }

    /// Writes a row if it differs from the one before; `index` is that of a queue, a group or a pool.
    pub fn write(
        &mut self,
        values: Option<Values<N>>,
        subject: Subject<'_>,
        index: Option<usize>,
        series: &mut Series,
    ) -> Result<(), String> {
        if !self.take(values, subject.last) {
            return Ok(());
        }
        series.row(subject.time_ns, subject.name);
        if let Some(index) = index {
            series.number(index as u64);
        }
        for value in values.unwrap_or([None; N]) {
            series.optional(value);
        }
        series.end_row()
    }
}

/// Writes the rows of all queues, groups or pools of one subject.
pub fn write_all<const N: usize, const COUNT: usize>(
    latest: &mut [Latest<N>; COUNT],
    values: &[Option<Values<N>>; COUNT],
    subject: Subject<'_>,
    series: &mut Series,
) -> Result<(), String> {
    for (index, (latest, values)) in latest.iter_mut().zip(values).enumerate() {
        latest.write(*values, subject, Some(index), series)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_when_a_value_changes_and_at_the_end() {
        let mut latest = Latest::<1>::default();
        assert!(latest.take(Some([Some(1)]), false));
        assert!(!latest.take(Some([Some(1)]), false));
        assert!(latest.take(Some([Some(2)]), false));
        assert!(latest.take(Some([Some(2)]), true));
    }

    #[test]
    fn what_is_gone_has_one_row_and_what_never_was_has_none() {
        let mut latest = Latest::<1>::default();
        assert!(!latest.take(None, false));
        assert!(!latest.take(None, true));
        assert!(latest.take(Some([None]), false));
        assert!(latest.take(None, false));
        assert!(!latest.take(None, false));
        assert!(latest.take(None, true));
    }
}
