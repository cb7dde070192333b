#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A TMF file and a PDB that cannot be read are named with the place.
"$MAKE_TRACE" --preset wpp wpp.etl
printf '%s\n#typev a 10 x\n' 1d0c5d2b-3c4d-4a5b-8c07-060504030201 >bad.tmf
"$ETW" summary --manifest bad.tmf wpp.etl || true
printf 'MZ' >bad.pdb
"$ETW" summary --manifest bad.pdb wpp.etl
