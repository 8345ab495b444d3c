// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion controls of RoCE NICs (net/roce_control.h): which there are, their options,
 * and what a pair tells its own.
 */
#include <net/netlink.h>
#include <net/own_qdisc.h>

#include "../change.h"

static LIST_HEAD(controls);

/* -- Which there are. Under RTNL ------------------------------------------------------------------ */

static u32 count_options(const struct roce_control *control)
{
	u32 count = 0;

	while (control->options && control->options[count].word)
		count++;
	return count;
}

const struct roce_control *roce_control_find(const char *name)
{
	const struct roce_control *control;

	list_for_each_entry(control, &controls, list)
		if (!strcmp(control->name, name))
			return control;
	return NULL;
}

int roce_control_register(struct roce_control *control)
{
	int error = 0;

	if (!control->name[0] || !control->begin || !control->next != !control->advance ||
	    count_options(control) > ROCE_CONTROL_OPTIONS)
		return -EINVAL;
	rtnl_lock();
	if (roce_control_find(control->name))
		error = -EEXIST;
	else
		list_add_tail(&control->list, &controls);
	rtnl_unlock();
	return error;
}
EXPORT_SYMBOL_GPL(roce_control_register);

void roce_control_unregister(struct roce_control *control)
{
	rtnl_lock();
	list_del(&control->list);
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(roce_control_unregister);

/* -- Options -------------------------------------------------------------------------------------- */

static int check_options(struct switch_change *change)
{
	const struct roce_config *config = &change->config.roce;
	u32 number, count = count_options(config->control);

	for (number = 0; number < count; number++) {
		const struct roce_control_option *option = &config->control->options[number];

		if (config->options[number] < option->least ||
		    config->options[number] > option->most)
			return switch_refuse(change, "%s's %s is %llu to %llu, not %llu",
					     config->control->name, option->word, option->least,
					     option->most, config->options[number]);
	}
	return 0;
}

int roce_control_parse(struct switch_change *change, const struct nlattr *words)
{
	struct roce_config *config = &change->config.roce;
	struct own_option known[ROCE_CONTROL_OPTIONS];
	u32 number, count = count_options(config->control);
	int error;

	BUILD_BUG_ON(ROCE_OPTIONS_MAX != OWN_OPTIONS_MAX);
	for (number = 0; number < count; number++) {
		config->options[number] = config->control->options[number].value;
		known[number] = (struct own_option) {
			.word = config->control->options[number].word,
			.value = &config->options[number],
		};
	}
	error = own_options(words, known, count, change->extack);
	return error ?: check_options(change);
}

int roce_control_dump(const struct roce_config *config, struct sk_buff *skb)
{
	char text[OWN_OPTIONS_MAX] = "";
	u32 number, length = 0, count;

	if (!config->control)
		return 0;
	count = count_options(config->control);
	for (number = 0; number < count; number++)
		length += scnprintf(text + length, sizeof(text) - length, "%s%s %llu",
				    number ? " " : "", config->control->options[number].word,
				    config->options[number]);
	return nla_put_string(skb, TCA_SWITCH_PORT_ROCE_CONTROL, config->control->name) ?:
	       nla_put_string(skb, TCA_SWITCH_PORT_ROCE_OPTIONS, text);
}

/* -- A pair's. Under the chip's lock -------------------------------------------------------------- */

static struct roce_config *config_of(const struct roce_pair *pair)
{
	return &pair->nic->port->config.roce;
}

/* What the control has decided is in bounds, whatever it has written. */
static void take_decision(struct roce_pair *pair)
{
	struct roce_flow *flow = &pair->flow;
	const struct roce_control *control = config_of(pair)->control;
	u64 packets = ROCE_WINDOW_MAX;

	flow->rate_bps = clamp(flow->rate_bps, 1, flow->line_bps);
	/* Without it an acknowledgement may not be on its way when the window falls. */
	if (control && control->has_window && flow->window_bytes != ROCE_NO_WINDOW)
		packets = clamp(DIV_ROUND_UP_ULL(flow->window_bytes, flow->mtu), 1, packets);
	pair->window = packets;
}

int roce_control_begin(struct roce_pair *pair)
{
	const struct roce_config *config = config_of(pair);
	u64 line_bps = pair->nic->port->config.rate_bps;

	pair->flow = (struct roce_flow) {
		.options = config->options,
		.line_bps = line_bps,
		.mtu = config->mtu,
		.rate_bps = line_bps,
		.window_bytes = ROCE_NO_WINDOW,
		.credit = ROCE_ANY_CREDIT,
	};
	if (config->control) {
		if (config->control->acknowledged) {
			pair->timings = kzalloc(sizeof(*pair->timings), GFP_KERNEL);
			if (!pair->timings)
				return -ENOMEM;
		}
		config->control->begin(&pair->flow);
	}
	take_decision(pair);
	return 0;
}

void roce_control_advance(const struct roce_config *config, struct roce_flow *flow, u64 now)
{
	if (config->control && config->control->advance)
		config->control->advance(flow, now);
}

void roce_control_run(struct roce_pair *pair, u64 now)
{
	const struct roce_control *control = config_of(pair)->control;

	if (!control || !control->advance)
		return;
	control->advance(&pair->flow, now);
	take_decision(pair);
}

u64 roce_control_next(const struct roce_pair *pair)
{
	const struct roce_control *control = config_of(pair)->control;

	return control && control->next ? control->next(&pair->flow) : ROCE_NEVER;
}

void roce_control_sent(struct roce_pair *pair, u32 bytes)
{
	const struct roce_control *control = config_of(pair)->control;

	if (!control || !control->sent)
		return;
	control->sent(&pair->flow, bytes);
	take_decision(pair);
}

void roce_control_notified(struct roce_pair *pair, u64 now)
{
	const struct roce_control *control = config_of(pair)->control;

	if (!control || !control->notified)
		return;
	roce_control_run(pair, now);
	control->notified(&pair->flow, now);
	take_decision(pair);
}

void roce_control_credited(struct roce_pair *pair, u32 packets)
{
	const struct roce_control *control = config_of(pair)->control;

	if (!control || !control->credited)
		return;
	control->credited(&pair->flow, packets);
	take_decision(pair);
}

/* Packets that are sent again may be acknowledged for either time they were sent. */
void roce_control_lost(struct roce_pair *pair, u64 now, bool timed_out)
{
	const struct roce_control *control = config_of(pair)->control;

	if (pair->timings)
		pair->timings->count = 0;
	if (!control || !control->lost)
		return;
	control->lost(&pair->flow, now, timed_out);
	take_decision(pair);
}

/* -- Round-trip times ----------------------------------------------------------------------------- */

void roce_control_time(struct roce_pair *pair, u64 now)
{
	struct roce_timings *timings = pair->timings;
	u32 place;

	if (!timings || timings->count == ROCE_TIMINGS || pair->next < pair->sent)
		return;
	place = (timings->first + timings->count++) % ROCE_TIMINGS;
	timings->packet[place] = pair->next;
	timings->time_ns[place] = now;
}

/* How long ago the packet of this number left, if it was timed; those before it are forgotten. */
static u64 take_timing(struct roce_timings *timings, u64 packet, u64 now)
{
	u64 rtt = 0;

	while (timings->count && timings->packet[timings->first] <= packet) {
		if (timings->packet[timings->first] == packet)
			rtt = now - timings->time_ns[timings->first];
		timings->first = (timings->first + 1) % ROCE_TIMINGS;
		timings->count--;
	}
	return rtt;
}

/* All before `number` have arrived, of which those from `before` on are news. */
void roce_control_acknowledged(struct roce_pair *pair, struct roce_acknowledgement *ack,
			       u64 number, u64 before)
{
	const struct roce_control *control = config_of(pair)->control;

	if (!control || !control->acknowledged || !number)
		return;
	ack->packet = number - 1;
	ack->next = pair->next;
	ack->packets = number > before ? number - before : 0;
	ack->rtt_ns = take_timing(pair->timings, ack->packet, ack->now);
	if (ack->rtt_ns)
		pair->rtt_ns = ack->rtt_ns;
	control->acknowledged(&pair->flow, ack);
	take_decision(pair);
}

extern struct roce_control roce_control_dcqcn, roce_control_hpcc, roce_control_timely,
	roce_control_swift, roce_control_credit;

int roce_controls_register(void)
{
	return roce_control_register(&roce_control_dcqcn) ?:
	       roce_control_register(&roce_control_hpcc) ?:
	       roce_control_register(&roce_control_timely) ?:
	       roce_control_register(&roce_control_swift) ?:
	       roce_control_register(&roce_control_credit);
}
