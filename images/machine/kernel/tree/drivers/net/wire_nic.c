// SPDX-License-Identifier: GPL-2.0
/*
 * A cable's end that is a NIC's: what arrives waits in the ring of its flow's receive queue for
 * an interrupt, which tells of all of it; NAPI then merges what it can (GRO). The interrupt comes
 * so long after the first frame (ethtool -C rx-usecs), or so long after the one before it, and
 * Linux's DIM chooses that time for each queue (ethtool -C adaptive-rx on), as ice does.
 */
#include <linux/fabriclab_wires.h>
#include <linux/if_cnm.h>
#include "wire.h"
#include "wire_series.h"

/* So many wait for no fixed time: half of a ring of 256. */
#define WIRE_FRAMES 128

#define WIRE_MOST_RX 64

/* Microseconds from an interrupt to the next, rx_profile of drivers/net/ethernet/intel/ice. */
static const u8 wire_dim_usecs[NET_DIM_PARAMS_NUM_PROFILES] = { 2, 8, 16, 62, 126 };

#define WIRE_DIM_FIRST 1	/* ICE_DIM_DEFAULT_PROFILE_IX */

/* A receive queue. */
struct wire_rx {
	struct wire *wire;
	u64 last;	/* interrupt */
	struct dim dim;
	struct dim_sample seen;	/* interrupts, frames, bytes */
	struct sk_buff_head ring;	/* what no interrupt has told of */
	struct hrtimer interrupt;
	struct napi_struct napi;
};

static void wire_interrupt_now(struct wire_rx *rx)
{
	if (!napi_schedule(&rx->napi))
		return;
	rx->seen.event_ctr++;
	rx->last = ktime_get_ns();
}

/* What the NIC itself obeys, and no interrupt tells of: pauses (PFC) and notifications of QCN. */
bool wire_nic_is_for_itself(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_PAUSE) || skb->protocol == htons(ETH_P_CNM);
}

/* Receive-side scaling: the frames of a flow are in one queue. */
static struct wire_rx *wire_rx_of(struct wire *wire, struct sk_buff *skb)
{
	if (wire->rx_queues == 1)
		return wire->rx;
	skb_reset_network_header(skb);
	return &wire->rx[reciprocal_scale(skb_get_hash(skb), wire->rx_queues)];
}

/* When the interrupt for a frame that comes now is due. */
static u64 wire_due(const struct wire_rx *rx, u64 now)
{
	if (!rx->wire->adaptive)
		return now + rx->wire->rx_usecs * NSEC_PER_USEC;
	return rx->last + wire_dim_usecs[rx->dim.profile_ix] * NSEC_PER_USEC;
}

static void wire_await(struct wire_rx *rx)
{
	u64 now = ktime_get_ns(), due = wire_due(rx, now);

	if (due <= now)
		wire_interrupt_now(rx);
	else
		hrtimer_start(&rx->interrupt, ns_to_ktime(due), HRTIMER_MODE_ABS);
}

void wire_nic_take(struct wire *wire, struct sk_buff *skb)
{
	struct wire_rx *rx = wire_rx_of(wire, skb);

	__skb_queue_tail(&rx->ring, skb);
	if (!wire->adaptive && skb_queue_len(&rx->ring) >= WIRE_FRAMES)
		wire_interrupt_now(rx);
	else if (!hrtimer_is_queued(&rx->interrupt))
		wire_await(rx);
}

static enum hrtimer_restart wire_interrupt(struct hrtimer *timer)
{
	wire_interrupt_now(container_of(timer, struct wire_rx, interrupt));
	return HRTIMER_NORESTART;
}

/* Never runs: the work is disabled. */
static void wire_dim_work(struct work_struct *work)
{
}

static void wire_dim_start(struct wire_rx *rx)
{
	memset(&rx->dim, 0, sizeof(rx->dim));
	memset(&rx->seen, 0, sizeof(rx->seen));
	rx->dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
	rx->dim.profile_ix = WIRE_DIM_FIRST;
	INIT_WORK(&rx->dim.work, wire_dim_work);
	disable_work(&rx->dim.work);
}

/*
 * What other drivers leave to a work, which has to talk to hardware, is done here: when a worker
 * would run depends on the machine's other tasks, and programs take virtual time.
 */
static void wire_dim(struct wire_rx *rx)
{
	struct dim_sample sample = {};

	dim_update_sample(rx->seen.event_ctr, rx->seen.pkt_ctr, rx->seen.byte_ctr, &sample);
	wire_dim_take(&rx->dim, &sample);
	if (rx->dim.state == DIM_APPLY_NEW_PROFILE)
		rx->dim.state = DIM_START_MEASURE;
}

static int wire_poll(struct napi_struct *napi, int budget)
{
	struct wire_rx *rx = container_of(napi, struct wire_rx, napi);
	struct sk_buff *skb;
	int done = 0;

	wire_serve(dev_net(rx->wire->dev));
	while (done < budget && (skb = __skb_dequeue(&rx->ring))) {
		rx->seen.pkt_ctr++;
		rx->seen.byte_ctr += skb->len;
		napi_gro_receive(napi, skb);
		done++;
	}
	if (done < budget) {
		napi_complete_done(napi, done);
		if (rx->wire->adaptive)
			wire_dim(rx);
	} else {
		wire_pass_merged(napi);
	}
	wire_serve(NULL);
	return done;
}

static void wire_rx_start(struct wire_rx *rx, struct wire *wire)
{
	rx->wire = wire;
	__skb_queue_head_init(&rx->ring);
	wire_setup_timer(&rx->interrupt, wire_interrupt);
	netif_napi_add(wire->dev, &rx->napi, wire_poll);
	napi_enable(&rx->napi);
	wire_dim_start(rx);
}

static void wire_rx_stop(struct wire_rx *rx)
{
	hrtimer_cancel(&rx->interrupt);
	napi_disable(&rx->napi);
	netif_napi_del(&rx->napi);
	__skb_queue_purge(&rx->ring);
}

void wire_nic_init(struct wire *wire)
{
	wire->rx_queues = 1;
}

int wire_nic_start(struct wire *wire)
{
	u32 number;

	if (wire->rx)
		return 0;
	wire->rx = kcalloc(wire->rx_queues, sizeof(*wire->rx), GFP_KERNEL);
	if (!wire->rx)
		return -ENOMEM;
	for (number = 0; number < wire->rx_queues; number++)
		wire_rx_start(&wire->rx[number], wire);
	return 0;
}

void wire_nic_stop(struct wire *wire)
{
	u32 number;

	if (!wire->rx)
		return;
	for (number = 0; number < wire->rx_queues; number++)
		wire_rx_stop(&wire->rx[number]);
	kfree(wire->rx);
	wire->rx = NULL;
}

/* -- ethtool ------------------------------------------------------------------------- */

static int wire_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *reasons)
{
	const struct wire *wire = netdev_priv(dev);

	coalesce->use_adaptive_rx_coalesce = wire->adaptive;
	coalesce->rx_coalesce_usecs =
		wire->adaptive && wire->rx ? wire_dim_usecs[wire->rx->dim.profile_ix] :
					     wire->rx_usecs;
	return 0;
}

static int wire_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);
	u32 number;

	wire->rx_usecs = coalesce->rx_coalesce_usecs;
	wire->adaptive = coalesce->use_adaptive_rx_coalesce;
	for (number = 0; wire->rx && number < wire->rx_queues; number++)
		wire_dim_start(&wire->rx[number]);
	return 0;
}

static void wire_get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	const struct wire *wire = netdev_priv(dev);

	channels->max_rx = WIRE_MOST_RX;
	channels->rx_count = wire->rx_queues;
	channels->max_tx = 1;
	channels->tx_count = 1;
}

static int wire_set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	struct wire *wire = netdev_priv(dev);

	if (netif_running(dev))
		return -EBUSY;
	wire->rx_queues = channels->rx_count;
	return 0;
}

static int wire_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_10000;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_TP;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

const struct ethtool_ops wire_ethtool = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | ETHTOOL_COALESCE_USE_ADAPTIVE_RX,
	.get_coalesce	= wire_get_coalesce,
	.set_coalesce	= wire_set_coalesce,
	.get_channels	= wire_get_channels,
	.set_channels	= wire_set_channels,
	.get_link	= ethtool_op_get_link,
	.get_link_ksettings	= wire_get_link_ksettings,
};
