/* SPDX-License-Identifier: MIT */
/* Names that both ends of the conversation know without asking. */
#ifndef ETW_WIRE_WELL_KNOWN_H
#define ETW_WIRE_WELL_KNOWN_H

/* The GUID of "NT Kernel Logger", as an initialiser: the public name is a symbol that few modules link. */
#define WIRE_KERNEL_LOGGER_GUID                                        \
	{                                                              \
		0x9e814aad, 0x3204, 0x11d2,                            \
		{                                                      \
			0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39 \
		}                                                      \
	}

/* The group whose members control the system's sessions. */
#define WIRE_CONTROL_GROUP "etwlog"

#endif
