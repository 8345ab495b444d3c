/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What switches write into a packet on its way (in-band network telemetry): eight bytes a
 * hop, with the fields of HPCC (Y. Li et al., "HPCC: High Precision Congestion Control",
 * SIGCOMM 2019, figure 7): the port's speed (4 bits, a code), when the packet left (24 bits,
 * ns), what the port had sent (20 bits, units of 128 bytes) and its queue (16 bits, units of
 * 80 bytes).
 *
 * They stand behind what UDP's length covers, as UDP options do (RFC 9868): so the packet is
 * RoCEv2 to whoever does not know them, and its invariant CRC does not cover them. UDP's
 * checksum is 0 here, and so may that of the options be (section 9).
 */
#ifndef ROCE_TELEMETRY_H
#define ROCE_TELEMETRY_H

#include "../shim.h"

#define ROCE_TELEMETRY_HOPS 5
#define ROCE_TELEMETRY_HEADER_BYTES 8
#define ROCE_TELEMETRY_HOP_BYTES 8
#define ROCE_TELEMETRY_BYTES \
	(ROCE_TELEMETRY_HEADER_BYTES + ROCE_TELEMETRY_HOPS * ROCE_TELEMETRY_HOP_BYTES)

#define ROCE_TELEMETRY_OPTION 127	/* EXP, for experiments (RFC 9868, section 11.10) */
#define ROCE_TELEMETRY_EXID 0xfab1	/* of our own, not registered */
#define ROCE_TELEMETRY_QUERY 0		/* in the byte behind the identifier: switches write; */
#define ROCE_TELEMETRY_REPLY 1		/* they have written */

#define ROCE_TELEMETRY_TIME_BITS 24
#define ROCE_TELEMETRY_SENT_BITS 20
#define ROCE_TELEMETRY_QUEUE_BITS 16
#define ROCE_TELEMETRY_SENT_UNIT 128
#define ROCE_TELEMETRY_QUEUE_UNIT 80

/* Of Ethernet's speeds those that have a code: 1 and up, in this order; 0: another. In Mbit/s. */
#define ROCE_TELEMETRY_CODES 16

static const u32 roce_telemetry_mbps[ROCE_TELEMETRY_CODES] = {
	0, 10, 100, 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, 100000, 200000, 400000,
	800000, 1600000,
};

static inline u32 roce_telemetry_code(u64 rate_bps)
{
	u32 code;

	for (code = ROCE_TELEMETRY_CODES - 1; code; code--)
		if (roce_telemetry_mbps[code] * 1000000ULL == rate_bps)
			break;
	return code;
}

static inline u64 roce_telemetry_rate(u32 code)
{
	return roce_telemetry_mbps[code & 15] * 1000000ULL;
}

/* At the options' place: none has written yet. */
static inline void roce_telemetry_put_header(u8 *at, u8 what)
{
	at[0] = at[1] = 0;	/* their checksum */
	at[2] = ROCE_TELEMETRY_OPTION;
	at[3] = ROCE_TELEMETRY_BYTES - 2;
	at[4] = ROCE_TELEMETRY_EXID >> 8;
	at[5] = ROCE_TELEMETRY_EXID & 0xff;
	at[6] = what;
	at[7] = 0;		/* hops */
}

/* What the switches have written goes back as it is: none writes any more. */
static inline void roce_telemetry_return(u8 *at)
{
	at[6] = ROCE_TELEMETRY_REPLY;
}

/* Whether `bytes` at that place are telemetry. */
static inline bool roce_is_telemetry(const u8 *at, size_t bytes)
{
	return bytes >= ROCE_TELEMETRY_BYTES && at[2] == ROCE_TELEMETRY_OPTION &&
	       at[3] == ROCE_TELEMETRY_BYTES - 2 && at[4] == ROCE_TELEMETRY_EXID >> 8 &&
	       at[5] == (ROCE_TELEMETRY_EXID & 0xff);
}

static inline u64 roce_telemetry_hop(u32 code, u64 time_ns, u64 sent_bytes, u64 queue_bytes)
{
	u64 sent = sent_bytes / ROCE_TELEMETRY_SENT_UNIT & (BIT(ROCE_TELEMETRY_SENT_BITS) - 1);
	u64 queue = switch_min(queue_bytes / ROCE_TELEMETRY_QUEUE_UNIT,
			       BIT(ROCE_TELEMETRY_QUEUE_BITS) - 1);
	u64 time = time_ns & (BIT(ROCE_TELEMETRY_TIME_BITS) - 1);

	return (u64)code << 60 | time << 36 | sent << 16 | queue;
}

/* A switch writes, if there is room. */
static inline void roce_telemetry_stamp(u8 *at, u64 hop)
{
	u32 number = at[7], byte;

	if (at[6] != ROCE_TELEMETRY_QUERY || number >= ROCE_TELEMETRY_HOPS)
		return;
	at[7]++;
	at += ROCE_TELEMETRY_HEADER_BYTES + number * ROCE_TELEMETRY_HOP_BYTES;
	for (byte = 0; byte < ROCE_TELEMETRY_HOP_BYTES; byte++)
		at[byte] = hop >> (56 - 8 * byte);
}

static inline u32 roce_telemetry_hops(const u8 *at)
{
	return switch_min(at[7], ROCE_TELEMETRY_HOPS);
}

static inline u64 roce_telemetry_get(const u8 *at, u32 number)
{
	u64 hop = 0;
	u32 byte;

	at += ROCE_TELEMETRY_HEADER_BYTES + number * ROCE_TELEMETRY_HOP_BYTES;
	for (byte = 0; byte < ROCE_TELEMETRY_HOP_BYTES; byte++)
		hop = hop << 8 | at[byte];
	return hop;
}

static inline u64 roce_telemetry_hop_rate(u64 hop)
{
	return roce_telemetry_rate(hop >> 60);
}

static inline u32 roce_telemetry_hop_time(u64 hop)
{
	return hop >> 36 & (BIT(ROCE_TELEMETRY_TIME_BITS) - 1);
}

static inline u32 roce_telemetry_hop_sent(u64 hop)
{
	return hop >> 16 & (BIT(ROCE_TELEMETRY_SENT_BITS) - 1);
}

static inline u64 roce_telemetry_hop_queue(u64 hop)
{
	return (hop & (BIT(ROCE_TELEMETRY_QUEUE_BITS) - 1)) * ROCE_TELEMETRY_QUEUE_UNIT;
}

#endif
