/* SPDX-License-Identifier: MIT */
/*
 * How a program gets the relogger of relogger.h without COM. docs/relogging.md says what it does.
 *
 *	ITraceRelogger *relogger;
 *
 *	if (SUCCEEDED(EtwCreateTraceRelogger(&relogger)))
 *		...
 *
 * Context: any thread.
 */
#ifndef ETW_ETW_RELOGGER_H
#define ETW_ETW_RELOGGER_H

#include <relogger.h>

ETW_EXTERN_C_BEGIN

/*
 * EtwCreateTraceRelogger() - a new relogger.
 *
 * @ret: gets it, with one reference
 *
 * Returns S_OK; E_POINTER: @ret is NULL; E_OUTOFMEMORY.
 */
ETW_API HRESULT STDMETHODCALLTYPE EtwCreateTraceRelogger(ITraceRelogger **ret);

/*
 * EtwCreateInstance() - a new object of a class, as CoCreateInstance() makes it within the process.
 *
 * @class_id:  CLSID_CTraceRelogger is the only one that there is
 * @interface_id: IID_ITraceRelogger or IID_IUnknown
 * @ret:       gets the interface, with one reference; NULL when there is none
 *
 * Returns S_OK; E_POINTER: @ret is NULL; E_INVALIDARG: @class_id or @interface_id is NULL; REGDB_E_CLASSNOTREG: another
 * class; E_NOINTERFACE: another interface; E_OUTOFMEMORY.
 */
ETW_API HRESULT STDMETHODCALLTYPE EtwCreateInstance(REFCLSID class_id, REFIID interface_id, void **ret);

ETW_EXTERN_C_END

#endif
