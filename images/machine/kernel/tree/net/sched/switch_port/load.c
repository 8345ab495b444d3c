// SPDX-License-Identifier: GPL-2.0
/*
 * What a port has to send, for a choice among ports (net/ipv4/load_balancing.c).
 */
#include <net/switch_port.h>

#include "switch.h"

bool switch_port_load(struct Qdisc *sch, u64 *bytes)
{
	struct switch_port *port = switch_port_of_qdisc(sch);
	u64 now;

	if (!port || !port->chip)
		return false;
	now = switch_chip_lock(port->chip);
	*bytes = port->bytes + switch_mul_div(switch_excess(port->line.free_ns, now), port->config.rate_bps,
					      8 * SWITCH_NS_PER_SEC);
	switch_chip_unlock(port->chip);
	return true;
}
