/* SPDX-License-Identifier: GPL-2.0 */
/* DX, latency-based congestion control: its arithmetic.
 *
 * C. Lee, C. Park, K. Jang, S. Moon, D. Han, "Accurate Latency-based Congestion
 * Feedback for Datacenters", USENIX ATC 2015; ToN 2016. Once a window, with Q
 * the mean queueing delay of its packets and R the base round trip,
 *
 *	W <- W + 1			if Q = 0
 *	W <- W (1 - Q / V) + 1		if Q > 0,  V = R W / (W - 1)
 *
 * V follows from N synchronised flows that fill a link with W - 1 packets each:
 * one more each is a queue of Q = N / C = R / (W - 1), and W Q / V is that one
 * packet. So both lines are W + 1 - (W - 1) Q / R: there is no parameter, a
 * queue of N packets stands still, and an error e of the delays moves it by e.
 *
 * A form without the 1 in the second line is about, too (the queue then swings
 * between 0 and N packets). It cannot be what ran on stamps with errors: Q is
 * never 0 with them, and no window would ever grow.
 */
#ifndef _TCP_DX_H
#define _TCP_DX_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define DX_SHIFT	10		/* windows are 2^-10 of a packet */
#define DX_ONE		(1ULL << DX_SHIFT)

/* The nearest whole number: a frame that meets another one on its way waits a little, and
 * cut off, each such wait would cost a packet.
 */
static inline u32 dx_packets(u64 window)
{
	return (window + DX_ONE / 2) >> DX_SHIFT;
}

/* The window of the next round. */
static inline u64 dx_next_window(u64 window, u64 queue_ns, u64 base_rtt_ns)
{
	u64 less = 0;

	if (window > DX_ONE)
		less = mul_u64_u64_div_u64(window - DX_ONE, queue_ns, base_rtt_ns);
	return max(window + DX_ONE - min(less, window), DX_ONE);
}

#endif
