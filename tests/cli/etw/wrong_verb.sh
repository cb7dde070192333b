# SPDX-License-Identifier: MIT
# The nearest verb is suggested.
"$ETW" sumary
