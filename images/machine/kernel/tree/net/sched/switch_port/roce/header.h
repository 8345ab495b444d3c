/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets: the transport headers of InfiniBand behind UDP port 4791.
 *
 * InfiniBand Architecture Specification, volume 1, release 1.4: 9.2 (base transport
 * header), 9.3 (extended headers), 9.4.4 (READ), 9.7.5 (acknowledgements); annex A17 (RoCEv2: A17.3.3,
 * invariant CRC; A17.9.3, congestion notification packet).
 */
#ifndef ROCE_HEADER_H
#define ROCE_HEADER_H

#include "../shim.h"

#define ROCE_PORT 4791
#define ROCE_BTH_BYTES 12
#define ROCE_RETH_BYTES 16
#define ROCE_AETH_BYTES 4
#define ROCE_SACK_BYTES 4	/* behind it with selective repeat: a number */
#define ROCE_CNP_BYTES 16	/* reserved, behind the base header */
#define ROCE_ICRC_BYTES 4
#define ROCE_PSN_BITS 24
#define ROCE_PSN_MASK ((1U << ROCE_PSN_BITS) - 1)
#define ROCE_DEFAULT_PKEY 0xffff

/* Reliable connection; the notification has a code of its own. */
enum roce_opcode {
	ROCE_SEND_FIRST = 0,
	ROCE_SEND_MIDDLE = 1,
	ROCE_SEND_LAST = 2,
	ROCE_SEND_ONLY = 4,
	ROCE_WRITE_FIRST = 6,
	ROCE_WRITE_MIDDLE = 7,
	ROCE_WRITE_LAST = 8,
	ROCE_WRITE_ONLY = 10,
	ROCE_READ_REQUEST = 12,
	ROCE_READ_FIRST = 13,	/* responses */
	ROCE_READ_MIDDLE = 14,
	ROCE_READ_LAST = 15,
	ROCE_READ_ONLY = 16,
	ROCE_ACKNOWLEDGE = 17,
	ROCE_NOTIFY = 0x81,
	ROCE_CREDIT = 0xc1,	/* of those that are a manufacturer's (table 38) */
};

/*
 * Of an acknowledgement: "all up to here", no credits told; "this one is missing, and all
 * before it are here"; and, of the NAK codes that the specification reserves (table 60),
 * "this one was trimmed", which says nothing of those before it.
 */
#define ROCE_SYNDROME_ACK 0x1f
#define ROCE_SYNDROME_NAK_SEQUENCE 0x60
#define ROCE_SYNDROME_NAK_TRIMMED 0x65

struct roce_base {
	u8 opcode;
	u8 pad;			/* bytes behind the payload, to a multiple of four */
	bool ack_request;
	u32 pair;		/* queue pair that it is for */
	u32 psn;
};

static inline void roce_put_24(u8 *at, u32 value)
{
	at[0] = value >> 16;
	at[1] = value >> 8;
	at[2] = value;
}

static inline u32 roce_get_24(const u8 *at)
{
	return at[0] << 16 | at[1] << 8 | at[2];
}

static inline void roce_put_base(u8 *at, const struct roce_base *base)
{
	at[0] = base->opcode;
	at[1] = base->pad << 4;
	at[2] = ROCE_DEFAULT_PKEY >> 8;
	at[3] = ROCE_DEFAULT_PKEY & 0xff;
	at[4] = 0;
	roce_put_24(at + 5, base->pair);
	at[8] = base->ack_request ? 0x80 : 0;
	roce_put_24(at + 9, base->psn);
}

static inline void roce_get_base(struct roce_base *base, const u8 *at)
{
	base->opcode = at[0];
	base->pad = at[1] >> 4 & 3;
	base->pair = roce_get_24(at + 5);
	base->ack_request = at[8] & 0x80;
	base->psn = roce_get_24(at + 9);
}

static inline void roce_put_number(u8 *at, u64 value, int bytes)
{
	while (bytes--) {
		at[bytes] = value;
		value >>= 8;
	}
}

/* Memory has no contents here: its key is 0, and addresses count from where the message begins. */
static inline void roce_put_reth(u8 *at, u64 address, u32 bytes)
{
	roce_put_number(at, address, 8);
	roce_put_number(at + 8, 0, 4);
	roce_put_number(at + 12, bytes, 4);
}

/* `received`: messages of the peer, modulo 2^24 (MSN). */
static inline void roce_put_aeth(u8 *at, u8 syndrome, u32 received)
{
	at[0] = syndrome;
	roce_put_24(at + 1, received & ROCE_PSN_MASK);
}

static inline u32 roce_get_reth_bytes(const u8 *at)
{
	return (u32)at[12] << 24 | roce_get_24(at + 13);
}

/* The number nearest to `near` whose low bits are `psn`. */
static inline u64 roce_whole_psn(u64 near, u32 psn)
{
	u32 ahead = (psn - (u32)near) & ROCE_PSN_MASK;

	if (ahead < 1U << (ROCE_PSN_BITS - 1) || near + ahead < 1ULL << ROCE_PSN_BITS)
		return near + ahead;
	return near + ahead - (1ULL << ROCE_PSN_BITS);
}

/* Packets of a message: one at least. */
static inline u64 roce_packets(u64 bytes, u32 mtu)
{
	return bytes ? div64_u64(bytes + mtu - 1, mtu) : 1;
}

static inline u8 roce_pad(u64 bytes)
{
	return -bytes & 3;
}

/* Whether a packet begins, ends a message: its place among `packets`. */
static inline u8 roce_opcode_at(u8 first, u64 place, u64 packets)
{
	/*
	 * The specification numbers FIRST, MIDDLE, LAST from `first`, and ONLY two beyond LAST:
	 * the one between has immediate data, which responses have not.
	 */
	if (packets == 1)
		return first + (first == ROCE_READ_FIRST ? 3 : 4);
	return first + (place ? 1 + (place == packets - 1) : 0);
}

static inline bool roce_is_send(u8 opcode)
{
	return opcode <= ROCE_SEND_ONLY;
}

static inline bool roce_begins_write(u8 opcode)
{
	return opcode == ROCE_WRITE_FIRST || opcode == ROCE_WRITE_ONLY;
}

static inline bool roce_begins_message(u8 opcode)
{
	return opcode == ROCE_SEND_FIRST || opcode == ROCE_SEND_ONLY || roce_begins_write(opcode);
}

static inline bool roce_ends_message(u8 opcode)
{
	return opcode == ROCE_SEND_LAST || opcode == ROCE_SEND_ONLY ||
	       opcode == ROCE_WRITE_LAST || opcode == ROCE_WRITE_ONLY;
}

static inline bool roce_is_response(u8 opcode)
{
	return opcode >= ROCE_READ_FIRST && opcode <= ROCE_READ_ONLY;
}

/* Whether an AETH is behind the base header (table 9.3: of responses all but those between). */
static inline bool roce_has_aeth(u8 opcode)
{
	return opcode == ROCE_ACKNOWLEDGE || (roce_is_response(opcode) && opcode != ROCE_READ_MIDDLE);
}

/* Whether a RETH is behind it. */
static inline bool roce_has_reth(u8 opcode)
{
	return roce_begins_write(opcode) || opcode == ROCE_READ_REQUEST;
}

/* A data packet of WRITE or SEND. */
static inline bool roce_is_data(u8 opcode)
{
	return opcode <= ROCE_SEND_LAST || opcode == ROCE_SEND_ONLY ||
	       (opcode >= ROCE_WRITE_FIRST && opcode <= ROCE_WRITE_LAST) ||
	       opcode == ROCE_WRITE_ONLY;
}

/* -- The invariant CRC ------------------------------------------------------------------------- */

/*
 * CRC-32 of Ethernet over 8 bytes of ones, which stand for InfiniBand's local header, and
 * the packet from its IP header on, with ones where a router may write: TOS, TTL and
 * checksums, and the base header's byte for congestion. It is sent with the lowest byte
 * first.
 *
 * The payload is zeros here. What they do to a CRC is a multiplication by x^(8 n).
 */
#define ROCE_CRC_POLYNOMIAL 0xedb88320U
#define ROCE_CRC_ONE (1U << 31)		/* x^0: the highest bit is the lowest power */

#ifdef __KERNEL__
#include <linux/crc32.h>
#define roce_crc(crc, bytes, count) crc32_le(crc, bytes, count)
#else
static inline u32 roce_crc(u32 crc, const u8 *bytes, size_t count)
{
	int bit;

	while (count--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? ROCE_CRC_POLYNOMIAL : 0);
	}
	return crc;
}
#endif

/* a b modulo the polynomial. */
static inline u32 roce_crc_multiply(u32 a, u32 b)
{
	u32 product = 0;

	for (; a; a <<= 1) {
		if (a & ROCE_CRC_ONE)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? ROCE_CRC_POLYNOMIAL : 0);
	}
	return product;
}

/* x^(8 n), the factor of n bytes of zeros. */
static inline u32 roce_crc_zeros(u64 bytes)
{
	u32 power = ROCE_CRC_ONE >> 8, product = ROCE_CRC_ONE;

	for (; bytes; bytes >>= 1) {
		if (bytes & 1)
			product = roce_crc_multiply(product, power);
		power = roce_crc_multiply(power, power);
	}
	return product;
}

/*
 * Of a packet with `bytes` of headers from its IP header (20 bytes) on, of which the
 * receiver's queue sees what is behind UDP (8 bytes), and a payload of zeros whose factor
 * is `zeros`.
 */
static inline u32 roce_icrc(const u8 *ip, u32 bytes, u32 zeros)
{
	u8 masked[8 + 20 + 8 + ROCE_BTH_BYTES];
	u32 i, crc;

	for (i = 0; i < 8; i++)
		masked[i] = 0xff;
	for (i = 0; i < sizeof(masked) - 8; i++)
		masked[8 + i] = ip[i];
	masked[8 + 1] = 0xff;
	masked[8 + 8] = 0xff;
	masked[8 + 10] = masked[8 + 11] = 0xff;
	masked[8 + 20 + 6] = masked[8 + 20 + 7] = 0xff;
	masked[8 + 28 + 4] = 0xff;
	crc = roce_crc(~0U, masked, sizeof(masked));
	crc = roce_crc(crc, ip + sizeof(masked) - 8, bytes - (sizeof(masked) - 8));
	return ~roce_crc_multiply(crc, zeros);
}

#endif
