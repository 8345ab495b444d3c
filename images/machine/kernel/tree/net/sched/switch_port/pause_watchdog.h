/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The watchdog against pause storms: a queue that has frames and is paused for
 * `detection_ns` on end is in a storm; it drops what it has and gets, or sends in
 * spite of the pause. The storm is over when no pause was in force for
 * `restoration_ns` on end.
 *
 * What SONiC does by polling (sonic-swss, orchagent/pfcwdorch.cpp and
 * pfc_detect_*.lua; table PFC_WD), at the exact times.
 */
#ifndef SWITCH_PAUSE_WATCHDOG_H
#define SWITCH_PAUSE_WATCHDOG_H

#include "shim.h"

#define SWITCH_NEVER (~0ULL)

struct switch_watchdog_config {
	u64 detection_ns;	/* 0: no watchdog */
	u64 restoration_ns;
};

struct switch_watchdog {
	bool storm;
	bool counting;		/* `since` holds: towards a storm, or towards its end */
	u64 since;
};

/* When the state changes if nothing else does. */
static inline u64 switch_watchdog_deadline(const struct switch_watchdog *dog,
					   const struct switch_watchdog_config *config)
{
	if (!dog->counting)
		return SWITCH_NEVER;
	return dog->since + (dog->storm ? config->restoration_ns : config->detection_ns);
}

/*
 * To be called at each change of `paused` and of `backlogged` (the queue has frames),
 * and at the deadline. Whether a storm has begun or ended: look at dog->storm.
 */
static inline bool switch_watchdog_update(struct switch_watchdog *dog,
					  const struct switch_watchdog_config *config, u64 now,
					  bool paused, bool backlogged)
{
	bool counting = dog->storm ? !paused : paused && backlogged;

	if (!config->detection_ns)
		return false;
	if (counting && !dog->counting)
		dog->since = now;
	dog->counting = counting;
	if (now < switch_watchdog_deadline(dog, config))
		return false;
	dog->storm = !dog->storm;
	dog->since = now;
	dog->counting = dog->storm ? !paused : paused && backlogged;
	return true;
}

#endif
