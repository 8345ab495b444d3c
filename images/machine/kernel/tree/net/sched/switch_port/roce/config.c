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
#define ROCE_DSCP_MAX 63

static u32 most_window(const struct tc_switch_roce *roce)
{
	return roce->selective ? ROCE_SELECTIVE_WINDOW : ROCE_WINDOW_MAX;
}

static int check_transport(struct switch_change *change, const struct tc_switch_roce *roce)
{
	if (!is_power_of_2(roce->mtu) || roce->mtu < ROCE_MTU_MIN || roce->mtu > ROCE_MTU_MAX)
		return switch_refuse(change, "RoCE's MTU is 256, 512, 1024, 2048 or 4096, not %u",
				     roce->mtu);
	if (roce->timeout_ns < NSEC_PER_USEC || roce->timeout_ns > ROCE_TIMEOUT_MAX)
		return switch_refuse(change, "RoCE's timeout is 1 us to 10 s");
	if (roce->selective > 1)
		return switch_refuse(change, "selective repeat is 0 or 1, not %u", roce->selective);
	if (roce->reorder && (!roce->selective || roce->reorder >= ROCE_SELECTIVE_WINDOW))
		return switch_refuse(change, "with selective repeat, packets may be overtaken by %u",
				     ROCE_SELECTIVE_WINDOW - 1);
	if (roce->trimmed > 1)
		return switch_refuse(change, "trimmed packets are known (1) or not (0), not %u",
				     roce->trimmed);
	if (roce->window > most_window(roce))
		return switch_refuse(change, "a window of %u packets is above %u", roce->window,
				     most_window(roce));
	if (!roce->ack_every)
		return switch_refuse(change, "acknowledgements come after one packet or more");
	if (roce->dscp > ROCE_DSCP_MAX || roce->ack_dscp > ROCE_DSCP_MAX ||
	    roce->notify_dscp > ROCE_DSCP_MAX)
		return switch_refuse(change, "a DSCP is 0 to 63");
	return 0;
}

static struct roce_config as_config(const struct tc_switch_roce *roce)
{
	return (struct roce_config) {
		.mtu = roce->mtu,
		.window = roce->window ?: most_window(roce),
		.ack_every = roce->ack_every,
		.retries = roce->retries,
		.timeout_ns = roce->timeout_ns,
		.notify_ns = roce->notify_ns,
		.dscp = roce->dscp,
		.ack_dscp = roce->ack_dscp,
		.notify_dscp = roce->notify_dscp,
		.selective = roce->selective,
		.trimmed = roce->trimmed,
		.reads = roce->reads ?: ROCE_READS_DEFAULT,
		.reorder = roce->reorder,
	};
}

int roce_parse(struct switch_change *change, struct nlattr **tb)
{
	const struct nlattr *name = tb[TCA_SWITCH_PORT_ROCE_CONTROL];
	const struct tc_switch_roce *roce;
	int error;

	error = roce_parse_telemetry(change, tb[TCA_SWITCH_PORT_TELEMETRY]);
	if (error || !tb[TCA_SWITCH_PORT_ROCE])
		return error;
	roce = nla_data(tb[TCA_SWITCH_PORT_ROCE]);
	if (!roce->mtu) {
		change->config.roce = (struct roce_config) {};
		return 0;
	}
	error = check_transport(change, roce);
	if (error)
		return error;
	change->config.roce = as_config(roce);
	if (!name)
		return 0;
	change->config.roce.control = roce_control_find(nla_data(name));
	if (!change->config.roce.control)
		return switch_refuse(change, "no such congestion control of RoCE: %s",
				     (const char *)nla_data(name));
	return roce_control_parse(change, tb[TCA_SWITCH_PORT_ROCE_OPTIONS]);
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
		.selective = config->selective,
		.trimmed = config->trimmed,
		.reads = config->reads,
		.reorder = config->reorder,
	};

	if (!dump.mtu)
		return 0;
	return nla_put(skb, TCA_SWITCH_PORT_ROCE, sizeof(dump), &dump) ?:
	       roce_control_dump(config, skb);
}

static struct roce_nic *new_nic(struct switch_port *port)
{
	struct roce_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	if (!nic)
		return NULL;
	nic->port = port;
	INIT_LIST_HEAD(&nic->ready);
	INIT_LIST_HEAD(&nic->waiting);
	INIT_LIST_HEAD(&nic->credits.owing);
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
	bool is_used = port->roce && !xa_empty(&port->roce->pairs);

	if (is_used && config->mtu != port->config.roce.mtu) {
		NL_SET_ERR_MSG(extack, "RoCE's MTU stays while there are queue pairs");
		return -EBUSY;
	}
	if (is_used && config->selective != port->config.roce.selective) {
		NL_SET_ERR_MSG(extack, "RoCE's loss recovery stays while there are queue pairs");
		return -EBUSY;
	}
	if (is_used && config->control != port->config.roce.control) {
		NL_SET_ERR_MSG(extack, "RoCE's congestion control stays while there are queue pairs");
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
