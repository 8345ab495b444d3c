/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples that the kernel takes itself, while its clock stands between two instants
 * (arch/um/kernel/samples.c).
 */
#ifndef FABRICLAB_SAMPLES_H
#define FABRICLAB_SAMPLES_H

#include <linux/types.h>

/* When the next sample is due; ~0: never. */
extern unsigned long long samples_due;
/* The instant up to which each change has been recorded; ~0: changes are not. */
extern unsigned long long samples_changes;

/* When samples are to be taken next, which may be before the time leaves `now`. */
static inline unsigned long long samples_next(unsigned long long now)
{
	return samples_changes < now ? now : samples_due;
}

/*
 * Takes the samples that are due at `now`; all that happens at that instant has happened.
 * Returns whether that woke somebody, who runs before the time goes on.
 */
bool samples_take(unsigned long long now);

#endif
