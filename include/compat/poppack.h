/* SPDX-License-Identifier: MIT */
/* Ends what a pshpack header began. */
#pragma pack(pop)
