/* SPDX-License-Identifier: MIT */
/*
 * GUIDs. With INITGUID, DEFINE_GUID emits a weak definition, otherwise a declaration. libetw
 * exports the GUIDs that its headers name, weak too, so that a program may bring its own copies.
 */
#ifndef ETW_GUIDDEF_H
#define ETW_GUIDDEF_H

#include <stdint.h>
#include <string.h>

#ifndef EXTERN_C
#ifdef __cplusplus
#define EXTERN_C extern "C"
#else
#define EXTERN_C extern
#endif
#endif

#ifndef GUID_DEFINED
#define GUID_DEFINED
typedef struct _GUID {
	uint32_t Data1;
	uint16_t Data2;
	uint16_t Data3;
	uint8_t Data4[8];
} GUID;
#endif

typedef GUID *LPGUID, *PGUID;
typedef const GUID *LPCGUID, *PCGUID;
typedef GUID IID, *LPIID;
typedef GUID CLSID, *LPCLSID;
typedef GUID FMTID, *LPFMTID;
typedef GUID UUID;

#ifdef __cplusplus
#define REFGUID const GUID &
#define REFIID const IID &
#define REFCLSID const IID &
#define REFFMTID const IID &
#else
#define REFGUID const GUID *
#define REFIID const IID *
#define REFCLSID const IID *
#define REFFMTID const IID *
#endif

#ifdef __cplusplus
static inline int InlineIsEqualGUID(const GUID &rguid1, const GUID &rguid2)
{
	return !memcmp(&rguid1, &rguid2, sizeof(GUID));
}

static inline int IsEqualGUID(const GUID &rguid1, const GUID &rguid2)
{
	return !memcmp(&rguid1, &rguid2, sizeof(GUID));
}

static inline bool operator==(const GUID &rguid1, const GUID &rguid2)
{
	return !memcmp(&rguid1, &rguid2, sizeof(GUID));
}

static inline bool operator!=(const GUID &rguid1, const GUID &rguid2)
{
	return !(rguid1 == rguid2);
}
#else
#define InlineIsEqualGUID(rguid1, rguid2) (!memcmp((rguid1), (rguid2), sizeof(GUID)))
#define IsEqualGUID(rguid1, rguid2) (!memcmp((rguid1), (rguid2), sizeof(GUID)))
#endif

#define IsEqualIID(riid1, riid2) IsEqualGUID(riid1, riid2)
#define IsEqualCLSID(rclsid1, rclsid2) IsEqualGUID(rclsid1, rclsid2)
#define IsEqualFMTID(rfmtid1, rfmtid2) IsEqualGUID(rfmtid1, rfmtid2)

/* A definition that gives way to the program's own, whatever INITGUID says. */
#define ETW_WEAK_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                           \
	EXTERN_C const GUID name __attribute__((__weak__));                                      \
	const GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#define ETW_EXTERN_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) EXTERN_C const GUID name

#endif /* ETW_GUIDDEF_H */

/* Outside the include guard: INITGUID may have been defined since the last inclusion. */
#undef DEFINE_GUID
#undef EXTERN_GUID
#ifdef INITGUID
#define DEFINE_GUID ETW_WEAK_GUID
#define EXTERN_GUID ETW_WEAK_GUID
#else
#define DEFINE_GUID ETW_EXTERN_GUID
#define EXTERN_GUID ETW_EXTERN_GUID
#endif
