/* SPDX-License-Identifier: MIT */
/*
 * How a host that is being started tells the process that started it what became of it: 32-bit numbers in the
 * machine's own order, over a pipe whose number is in the environment variable. First ETW_START_BEGUN, as soon
 * as etwd runs; then 0 when the host accepts connections, or when another one serves the directory; or the
 * negative errno that keeps it from starting. A pipe that ends behind ETW_START_BEGUN was a host that something
 * killed. One that ends without a word was no etwd, or one that does not know of this.
 */
#ifndef ETW_IPC_START_REPORT_H
#define ETW_IPC_START_REPORT_H

#define ETW_START_REPORT_VARIABLE "ETWD_REPORT_FD"
#define ETW_START_REPORT_FD       4 /* 3 is the socket that systemd passes */
#define ETW_START_BEGUN           1

#endif
