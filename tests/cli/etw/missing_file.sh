# SPDX-License-Identifier: MIT
# A file that is not there.
"$ETW" missing.etl
