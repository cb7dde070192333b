/* SPDX-License-Identifier: MIT */
/* Versions of Windows that a program may ask for in _WIN32_WINNT. All of this library is there whatever it asks for. */
#ifndef ETW_COMPAT_SDKDDKVER_H
#define ETW_COMPAT_SDKDDKVER_H

#define _WIN32_WINNT_NT4          0x0400
#define _WIN32_WINNT_WIN2K        0x0500
#define _WIN32_WINNT_WINXP        0x0501
#define _WIN32_WINNT_WS03         0x0502
#define _WIN32_WINNT_WIN6         0x0600
#define _WIN32_WINNT_VISTA        0x0600
#define _WIN32_WINNT_WS08         0x0600
#define _WIN32_WINNT_LONGHORN     0x0600
#define _WIN32_WINNT_WIN7         0x0601
#define _WIN32_WINNT_WIN8         0x0602
#define _WIN32_WINNT_WINBLUE      0x0603
#define _WIN32_WINNT_WINTHRESHOLD 0x0A00
#define _WIN32_WINNT_WIN10        0x0A00

#define NTDDI_WIN2K        0x05000000
#define NTDDI_WINXP        0x05010000
#define NTDDI_WS03         0x05020000
#define NTDDI_VISTA        0x06000000
#define NTDDI_VISTASP1     0x06000100
#define NTDDI_LONGHORN     NTDDI_VISTA
#define NTDDI_WS08         0x06000100
#define NTDDI_WIN7         0x06010000
#define NTDDI_WIN8         0x06020000
#define NTDDI_WINBLUE      0x06030000
#define NTDDI_WINTHRESHOLD 0x0A000000
#define NTDDI_WIN10        0x0A000000
#define NTDDI_WIN10_TH2    0x0A000001
#define NTDDI_WIN10_RS1    0x0A000002
#define NTDDI_WIN10_RS2    0x0A000003
#define NTDDI_WIN10_RS3    0x0A000004
#define NTDDI_WIN10_RS4    0x0A000005
#define NTDDI_WIN10_RS5    0x0A000006
#define NTDDI_WIN10_19H1   0x0A000007
#define NTDDI_WIN10_VB     0x0A000008

#ifndef _WIN32_WINNT
#define _WIN32_WINNT _WIN32_WINNT_WIN10
#endif
#ifndef NTDDI_VERSION
#define NTDDI_VERSION NTDDI_WIN10_VB
#endif
#ifndef WINVER
#define WINVER _WIN32_WINNT
#endif

#endif
