/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion notification messages of QCN, which switches send and NICs obey. */
#ifndef _LINUX_IF_CNM_H
#define _LINUX_IF_CNM_H

#define ETH_P_CNM 0x22e7	/* IEEE 802.1Qau, table 33-1 */

#endif
