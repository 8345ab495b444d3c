// SPDX-License-Identifier: GPL-2.0
/*
 * The maps of a port (DSCP, traffic class, queue, priority group, priority) from netlink. Under RTNL.
 */
#include <net/netlink.h>

#include "change.h"

static int switch_parse_map(struct switch_change *change, const struct nlattr *attribute, u8 *map)
{
	int entry;

	if (!attribute)
		return 0;
	for (entry = 0; entry < nla_len(attribute); entry++) {
		map[entry] = ((const u8 *)nla_data(attribute))[entry];
		if (map[entry] >= SWITCH_QUEUES)
			return switch_refuse(change, "entry %d of a map is %u: 0 to 7", entry,
					     map[entry]);
	}
	return 0;
}

int switch_parse_maps(struct switch_change *change, struct nlattr **tb)
{
	struct switch_maps *maps = &change->config.maps;

	return switch_parse_map(change, tb[TCA_SWITCH_PORT_DSCP_TO_TC], maps->dscp_to_tc) ?:
	       switch_parse_map(change, tb[TCA_SWITCH_PORT_TC_TO_QUEUE], maps->tc_to_queue) ?:
	       switch_parse_map(change, tb[TCA_SWITCH_PORT_TC_TO_PG], maps->tc_to_group) ?:
	       switch_parse_map(change, tb[TCA_SWITCH_PORT_PRIORITY_TO_QUEUE],
				maps->priority_to_queue) ?:
	       switch_parse_map(change, tb[TCA_SWITCH_PORT_PRIORITY_TO_PG],
				maps->priority_to_group);
}
