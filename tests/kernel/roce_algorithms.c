// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE's algorithms (the headers of images/machine/kernel/tree/net/sched/switch_port/roce) as a library for the tests.
 */
#include "roce/dcqcn.h"
#include "roce/header.h"

u64 whole_psn(u64 near, u32 psn)
{
	return roce_whole_psn(near, psn);
}

u32 opcode_at(u32 first, u64 place, u64 packets)
{
	return roce_opcode_at(first, place, packets);
}

u64 packets(u64 bytes, u32 mtu)
{
	return roce_packets(bytes, mtu);
}

u32 icrc(const u8 *ip, u32 header_bytes, u64 zero_bytes)
{
	return roce_icrc(ip, header_bytes, roce_crc_zeros(zero_bytes));
}

void put_base(u8 *at, u32 opcode, u32 pad, u32 ack_request, u32 pair, u32 psn)
{
	struct roce_base base = {
		.opcode = opcode,
		.pad = pad,
		.ack_request = ack_request,
		.pair = pair,
		.psn = psn,
	};

	roce_put_base(at, &base);
}

/* The same again, of what was written: opcode, pad, request, pair, number. */
void get_base(const u8 *at, u32 *fields)
{
	struct roce_base base;

	roce_get_base(&base, at);
	fields[0] = base.opcode;
	fields[1] = base.pad;
	fields[2] = base.ack_request;
	fields[3] = base.pair;
	fields[4] = base.psn;
}

void put_reth(u8 *at, u64 address, u32 bytes)
{
	roce_put_reth(at, address, bytes);
}

u32 reth_bytes(const u8 *at)
{
	return roce_get_reth_bytes(at);
}

void put_aeth(u8 *at, u32 syndrome, u32 received)
{
	roce_put_aeth(at, syndrome, received);
}

/* Of an opcode: has it a RETH, an AETH; is it a response to a READ, data of WRITE or SEND? */
u32 parts_of(u32 opcode)
{
	return roce_has_reth(opcode) | roce_has_aeth(opcode) << 1 |
	       roce_is_response(opcode) << 2 | roce_is_data(opcode) << 3;
}

enum { NOTIFY, SEND };

/* Steps at their times: a notification, or so many bytes sent. `seen`: rate, target and alpha after each. */
void dcqcn_run(const struct roce_dcqcn_config *config, u64 line_bps, int count, const u32 *steps,
	       const u32 *bytes, const u64 *times, u64 *seen)
{
	struct roce_dcqcn state;
	int i;

	roce_dcqcn_begin(&state, line_bps);
	for (i = 0; i < count; i++) {
		roce_dcqcn_advance(config, &state, times[i]);
		if (steps[i] == NOTIFY)
			roce_dcqcn_notify(config, &state, times[i]);
		else
			roce_dcqcn_sent(config, &state, bytes[i]);
		seen[3 * i] = state.rate_bps;
		seen[3 * i + 1] = state.target_bps;
		seen[3 * i + 2] = state.alpha;
	}
}

/* Marked packets at their times: which of them are told. */
void notifications(u64 interval_ns, int count, const u64 *times, u8 *told)
{
	u64 next_ns = 0;
	int i;

	for (i = 0; i < count; i++)
		told[i] = roce_notifies(&next_ns, interval_ns, times[i]);
}
