/* SPDX-License-Identifier: MIT */
/* Names of sessions are the same when they differ in case only. */
#ifndef ETW_DAEMON_NAMES_H
#define ETW_DAEMON_NAMES_H

/*
 * etwd_name_fold() - what names that mean the same session have in common.
 *
 * @name: UTF-8
 *
 * Returns 0 with an owned string; -EINVAL: no UTF-8; -ENOMEM. Context: owner thread.
 */
int etwd_name_fold(const char *name, char **ret);

#endif
