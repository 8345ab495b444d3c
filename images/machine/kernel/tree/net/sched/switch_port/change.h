/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A change of a port's configuration while it is read and checked: nothing is in force yet.
 */
#ifndef SWITCH_CHANGE_H
#define SWITCH_CHANGE_H

#include <linux/netlink.h>

#include "switch.h"

/* A change of it in the making. */
struct switch_change {
	struct switch_chip *chip;
	struct switch_port *port;
	struct netlink_ext_ack *extack;
	struct switch_port_config config;
	struct switch_pool pool[TC_SWITCH_POOLS];	/* of each slice */
	u32 cell_bytes, slices;
};

/* maps.c */
int switch_parse_maps(struct switch_change *change, struct nlattr **tb);

#define switch_refuse(change, format, ...)						\
({											\
	NL_SET_ERR_MSG_FMT((change)->extack, format, ##__VA_ARGS__);			\
	-EINVAL;									\
})

#endif
