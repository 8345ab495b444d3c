//! The flow's number at the head of its data, and of a pull's request: four bytes, most significant first.

use crate::trace::HEAD_BYTES;

/// A number that arrives, perhaps in pieces.
#[derive(Debug, Default)]
pub struct Head {
    bytes: [u8; HEAD_BYTES as usize],
    have: usize,
}

impl Head {
    /// Takes bytes from the front of `data`; the number when it is whole, after which the next one may come.
    pub fn take(&mut self, data: &mut &[u8]) -> Option<u32> {
        let count = data.len().min(self.bytes.len() - self.have);
        let (taken, rest) = data.split_at(count);
        self.bytes[self.have..self.have + count].copy_from_slice(taken);
        self.have += count;
        *data = rest;
        if self.have < self.bytes.len() {
            return None;
        }
        self.have = 0;
        Some(u32::from_be_bytes(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_come_in_pieces() {
        let mut head = Head::default();
        let mut data: &[u8] = &[0, 0, 1];
        assert_eq!(head.take(&mut data), None);
        let mut data: &[u8] = &[2, 0, 0, 0, 9, 7];
        assert_eq!(head.take(&mut data), Some(258));
        assert_eq!(head.take(&mut data), Some(9));
        assert_eq!(data, [7]);
    }
}
