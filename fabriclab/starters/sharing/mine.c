// SPDX-License-Identifier: GPL-2.0
/*
 * mine: how the queues of a switch share its memory, a policy of your own to begin with.
 *
 * It is the dynamic threshold of Choudhury and Hahne, alpha times the pool's free memory,
 * divided by the number of congested queues: all of them together then hold what one
 * alone would. ABM (`sharing: abm`) also looks at how fast a queue drains.
 *
 * The function is called for each frame that comes or leaves. What it may look at, struct
 * switch_sharing_view, is explained in <net/switch_sharing.h>.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <net/switch_sharing.h>

/* The queue's threshold in cells: a frame is admitted if the queue holds less. */
static u64 mine_threshold(const struct switch_sharing_view *view)
{
	u64 share = view->alpha_log < 0 ? view->free >> -view->alpha_log :
					  view->free << view->alpha_log;

	return div_u64(share, max(view->congested, 1U));
}

static struct switch_sharing_ops mine_ops = {
	/* At most 15 characters. */
	.name		= "mine",
	.threshold	= mine_threshold,
};

static int __init mine_register(void)
{
	return register_switch_sharing(&mine_ops);
}

module_init(mine_register);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A sharing policy to begin with");
