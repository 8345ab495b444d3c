// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI bus without a device, for programs that look what is there: perftest asks
 * libpci, which ends a program where there is no /sys/bus/pci.
 */
#include <linux/device/bus.h>
#include <linux/init.h>

static const struct bus_type no_pci = { .name = "pci" };

static int __init no_pci_init(void)
{
	return bus_register(&no_pci);
}
postcore_initcall(no_pci_init);
