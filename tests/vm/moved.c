// SPDX-License-Identifier: GPL-2.0
/*
 * Reno by another name, whose module moves what the kernel gives out later: memory of each
 * size, numbers of files in /proc, and one more file there for each network namespace.
 *
 * It is refused where what the kernel draws once follows the address of the variable that
 * it is drawn for: each kernel that is built has other addresses.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#define SIZES 12

static void *taken[SIZES];

static u64 one_secret(void)
{
	static u64 secret;

	net_get_random_once(&secret, sizeof(secret));
	return secret;
}

static u64 another_secret(void)
{
	static u64 secret;

	net_get_random_once(&secret, sizeof(secret));
	return secret;
}

static int show_nothing(struct seq_file *file, void *unused)
{
	return 0;
}

static int __net_init take_file(struct net *network)
{
	if (!proc_create_net_single("moved", 0444, network->proc_net, show_nothing, NULL))
		return -ENOMEM;
	return 0;
}

static void __net_exit give_back_file(struct net *network)
{
	remove_proc_entry("moved", network->proc_net);
}

static struct pernet_operations files = {
	.init	= take_file,
	.exit	= give_back_file,
};

static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops mine __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= mine_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "mine",
};

static int __init mine_register(void)
{
	int size, status;

	if (one_secret() != another_secret())
		return -EINVAL;
	for (size = 0; size < SIZES; size++)
		taken[size] = kmalloc(8UL << size, GFP_KERNEL);
	status = register_pernet_subsys(&files);
	return status ?: tcp_register_congestion_control(&mine);
}
module_init(mine_register);

MODULE_DESCRIPTION("Reno, and a kernel whose memory lies elsewhere");
MODULE_LICENSE("GPL");
