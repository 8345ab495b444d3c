//! How a message and an attribute lie in a datagram: `include/uapi/linux/netlink.h`.

/// The length of `struct nlmsghdr`.
pub const HEADER_BYTES: usize = 16;
/// The length of `struct nlattr`.
pub const ATTRIBUTE_HEADER_BYTES: usize = 4;

/// Messages and attributes begin at multiples of four bytes.
pub const fn align(length: usize) -> usize {
    length.next_multiple_of(4)
}
