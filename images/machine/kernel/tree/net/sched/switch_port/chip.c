// SPDX-License-Identifier: GPL-2.0
/*
 * The chip of a network namespace: made with its first port, gone with its last.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "switch.h"

static unsigned int switch_net_id;

struct switch_net {
	struct switch_chip *chip;	/* under RTNL */
};

/* -- Time -------------------------------------------------------------------------------------- */

static void switch_chip_advance(struct switch_chip *chip)
{
	struct timerqueue_node *next;

	chip->kicked = false;
	while ((next = timerqueue_getnext(&chip->events)) &&
	       ktime_to_ns(next->expires) <= chip->now)
		switch_port_run(container_of(next, struct switch_port, event),
				ktime_to_ns(next->expires));
}

/* Brings all ports up to `now`, which is before the next timer of the machine. */
void switch_chip_advance_to(struct switch_chip *chip, u64 now)
{
	chip->now = now;
	switch_chip_advance(chip);
}

/* Takes the lock, brings all ports up to the present and returns what that is. */
u64 switch_chip_lock(struct switch_chip *chip)
{
	spin_lock_bh(&chip->lock);
	chip->now = ktime_get_ns();
	switch_chip_advance(chip);
	return chip->now;
}

static void switch_chip_arm(struct switch_chip *chip)
{
	struct timerqueue_node *next = timerqueue_getnext(&chip->events);

	if (!next)
		return;
	if (hrtimer_is_queued(&chip->timer) && hrtimer_get_expires(&chip->timer) == next->expires)
		return;
	hrtimer_start(&chip->timer, next->expires, HRTIMER_MODE_ABS_PINNED_SOFT);
}

void switch_chip_unlock(struct switch_chip *chip)
{
	if (chip->kicked)
		switch_chip_advance(chip);
	if (chip->urgent)
		switch_chip_arm(chip);
	spin_unlock_bh(&chip->lock);
}

static enum hrtimer_restart switch_chip_timer(struct hrtimer *timer)
{
	struct switch_chip *chip = container_of(timer, struct switch_chip, timer);

	switch_chip_lock(chip);
	switch_chip_unlock(chip);
	return HRTIMER_NORESTART;
}

static void switch_chip_setup_timer(struct switch_chip *chip)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&chip->timer, switch_chip_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
#else
	hrtimer_init(&chip->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	chip->timer.function = switch_chip_timer;
#endif
}

/* -- Ingress ports ----------------------------------------------------------------------------- */

static struct switch_ingress *switch_ingress_new(void)
{
	struct switch_ingress *ingress = kzalloc(sizeof(*ingress), GFP_KERNEL);
	int group;

	if (!ingress)
		return NULL;
	for (group = 0; group < SWITCH_QUEUES; group++) {
		ingress->group[group].memory.pool = TC_SWITCH_NO_POOL;
		ingress->group[group].memory.account.limit.cells = SWITCH_UNLIMITED;
	}
	return ingress;
}

static bool switch_ingress_in_use(const struct switch_chip *chip,
				  const struct switch_ingress *ingress)
{
	int group;

	if (ingress->port)
		return true;
	for (group = 0; group < SWITCH_QUEUES; group++)
		if (switch_held(chip, ingress->group[group].account))
			return true;
	return false;
}

/* A slot for another port, or 0. That of a port that is gone with all its frames is taken anew. */
static int switch_chip_find_slot(struct switch_chip *chip)
{
	int slot;

	for (slot = SWITCH_CPU_SLOT + 1; slot < SWITCH_SLOTS; slot++)
		if (!chip->ingress[slot] || !switch_ingress_in_use(chip, chip->ingress[slot]))
			return slot;
	return 0;
}

static int switch_chip_add_ingress(struct switch_chip *chip, struct switch_port *port,
				   struct netlink_ext_ack *extack)
{
	struct switch_ingress *ingress = switch_ingress_new(), *before;
	int slot, error;

	if (!ingress)
		return -ENOMEM;
	switch_chip_lock(chip);
	slot = switch_chip_find_slot(chip);
	switch_chip_unlock(chip);
	if (!slot) {
		NL_SET_ERR_MSG(extack, "the switch has as many ports as it can have");
		kfree(ingress);
		return -ENOSPC;
	}
	ingress->ifindex = qdisc_dev(port->sch)->ifindex;
	ingress->slot = slot;
	ingress->port = port;
	error = xa_err(xa_store(&chip->slots, ingress->ifindex, xa_mk_value(slot), GFP_KERNEL));
	if (error) {
		kfree(ingress);
		return error;
	}
	switch_chip_lock(chip);
	before = chip->ingress[slot];
	chip->ingress[slot] = ingress;
	switch_chip_unlock(chip);
	kfree(before);
	port->ingress = ingress;
	return 0;
}

/* -- Life -------------------------------------------------------------------------------------- */

static struct switch_chip *switch_chip_new(struct net *net)
{
	struct switch_chip *chip = kvzalloc(sizeof(*chip), GFP_KERNEL);

	if (!chip)
		return NULL;
	chip->ingress[SWITCH_CPU_SLOT] = switch_ingress_new();
	if (!chip->ingress[SWITCH_CPU_SLOT]) {
		kvfree(chip);
		return NULL;
	}
	spin_lock_init(&chip->lock);
	chip->net = net;
	chip->cell_bytes = 1;
	chip->slices = 1;
	timerqueue_init_head(&chip->events);
	xa_init(&chip->slots);
	switch_chip_setup_timer(chip);
	return chip;
}

static void switch_chip_free(struct switch_chip *chip)
{
	int slot;

	hrtimer_cancel(&chip->timer);
	for (slot = 0; slot < SWITCH_SLOTS; slot++)
		kfree(chip->ingress[slot]);
	xa_destroy(&chip->slots);
	/* A pause that is being received may still look for the port. */
	kvfree_rcu(chip, rcu);
}

/* Makes `port` one of the chip of its device's namespace. Under RTNL. */
struct switch_chip *switch_chip_join(struct switch_port *port, struct netlink_ext_ack *extack)
{
	struct net *net = dev_net(qdisc_dev(port->sch));
	struct switch_net *here = net_generic(net, switch_net_id);
	struct switch_chip *chip = here->chip ?: switch_chip_new(net);
	int error;

	if (!chip)
		return ERR_PTR(-ENOMEM);
	error = switch_chip_add_ingress(chip, port, extack);
	if (error) {
		if (!chip->ports)
			switch_chip_free(chip);
		return ERR_PTR(error);
	}
	chip->ports++;
	here->chip = chip;
	return chip;
}

/* The opposite. */
void switch_chip_leave(struct switch_port *port)
{
	struct switch_chip *chip = port->chip;
	struct switch_net *here = net_generic(chip->net, switch_net_id);
	u64 now;

	now = switch_chip_lock(chip);
	port->ingress->port = NULL;
	switch_port_reset(port, now);
	WRITE_ONCE(port->chip, NULL);
	switch_chip_unlock(chip);
	/* The device may have a new port already. */
	xa_cmpxchg(&chip->slots, port->ingress->ifindex, xa_mk_value(port->ingress->slot), NULL,
		   GFP_KERNEL);
	if (--chip->ports)
		return;
	here->chip = NULL;
	switch_chip_free(chip);
}

static struct pernet_operations switch_net_operations = {
	.id = &switch_net_id,
	.size = sizeof(struct switch_net),
};

int switch_chips_register(void)
{
	return register_pernet_subsys(&switch_net_operations);
}
