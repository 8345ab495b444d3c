// SPDX-License-Identifier: GPL-2.0
/* A switch's port writes telemetry into RoCE packets that ask for it (telemetry.h). */
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/netlink.h>

#include "telemetry.h"
#include "../change.h"

/* The place of a packet's telemetry from its Ethernet header on; 0: it has none. */
static u32 telemetry_place(const struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)(skb->data + ETH_HLEN);
	const struct udphdr *udp = (const struct udphdr *)(ip + 1);
	u32 place;

	if (skb->protocol != htons(ETH_P_IP) || skb_headlen(skb) < ETH_HLEN + sizeof(*ip) +
	    sizeof(*udp) || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
	    udp->dest != htons(ROCE_PORT))
		return 0;
	place = ETH_HLEN + sizeof(*ip) + ntohs(udp->len);
	if (place + ROCE_TELEMETRY_BYTES > skb_headlen(skb) ||
	    ntohs(ip->tot_len) + ETH_HLEN < place + ROCE_TELEMETRY_BYTES)
		return 0;
	return roce_is_telemetry(skb->data + place, skb_headlen(skb) - place) ? place : 0;
}

void roce_stamp(struct switch_port *port, int queue, struct sk_buff *skb, u64 now)
{
	u32 place = telemetry_place(skb);
	u64 hop;

	/* A capture may share its data. */
	if (!place || skb_ensure_writable(skb, place + ROCE_TELEMETRY_BYTES))
		return;
	hop = roce_telemetry_hop(port->config.telemetry_code, now, port->sent_wire_bytes,
				 port->queue[queue].bytes);
	roce_telemetry_stamp(skb->data + place, hop);
}

/* Its code follows the line's rate. */
int roce_parse_telemetry(struct switch_change *change, const struct nlattr *flag)
{
	struct switch_port_config *config = &change->config;

	config->telemetry |= nla_get_flag(flag);
	if (!config->telemetry)
		return 0;
	config->telemetry_code = roce_telemetry_code(config->rate_bps);
	if (!config->telemetry_code)
		return switch_refuse(change, "telemetry has no code for %llu bit/s",
				     config->rate_bps);
	return 0;
}
