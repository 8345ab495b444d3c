/* SPDX-License-Identifier: GPL-2.0 */
/* Packet trimming (trim.c), and what it asks of the way in (admit.c). Under the chip's lock. */
#ifndef SWITCH_TRIM_H
#define SWITCH_TRIM_H

#include "switch.h"

/* trim.c */
int switch_parse_trimming(struct switch_change *change, const struct nlattr *attribute);
int switch_dump_trimming(const struct switch_port *port, struct sk_buff *skb);
enum tc_switch_drop switch_port_trim(struct switch_port *port, struct sk_buff *skb,
				     enum tc_switch_drop cause, u64 now);

/* admit.c */
void switch_classify(struct switch_port *port, struct sk_buff *skb, u64 now);
enum tc_switch_drop switch_port_admit(struct switch_port *port, struct sk_buff *skb);

#endif
