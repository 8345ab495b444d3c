/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a switch chooses among next hops of equal cost, beside the hash of the five-tuple:
 * by packet or by flowlet, at random or by the load of the ports.
 *
 * Modes, and the words for them, are those of SAI's adaptive routing and switching
 * (saiars.h, saiarsprofile.h; SONiC's sonic-ars.yang). Flowlets: E. Vanini et al., "Let It
 * Flow: Resilient Asymmetric Load Balancing with Flowlet Switching" (LetFlow), NSDI 2017;
 * M. Alizadeh et al., "CONGA", SIGCOMM 2014. Packets at random: A. Dixit et al., "On the
 * Impact of Packet Spraying in Data Center Networks", INFOCOM 2013.
 */
#ifndef LOAD_BALANCING_H
#define LOAD_BALANCING_H

#ifdef __KERNEL__
#include <linux/types.h>
#endif

/* SAI has bands 0 to 7 (SAI_ARS_PROFILE_ATTR_QUANT_BAND_7_MIN_THRESHOLD); CONGA's measure has 3 bits. */
#define LB_LAST_BAND 7

/*
 * The next 32 bits of a switch's own generator: SplitMix64 (G. Steele, D. Lea, C. Flood,
 * "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), its upper half.
 */
static inline u32 lb_draw(u64 *state)
{
	u64 bits = *state += 0x9e3779b97f4a7c15ULL;

	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
	return (bits ^ (bits >> 31)) >> 32;
}

/* A number below `bound`; one outcome alone is not drawn. */
static inline u32 lb_below(u64 *state, u32 bound)
{
	return bound > 1 ? ((u64)lb_draw(state) * bound) >> 32 : 0;
}

/* -- Quality ------------------------------------------------------------------------------------- */

/*
 * The band of a port that has `load` bytes to send: 0 up to `least`, the last one above
 * `most`, and between them six bands of one width. `least` is below `most`.
 */
static inline u32 lb_band(u64 load, u64 least, u64 most)
{
	if (load <= least)
		return 0;
	if (load > most)
		return LB_LAST_BAND;
	/* Rounded up: the end of a band belongs to it. */
	return ((load - least) * (LB_LAST_BAND - 1) + (most - least) - 1) / (most - least);
}

/* The best of the members that were offered so far; each of those in its band is it as likely. */
struct lb_best {
	u32 band;
	u32 alike;	/* members in this band; 0: none was offered */
	u32 member;
};

static inline void lb_offer(struct lb_best *best, u64 *random, u32 member, u32 band)
{
	if (best->alike && band > best->band)
		return;
	if (!best->alike || band < best->band)
		*best = (struct lb_best) { .band = band };
	best->alike++;
	if (!lb_below(random, best->alike))
		best->member = member;
}

/* -- Flowlets ------------------------------------------------------------------------------------ */

/*
 * A place in the table of flows. Flows whose hashes have the same remainder share it, and
 * the choice, as in hardware: nothing says whose it is.
 */
struct lb_flowlet {
	u64 last_ns;	/* when its last packet came; 0: none did */
	u32 choice;
};

/* A packet has come: whether it belongs to the flowlet of those before it. */
static inline bool lb_flowlet_goes_on(struct lb_flowlet *flowlet, u64 now, u64 idle_ns)
{
	bool goes_on = flowlet->last_ns && now - flowlet->last_ns <= idle_ns;

	flowlet->last_ns = now;
	return goes_on;
}

#endif
