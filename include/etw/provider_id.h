/* SPDX-License-Identifier: MIT */
/* The id of a provider that has only a name. In the provider's library; link with -letw-provider. */
#ifndef ETW_PROVIDER_ID_H
#define ETW_PROVIDER_ID_H

#include <etw/wintypes.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

/*
 * libetw_provider_id() - the id that TraceLogging and EventSource make of a provider's name.
 *
 * @name: UTF-8; letters of ASCII count in either case
 *
 * Returns 0; -EINVAL: name or ret is NULL; -EILSEQ: the name is no UTF-8; -ENOMEM.
 *
 * Context: any thread.
 */
ETW_API int libetw_provider_id(const char *name, GUID *ret);

ETW_EXTERN_C_END

#endif
