/* SPDX-License-Identifier: MIT */
/* Structures from here to poppack.h are packed to 1; included without a guard, as often as wanted. */
#pragma pack(push, 1)
