//! Requests under construction.

use crate::layout::{align, ATTRIBUTE_HEADER_BYTES, HEADER_BYTES};

/// Where a message's header has its length, kind, flags and sequence number.
const LENGTH: std::ops::Range<usize> = 0..4;
const KIND: std::ops::Range<usize> = 4..6;
const FLAGS: std::ops::Range<usize> = 6..8;
const SEQUENCE: std::ops::Range<usize> = 8..12;

/// A request to the kernel: a header, a fixed part and attributes.
pub struct Request(Vec<u8>);

impl Request {
    /// Starts a request for data. `kind` is an `RTM_` number or a family of generic netlink, `flags` are `NLM_F_` bits
    /// beside `NLM_F_REQUEST`, `fixed` is what stands before the attributes.
    pub fn new(kind: u16, flags: libc::c_int, fixed: &[u8]) -> Self {
        let mut request = Self(vec![0; HEADER_BYTES]);
        request.0[FLAGS].copy_from_slice(&((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        request.set_kind(kind);
        request.raw_padded(fixed);
        request
    }

    /// Starts a request that the kernel acknowledges when it is done.
    pub fn acknowledged(kind: u16, flags: libc::c_int, fixed: &[u8]) -> Self {
        Self::new(kind, libc::NLM_F_ACK | flags, fixed)
    }

    pub fn set_kind(&mut self, kind: u16) {
        self.0[KIND].copy_from_slice(&kind.to_ne_bytes());
    }

    /// Adds an attribute.
    ///
    /// # Panics
    /// If it is longer than its 16 bits of length can tell: requests are built from values of bounded size.
    pub fn attribute(&mut self, kind: u16, payload: &[u8]) -> &mut Self {
        self.nest(kind, |attribute| attribute.0.extend_from_slice(payload));
        self.0.resize(align(self.0.len()), 0);
        self
    }

    pub fn attribute_u32(&mut self, kind: u16, value: u32) -> &mut Self {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// Adds a string with its final zero.
    pub fn attribute_string(&mut self, kind: u16, text: &str) -> &mut Self {
        self.attribute(kind, &[text.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute that holds what `fill` adds.
    ///
    /// # Panics
    /// As [`Request::attribute`].
    pub fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.0.len();
        self.0.extend_from_slice(&[0; 2]);
        self.0.extend_from_slice(&kind.to_ne_bytes());
        fill(self);
        let length = u16::try_from(self.0.len() - start).expect("attributes are below 64 KiB");
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        debug_assert!(usize::from(length) >= ATTRIBUTE_HEADER_BYTES);
        self
    }

    /// The same with `NLA_F_NESTED`, which newer parts of the kernel insist on and older tools do not send.
    pub fn nest_flagged(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.nest(kind | libc::NLA_F_NESTED as u16, fill)
    }

    /// Adds bytes without a header of their own, padded.
    pub fn raw_padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(align(self.0.len()), 0);
        self
    }

    /// The request's bytes, with their length and this number, by which its answers are known.
    pub fn finish(&mut self, sequence: u32) -> &[u8] {
        let length = self.0.len() as u32;
        self.0[LENGTH].copy_from_slice(&length.to_ne_bytes());
        self.0[SEQUENCE].copy_from_slice(&sequence.to_ne_bytes());
        &self.0
    }
}
