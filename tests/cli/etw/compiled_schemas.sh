#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PE files and WEVT_TEMPLATE resources are as good as manifests; in a folder, PE files without
# schemas are passed over.
files=$CASE_FOLDER/../../../fuzz/corpora/pe_parse
"$MAKE_TRACE" --preset plain plain.etl
mkdir folder
cp "$files/languages_64bit" folder/schemas.DLL
cp "$files/no_resources" folder/plain.exe
cp "$files/no_messages_32bit" "$files/resource_alone" .
cp "$files/only_messages" folder/messages.sys
"$ETW" summary --manifest folder plain.etl >folder.txt
"$ETW" summary --manifest no_messages_32bit plain.etl >file.txt
"$ETW" summary --manifest resource_alone plain.etl >resource.txt
cmp folder.txt file.txt && cmp folder.txt resource.txt
echo "file without schemas, named:"
cp folder/plain.exe plain.exe
"$ETW" summary --manifest plain.exe plain.etl || true
rm folder/schemas.DLL
"$ETW" summary --manifest folder plain.etl || true
head -c 1100 "$files/languages_64bit" >cut.dll
"$ETW" summary --manifest cut.dll plain.etl
