/* SPDX-License-Identifier: MIT */
/*
 * The GUIDs that the public headers declare. All weak: a program that defines its own copies
 * (INITGUID) links, and its copies win.
 */
#define INITGUID
#define ETW_DEFINE_COM_GUIDS

#pragma GCC visibility push(default)
#include <evntrace.h>
#include <relogger.h>
#include <unknwn.h>
#pragma GCC visibility pop
