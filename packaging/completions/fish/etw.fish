# SPDX-License-Identifier: MIT
# Completion of etw for fish; belongs into share/fish/vendor_completions.d/. What may stand where, etw itself
# says (`etw complete`).

function __etw_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l prefix ''
    # --provider=NAME is two words for etw.
    if string match -qr '^--[a-z-]+=' -- $current
        set -l parts (string split -m 1 = -- $current)
        set prefix $parts[1]=
        set -a before $parts[1]
        set current $parts[2]
    end
    set -l lines (command $before[1] complete (count $before) $before $current 2>/dev/null)
    for line in $lines
        switch $line
            case :nothing
            case :files
                __fish_complete_path $prefix$current
            case :commands
                if set -l at (contains -i -- -- $before)
                    and test $at -lt (count $before)
                    __fish_complete_subcommand --fcs-skip=$at
                else
                    __fish_complete_command
                end
            case '*'
                printf '%s\n' $prefix$line
        end
    end
end

complete -c etw -f -a '(__etw_complete)'
