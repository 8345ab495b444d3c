/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift: a window by the delay of each packet, against a target.
 *
 * G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, algorithm 1 and section 3.2 to 3.5, whose names stand in
 * brackets. The host's part of the delay is not looked at: the NIC answers by itself, in no
 * time. The target grows with the routers of the path, and for small windows (flow
 * scaling). A window below one packet is a time between packets.
 */
#ifndef ROCE_SWIFT_H
#define ROCE_SWIFT_H

#include "../shim.h"

#define ROCE_SWIFT_ONE (1ULL << 20)	/* a packet; and 1 / sqrt(1) */
#define ROCE_SWIFT_PPM 1000000
#define ROCE_SWIFT_LEAST_SCALED (ROCE_SWIFT_ONE / 10)	/* fs_min_cwnd */
#define ROCE_SWIFT_MOST_SCALED (ROCE_SWIFT_ONE * 100)	/* fs_max_cwnd */
#define ROCE_SWIFT_LEAST (ROCE_SWIFT_ONE / 1000)	/* min_cwnd */
#define ROCE_SWIFT_RETRIES 5		/* RETX_RESET_THRESHOLD */

/* In the order of the control's options. */
struct roce_swift_config {
	u64 base_ns;		/* base_target */
	u64 hop_ns;		/* h-bar: of each router */
	u64 range_ns;		/* fs_range */
	u64 increase_ppm;	/* ai: packets in a round trip */
	u64 decrease_ppm;	/* beta */
	u64 most_decrease_ppm;	/* max_mdf */
	u64 most_packets;	/* max_cwnd */
};

struct roce_swift {
	u64 window;		/* cwnd, of 2^-20 packets */
	u64 rtt_ns;		/* of the last packet; 0: none was measured */
	u64 decreased_ns;	/* t_last_decrease */
	u32 timeouts;		/* retransmit_cnt */
};

static inline void roce_swift_begin(const struct roce_swift_config *config,
				    struct roce_swift *state)
{
	*state = (struct roce_swift) { .window = config->most_packets * ROCE_SWIFT_ONE };
}

/* 2^20 / sqrt(window), rounded down. */
static inline u64 roce_swift_inverse_root(u64 window)
{
	u64 square = (1ULL << 60) / window, root = 0, bit;

	for (bit = 1ULL << 30; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	return root;
}

/* TargetDelay. */
static inline u64 roce_swift_target(const struct roce_swift_config *config, u64 window,
				    u32 routers)
{
	u64 least = roce_swift_inverse_root(ROCE_SWIFT_MOST_SCALED);
	u64 most = roce_swift_inverse_root(ROCE_SWIFT_LEAST_SCALED);
	u64 scaled = switch_min(switch_max(roce_swift_inverse_root(window), least), most);

	return config->base_ns + routers * config->hop_ns +
	       config->range_ns * (scaled - least) / (most - least);
}

/* Bounds, and when it fell last. */
static inline void roce_swift_set(const struct roce_swift_config *config,
				  struct roce_swift *state, u64 window, u64 now)
{
	window = switch_max(window, ROCE_SWIFT_LEAST);
	window = switch_min(window, config->most_packets * ROCE_SWIFT_ONE);
	if (window < state->window)
		state->decreased_ns = now;
	state->window = window;
}

static inline bool roce_swift_may_fall(const struct roce_swift *state, u64 now)
{
	return now - state->decreased_ns >= state->rtt_ns;
}

/* The window less a part of it. */
static inline u64 roce_swift_less(const struct roce_swift *state, u64 part_ppm)
{
	return state->window - switch_mul_div(state->window, part_ppm, ROCE_SWIFT_PPM);
}

/* An acknowledgement is the first of so many packets; the delay of the last is known. */
static inline void roce_swift_acknowledged(const struct roce_swift_config *config,
					   struct roce_swift *state, u64 delay_ns, u32 packets,
					   u32 routers, u64 now)
{
	u64 target = roce_swift_target(config, state->window, routers);
	u64 window = state->window;

	state->timeouts = 0;
	state->rtt_ns = delay_ns;
	if (delay_ns < target) {
		u64 step = ROCE_SWIFT_ONE * packets * config->increase_ppm / ROCE_SWIFT_PPM;

		if (window >= ROCE_SWIFT_ONE)
			step = switch_mul_div(step, ROCE_SWIFT_ONE, window);
		window += step;
	} else if (roce_swift_may_fall(state, now)) {
		u64 above = switch_mul_div(config->decrease_ppm, delay_ns - target, delay_ns);

		window = roce_swift_less(state, switch_min(above, config->most_decrease_ppm));
	}
	roce_swift_set(config, state, window, now);
}

static inline void roce_swift_lost(const struct roce_swift_config *config,
				   struct roce_swift *state, bool timed_out, u64 now)
{
	u64 window = state->window;

	if (timed_out && ++state->timeouts >= ROCE_SWIFT_RETRIES)
		window = ROCE_SWIFT_LEAST;
	else if (roce_swift_may_fall(state, now))
		window = roce_swift_less(state, config->most_decrease_ppm);
	roce_swift_set(config, state, window, now);
}

/* The rate that a window below one packet is; else the line's. */
static inline u64 roce_swift_rate(const struct roce_swift *state, u64 line_bps, u32 packet_bytes)
{
	u64 bits = packet_bytes * 8ULL;
	u64 rate;

	if (state->window >= ROCE_SWIFT_ONE || !state->rtt_ns)
		return line_bps;
	rate = switch_mul_div(bits * SWITCH_NS_PER_SEC, state->window,
			      state->rtt_ns * ROCE_SWIFT_ONE);
	return switch_min(switch_max(rate, 1), line_bps);
}

#endif
