// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE's congestion controls and telemetry (the headers of images/machine/kernel/tree/net/sched/switch_port/roce) as a
 * library for the tests.
 */
#include "roce/hpcc.h"
#include "roce/swift.h"
#include "roce/timely.h"

/* Stamps of so many switches in one packet; `seen`: code's rate, time, units sent, queue of each that is in it. */
u32 telemetry(int count, const u64 *rates, const u64 *times, const u64 *sent, const u64 *queues, u8 what, u64 *seen)
{
	u8 packet[ROCE_TELEMETRY_BYTES] = {};
	u32 number;
	int i;

	roce_telemetry_put_header(packet, what);
	for (i = 0; i < count; i++)
		roce_telemetry_stamp(packet, roce_telemetry_hop(roce_telemetry_code(rates[i]), times[i], sent[i],
								queues[i]));
	if (!roce_is_telemetry(packet, sizeof(packet)) || roce_is_telemetry(packet, sizeof(packet) - 1))
		return ~0U;
	for (number = 0; number < roce_telemetry_hops(packet); number++) {
		u64 hop = roce_telemetry_get(packet, number);

		seen[4 * number] = roce_telemetry_hop_rate(hop);
		seen[4 * number + 1] = roce_telemetry_hop_time(hop);
		seen[4 * number + 2] = roce_telemetry_hop_sent(hop);
		seen[4 * number + 3] = roce_telemetry_hop_queue(hop);
	}
	return roce_telemetry_hops(packet);
}

/*
 * Acknowledgements of one path of `links` links, five numbers a link: rate, queue, time, sent, unused. `seen`: rate,
 * reference and use after each.
 */
void hpcc_run(const struct roce_hpcc_config *config, u64 line_bps, int count, u32 links, const u64 *packets,
	      const u64 *nexts, const u64 *told, u64 *seen)
{
	struct roce_hpcc state;
	u32 number;
	int i;

	roce_hpcc_begin(&state, line_bps);
	for (i = 0; i < count; i++) {
		struct roce_hpcc_link link[ROCE_TELEMETRY_HOPS];

		for (number = 0; number < links; number++, told += 4)
			link[number] = (struct roce_hpcc_link) { told[0], told[1], told[2], told[3] };
		roce_hpcc_acknowledged(config, &state, line_bps, packets[i], nexts[i], link, links);
		seen[3 * i] = state.rate_bps;
		seen[3 * i + 1] = state.reference_bps;
		seen[3 * i + 2] = state.use;
	}
}

u64 hpcc_window(const struct roce_hpcc_config *config, u64 rate_bps)
{
	return roce_hpcc_window(config, rate_bps);
}

void timely_run(const struct roce_timely_config *config, u64 line_bps, int count, const u64 *times, u64 *seen)
{
	struct roce_timely state;
	int i;

	roce_timely_begin(&state, line_bps);
	for (i = 0; i < count; i++) {
		roce_timely_completed(config, &state, line_bps, times[i]);
		seen[i] = state.rate_bps;
	}
}

u64 swift_target(const struct roce_swift_config *config, u64 window, u32 routers)
{
	return roce_swift_target(config, window, routers);
}

/* Acknowledgements of one packet at their times; a delay of 0: a loss that was told, of 1: one that timed out. */
void swift_run(const struct roce_swift_config *config, int count, u32 routers, const u64 *times, const u64 *delays,
	       u64 *seen)
{
	struct roce_swift state;
	int i;

	roce_swift_begin(config, &state);
	for (i = 0; i < count; i++) {
		if (delays[i] > 1)
			roce_swift_acknowledged(config, &state, delays[i], 1, routers, times[i]);
		else
			roce_swift_lost(config, &state, delays[i], times[i]);
		seen[i] = state.window;
	}
}

u64 swift_rate(u64 window, u64 rtt_ns, u64 line_bps, u32 packet_bytes)
{
	struct roce_swift state = { .window = window, .rtt_ns = rtt_ns };

	return roce_swift_rate(&state, line_bps, packet_bytes);
}
