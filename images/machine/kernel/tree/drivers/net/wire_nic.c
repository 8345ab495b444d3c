// SPDX-License-Identifier: GPL-2.0
/*
 * A cable's end that is a NIC's: what arrives waits in its ring for an interrupt, which tells
 * of all of it (ethtool -C rx-usecs); NAPI then merges what it can (GRO).
 */
#include <linux/fabriclab_wires.h>
#include <net/gro.h>
#include "wire.h"

#define WIRE_RING 256

/* The interrupt comes so long after the first frame, or when half of the ring is full. */
void wire_nic_take(struct wire *wire, struct sk_buff *skb)
{
	__skb_queue_tail(&wire->ring, skb);
	if (!wire->rx_usecs || skb_queue_len(&wire->ring) >= WIRE_RING / 2)
		napi_schedule(&wire->napi);
	else if (!hrtimer_is_queued(&wire->interrupt))
		hrtimer_start(&wire->interrupt, ns_to_ktime(wire->rx_usecs * NSEC_PER_USEC),
			      HRTIMER_MODE_REL);
}

static enum hrtimer_restart wire_interrupt(struct hrtimer *timer)
{
	napi_schedule(&container_of(timer, struct wire, interrupt)->napi);
	return HRTIMER_NORESTART;
}

static int wire_poll(struct napi_struct *napi, int budget)
{
	struct wire *wire = container_of(napi, struct wire, napi);
	struct sk_buff *skb;
	int done = 0;

	wire_serve(dev_net(wire->dev));
	while (done < budget && (skb = __skb_dequeue(&wire->ring))) {
		napi_gro_receive(napi, skb);
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	else
		gro_normal_list(napi);
	wire_serve(NULL);
	return done;
}

void wire_nic_init(struct wire *wire)
{
	__skb_queue_head_init(&wire->ring);
	hrtimer_init(&wire->interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	wire->interrupt.function = wire_interrupt;
	netif_napi_add(wire->dev, &wire->napi, wire_poll);
}

void wire_nic_open(struct wire *wire)
{
	napi_enable(&wire->napi);
}

void wire_nic_stop(struct wire *wire)
{
	hrtimer_cancel(&wire->interrupt);
	napi_disable(&wire->napi);
	__skb_queue_purge(&wire->ring);
}

static int wire_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *reasons)
{
	const struct wire *wire = netdev_priv(dev);

	coalesce->rx_coalesce_usecs = wire->rx_usecs;
	return 0;
}

static int wire_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);

	wire->rx_usecs = coalesce->rx_coalesce_usecs;
	return 0;
}

/* What veth says, for daemons that reckon with it (costs of OSPF); ports have their own rates. */
static int wire_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_10000;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_TP;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

const struct ethtool_ops wire_ethtool = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_coalesce	= wire_get_coalesce,
	.set_coalesce	= wire_set_coalesce,
	.get_link	= ethtool_op_get_link,
	.get_link_ksettings	= wire_get_link_ksettings,
};
