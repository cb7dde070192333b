/* SPDX-License-Identifier: MIT */
/* Providers in a registry of the tests' own: the folder that ETW_PROVIDERS_DIR names. */
#ifndef ETW_TESTS_CONFORMANCE_TDH_REGISTERED_H
#define ETW_TESTS_CONFORMANCE_TDH_REGISTERED_H

#include "wire/registry.h"

/* registered_import() - registers a definition. @text: a NUL ends it */
void registered_import(const char *folder, enum wire_registry_kind kind, const char *text);

#endif
