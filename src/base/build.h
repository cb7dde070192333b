/* SPDX-License-Identifier: MIT */
/* What was built, and what was left out of it. Its source is made by cmake/Components.cmake, which knows. */
#ifndef ETW_BASE_BUILD_H
#define ETW_BASE_BUILD_H

/*
 * etw_build_components() - what the end of the configuration listed, for `--version`.
 *
 * Returns static text of one line for each component, "name: in" or "name: left out: reason".
 */
const char *etw_build_components(void);

#endif
