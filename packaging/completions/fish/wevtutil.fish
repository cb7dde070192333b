# SPDX-License-Identifier: MIT
# Completion of wevtutil for fish; belongs into share/fish/vendor_completions.d/.

function __wevtutil_installed
    set -l before (commandline -opc)
    command $before[1] ep 2>/dev/null
end

function __wevtutil_verb_is
    set -l before (commandline -opc)
    test (count $before) -gt 1; and contains -- $before[2] $argv
end

complete -c wevtutil -f
complete -c wevtutil -n 'test (count (commandline -opc)) -eq 1' \
    -a 'ep gp im um enum-publishers get-publisher install-manifest uninstall-manifest'
complete -c wevtutil -F -n '__wevtutil_verb_is im install-manifest' -a '/rf: /mf: /pf:'
complete -c wevtutil -F -n '__wevtutil_verb_is um uninstall-manifest' -a '(__wevtutil_installed)'
complete -c wevtutil -n '__wevtutil_verb_is gp get-publisher' -a '(__wevtutil_installed)'
complete -c wevtutil -n '__wevtutil_verb_is gp get-publisher' -a '/ge /gm /f:'
