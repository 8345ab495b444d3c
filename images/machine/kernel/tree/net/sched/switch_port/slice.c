// SPDX-License-Identifier: GPL-2.0
/*
 * A memory in slices. Chips with several packet pipelines keep a frame in one of several
 * memories, by the pipeline that it came in by and the one that it leaves by
 * (Tomahawk: four; Tomahawk 3: two, by the first alone). Each slice has the same part of
 * every pool, and each queue and group an account in each: a limit is one slice's.
 */
#include "change.h"

/* What the accounts of a queue or a group hold in all slices, in cells. */
u64 switch_held(const struct switch_chip *chip, const struct switch_account *account)
{
	u64 cells = 0;
	u32 slice;

	for (slice = 0; slice < chip->slices; slice++)
		cells += account[slice].used + account[slice].headroom;
	return cells;
}

/* The slice in which an account has the most; the first of equal ones. */
u32 switch_fullest_slice(const struct switch_chip *chip, const struct switch_account *account)
{
	u32 slice, fullest = 0;

	for (slice = 1; slice < chip->slices; slice++)
		if (account[slice].used > account[fullest].used)
			fullest = slice;
	return fullest;
}

int switch_parse_slices(struct switch_change *change, const struct nlattr *attribute, bool first)
{
	if (!attribute)
		return 0;
	change->slices = nla_get_u32(attribute);
	if (change->slices != 1 && change->slices != 2 && change->slices != TC_SWITCH_SLICES)
		return switch_refuse(change, "%u slices of memory: 1, 2 or 4", change->slices);
	if (change->slices != change->chip->slices && !(first && change->chip->ports == 1))
		return switch_refuse(change, "the switch's memory has %u slices already",
				     change->chip->slices);
	return 0;
}

/* A frame's slice is one port's `in` OR another port's `out`. */
int switch_parse_slice(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_slice *slice;

	if (!attribute)
		return 0;
	slice = nla_data(attribute);
	if (slice->in >= change->slices || slice->out >= change->slices)
		return switch_refuse(change, "slice %u, %u: the switch's memory has %u",
				     slice->in, slice->out, change->slices);
	change->config.slice = *slice;
	return 0;
}
