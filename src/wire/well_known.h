/* SPDX-License-Identifier: MIT */
/* Names and GUIDs that are known without asking; those of the kernel's classes stand in wire/class_guids.h. */
#ifndef ETW_WIRE_WELL_KNOWN_H
#define ETW_WIRE_WELL_KNOWN_H

/* A GUID as an initialiser. */
#define WIRE_GUID(data1, data2, data3, b0, b1, b2, b3, b4, b5, b6, b7) \
	{                                                              \
		data1, data2, data3,                                   \
		{                                                      \
			b0, b1, b2, b3, b4, b5, b6, b7                 \
		}                                                      \
	}

/* "NT Kernel Logger": the public name is a symbol that few modules link. */
#define WIRE_KERNEL_LOGGER_GUID \
	WIRE_GUID(0x9e814aad, 0x3204, 0x11d2, 0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39)

/* The other session of a fixed name */
#define WIRE_CONTEXT_LOGGER_NAME "Circular Kernel Context Logger"
#define WIRE_CONTEXT_LOGGER_GUID \
	WIRE_GUID(0x54dea73a, 0xed1f, 0x42a4, 0xaf, 0x71, 0x3e, 0x63, 0xd0, 0x56, 0xf1, 0x74)

/* "GlobalLogger", which the host starts from a file of configuration. */
#define WIRE_GLOBAL_LOGGER_GUID \
	WIRE_GUID(0xe8908abc, 0xaa84, 0x11d2, 0x9a, 0x93, 0x00, 0x80, 0x5f, 0x85, 0xd7, 0xc6)

/* DefaultTraceSecurityGuid: its descriptor holds for sessions and providers that have none of their own. */
#define WIRE_DEFAULT_SECURITY_GUID \
	WIRE_GUID(0x0811c1af, 0x7a07, 0x4a06, 0x82, 0xed, 0x86, 0x94, 0x55, 0xcd, 0xf7, 0x13)

/* Microsoft-Windows-Kernel-Process, -Network, -Disk, -File, -Memory */
#define WIRE_PROVIDER_KERNEL_PROCESS \
	WIRE_GUID(0x22fb2cd6, 0x0e7b, 0x422b, 0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16)
#define WIRE_PROVIDER_KERNEL_NETWORK \
	WIRE_GUID(0x7dd42a49, 0x5329, 0x4832, 0x8d, 0xfd, 0x43, 0xd9, 0x79, 0x15, 0x3a, 0x88)
#define WIRE_PROVIDER_KERNEL_DISK \
	WIRE_GUID(0xc7bde69a, 0xe1e0, 0x4177, 0xb6, 0xef, 0x28, 0x3a, 0xd1, 0x52, 0x52, 0x71)
#define WIRE_PROVIDER_KERNEL_FILE \
	WIRE_GUID(0xedd08927, 0x9cc4, 0x4e65, 0xb9, 0x70, 0xc2, 0x56, 0x0f, 0xb5, 0xc2, 0x89)
#define WIRE_PROVIDER_KERNEL_MEMORY \
	WIRE_GUID(0xd1d93ef7, 0xe1f2, 0x4f45, 0x99, 0x43, 0x03, 0xd2, 0x45, 0xfe, 0x6c, 0x00)

/* Microsoft-Windows-DotNETRuntime, Microsoft-Windows-DotNETRuntimePrivate */
#define WIRE_PROVIDER_DOTNET_RUNTIME \
	WIRE_GUID(0xe13c0d23, 0xccbc, 0x4e12, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4)
#define WIRE_PROVIDER_DOTNET_PRIVATE \
	WIRE_GUID(0x763fd754, 0x7086, 0x4dfe, 0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca)

/* The group whose members control the system's sessions. */
#define WIRE_CONTROL_GROUP "etwlog"

#endif
