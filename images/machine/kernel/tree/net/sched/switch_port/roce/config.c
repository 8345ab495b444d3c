// SPDX-License-Identifier: GPL-2.0
/*
 * A port becomes a RoCE NIC, and is one no more. Under RTNL.
 */
#include <linux/fabriclab_roce.h>
#include <linux/log2.h>
#include <net/netlink.h>

#include "../change.h"

#define ROCE_MTU_MIN 256
#define ROCE_MTU_MAX 4096
#define ROCE_TIMEOUT_MAX (10 * NSEC_PER_SEC)
#define ROCE_RATE_MIN 8000ULL
#define ROCE_CYCLE_BYTES_MIN 1000ULL
#define ROCE_DSCP_MAX 63

static int check_transport(struct switch_change *change, const struct tc_switch_roce *roce)
{
	if (!is_power_of_2(roce->mtu) || roce->mtu < ROCE_MTU_MIN || roce->mtu > ROCE_MTU_MAX)
		return switch_refuse(change, "RoCE's MTU is 256, 512, 1024, 2048 or 4096, not %u",
				     roce->mtu);
	if (roce->timeout_ns < NSEC_PER_USEC || roce->timeout_ns > ROCE_TIMEOUT_MAX)
		return switch_refuse(change, "RoCE's timeout is 1 us to 10 s");
	if (roce->window > ROCE_WINDOW_MAX)
		return switch_refuse(change, "a window of %u packets is above %u", roce->window,
				     ROCE_WINDOW_MAX);
	if (!roce->ack_every)
		return switch_refuse(change, "acknowledgements come after one packet or more");
	if (roce->dscp > ROCE_DSCP_MAX || roce->ack_dscp > ROCE_DSCP_MAX ||
	    roce->notify_dscp > ROCE_DSCP_MAX)
		return switch_refuse(change, "a DSCP is 0 to 63");
	return 0;
}

static int check_control(struct switch_change *change, const struct tc_switch_roce *roce)
{
	if (roce->control == TC_SWITCH_ROCE_NO_CONTROL)
		return 0;
	if (roce->control != TC_SWITCH_ROCE_DCQCN)
		return switch_refuse(change, "no such congestion control of RoCE: %u",
				     roce->control);
	if (roce->least_bps < ROCE_RATE_MIN)
		return switch_refuse(change, "DCQCN's least rate is at least 8 kbit/s");
	if (roce->cycle_bytes < ROCE_CYCLE_BYTES_MIN || roce->cycle_ns < NSEC_PER_USEC ||
	    roce->alpha_ns < NSEC_PER_USEC)
		return switch_refuse(change, "DCQCN's cycles are at least 1 KB and 1 us");
	return 0;
}

static struct roce_config as_config(const struct tc_switch_roce *roce)
{
	return (struct roce_config) {
		.mtu = roce->mtu,
		.window = roce->window ?: ROCE_WINDOW_MAX,
		.ack_every = roce->ack_every,
		.retries = roce->retries,
		.timeout_ns = roce->timeout_ns,
		.notify_ns = roce->notify_ns,
		.dscp = roce->dscp,
		.ack_dscp = roce->ack_dscp,
		.notify_dscp = roce->notify_dscp,
		.control = roce->control,
		.dcqcn = {
			.least_bps = roce->least_bps,
			.active_bps = roce->active_bps,
			.hyper_bps = roce->hyper_bps,
			.cycle_bytes = roce->cycle_bytes,
			.cycle_ns = roce->cycle_ns,
			.alpha_ns = roce->alpha_ns,
			.gain = roce->gain,
			.recovery_cycles = roce->recovery_cycles,
		},
	};
}

int roce_parse(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_roce *roce;
	int error;

	if (!attribute)
		return 0;
	roce = nla_data(attribute);
	if (!roce->mtu) {
		change->config.roce = (struct roce_config) {};
		return 0;
	}
	error = check_transport(change, roce) ?: check_control(change, roce);
	if (!error)
		change->config.roce = as_config(roce);
	return error;
}

int roce_dump(const struct switch_port *port, struct sk_buff *skb)
{
	const struct roce_config *config = &port->config.roce;
	struct tc_switch_roce dump = {
		.mtu = config->mtu,
		.window = config->window,
		.ack_every = config->ack_every,
		.retries = config->retries,
		.timeout_ns = config->timeout_ns,
		.notify_ns = config->notify_ns,
		.dscp = config->dscp,
		.ack_dscp = config->ack_dscp,
		.notify_dscp = config->notify_dscp,
		.control = config->control,
		.gain = config->dcqcn.gain,
		.recovery_cycles = config->dcqcn.recovery_cycles,
		.least_bps = config->dcqcn.least_bps,
		.active_bps = config->dcqcn.active_bps,
		.hyper_bps = config->dcqcn.hyper_bps,
		.cycle_bytes = config->dcqcn.cycle_bytes,
		.cycle_ns = config->dcqcn.cycle_ns,
		.alpha_ns = config->dcqcn.alpha_ns,
	};

	return dump.mtu ? nla_put(skb, TCA_SWITCH_PORT_ROCE, sizeof(dump), &dump) : 0;
}

static struct roce_nic *new_nic(struct switch_port *port)
{
	struct roce_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	if (!nic)
		return NULL;
	nic->port = port;
	INIT_LIST_HEAD(&nic->ready);
	INIT_LIST_HEAD(&nic->waiting);
	timerqueue_init_head(&nic->paced);
	xa_init(&nic->pairs);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&nic->timeout, roce_nic_timeout, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&nic->timeout, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->timeout.function = roce_nic_timeout;
#endif
	return nic;
}

/* Before `config` is in force. Not yet under the chip's lock. */
int roce_prepare(struct switch_port *port, const struct roce_config *config,
		 struct netlink_ext_ack *extack)
{
	if (port->roce && !xa_empty(&port->roce->pairs) && config->mtu != port->config.roce.mtu) {
		NL_SET_ERR_MSG(extack, "RoCE's MTU stays while there are queue pairs");
		return -EBUSY;
	}
	if (!config->mtu || port->roce)
		return 0;
	port->roce = new_nic(port);
	if (!port->roce)
		return -ENOMEM;
	static_branch_inc(&roce_is_on);
	return 0;
}

/* The port goes. */
void roce_nic_destroy(struct switch_port *port)
{
	struct roce_nic *nic = port->roce;

	if (!nic)
		return;
	roce_pairs_end(nic);
	hrtimer_cancel(&nic->timeout);
	switch_chip_lock(port->chip);
	port->roce = NULL;
	switch_chip_unlock(port->chip);
	xa_destroy(&nic->pairs);
	kfree(nic);
	static_branch_dec(&roce_is_on);
}
