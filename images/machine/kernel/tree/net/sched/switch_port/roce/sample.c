// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample tells of a node's queue pairs (arch/um/kernel/samples_tcp.c). Looking changes
 * nothing: a rate that would have risen since the pair sent last is computed on a copy.
 */
#include <linux/fabriclab_roce.h>
#include <net/net_namespace.h>
#include <uapi/linux/fabriclab_samples.h>

#include "../switch.h"

/* Responses to a READ are never acknowledged: what has been sent counts. */
static u64 acknowledged_bytes(struct roce_pair *pair)
{
	const struct roce_message *first = list_first_entry_or_null(&pair->messages,
								    struct roce_message, list);
	u64 bytes = pair->acknowledged_bytes + pair->answered_bytes;

	if (first && first->opcode != ROCE_READ_REQUEST)
		bytes += (pair->oldest - first->first) * pair->nic->port->config.roce.mtu;
	return bytes;
}

static struct samples_pair sample_of(struct roce_pair *pair, u64 now)
{
	const struct roce_config *config = &pair->nic->port->config.roce;
	const struct roce_control *control = config->control;
	struct roce_flow flow = pair->flow;
	struct samples_pair sample;

	roce_control_advance(config, &flow, now);
	sample = (struct samples_pair) {
		.rate_bps = min(flow.rate_bps, flow.line_bps),
		.acknowledged_bytes = acknowledged_bytes(pair),
		.timeout_ns = config->timeout_ns,
		.in_flight = pair->next - pair->oldest,
		.sent_again = pair->sent_again,
		.timeouts = pair->timeouts,
		.acknowledged = pair->oldest,
		.notifications = pair->notifications,
		.window = control && control->has_window ? pair->window : 0,
		.rtt_ns = pair->rtt_ns,
		.failed = pair->failed,
	};
	strscpy(sample.control, control ? control->name : "none");
	if (control && control->alpha) {
		sample.has_alpha = true;
		sample.alpha = control->alpha(&flow);
	}
	return sample;
}

static void tell_nic(struct roce_nic *nic, u64 now,
		     void (*tell)(void *to, u32 number, const struct samples_pair *sample), void *to)
{
	struct roce_pair *pair;
	unsigned long number;

	xa_for_each(&nic->pairs, number, pair) {
		struct samples_pair sample = sample_of(pair, now);

		/* Who has asked for data only is no sender of a flow. */
		if (pair->writes || pair->reads_received)
			tell(to, number, &sample);
	}
}

void roce_each_pair(struct net *net,
		    void (*tell)(void *to, u32 number, const struct samples_pair *sample), void *to)
{
	struct net_device *dev;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		struct switch_port *port = switch_port_of_device(dev);

		if (!port || !port->roce)
			continue;
		tell_nic(port->roce, switch_chip_lock(port->chip), tell, to);
		switch_chip_unlock(port->chip);
	}
	rcu_read_unlock();
}
