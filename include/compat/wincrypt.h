/* SPDX-License-Identifier: MIT */
/* Programs that trace include it for nothing but its types; there is no cryptography. */
#ifndef ETW_COMPAT_WINCRYPT_H
#define ETW_COMPAT_WINCRYPT_H

#include <winbase.h>

typedef ULONG_PTR HCRYPTPROV, HCRYPTKEY, HCRYPTHASH;
typedef UINT ALG_ID;
typedef struct _CRYPTOAPI_BLOB {
	DWORD cbData;
	BYTE *pbData;
} CRYPT_INTEGER_BLOB, *PCRYPT_INTEGER_BLOB, CRYPT_DATA_BLOB, *PCRYPT_DATA_BLOB, DATA_BLOB,
	*PDATA_BLOB;

#define PROV_RSA_FULL       1
#define PROV_RSA_AES        24
#define CRYPT_VERIFYCONTEXT 0xF0000000U

ETW_EXTERN_C_BEGIN
BOOL WINAPI CryptAcquireContextW(HCRYPTPROV *phProv, LPCWSTR szContainer, LPCWSTR szProvider,
				 DWORD dwProvType, DWORD dwFlags)
	ETW_NOT_HERE("CryptAcquireContext: use getrandom() for random bytes, and a library such as OpenSSL for the rest");
BOOL WINAPI CryptAcquireContextA(HCRYPTPROV *phProv, LPCSTR szContainer, LPCSTR szProvider,
				 DWORD dwProvType, DWORD dwFlags)
	ETW_NOT_HERE("CryptAcquireContext: use getrandom() for random bytes, and a library such as OpenSSL for the rest");
ETW_EXTERN_C_END

#define CryptAcquireContext ETW_AW(CryptAcquireContext)
#endif
