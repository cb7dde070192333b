# SPDX-License-Identifier: MIT
# Completion of etw-mc for fish; belongs into share/fish/vendor_completions.d/.

complete -c etw-mc -o um -d 'Macros for programs'
complete -c etw-mc -o km -d 'Macros for drivers'
complete -c etw-mc -o h -x -a '(__fish_complete_directories)' -d 'Folder of the header'
complete -c etw-mc -o r -x -a '(__fish_complete_directories)' -d 'Folder of the resources'
complete -c etw-mc -o z -x -d 'Base of all names'
complete -c etw-mc -o e -x -d 'Extension of the header'
complete -c etw-mc -o p -x -d 'Instead of EventWrite'
complete -c etw-mc -o P -x -d 'Taken off event symbols'
complete -c etw-mc -o co -d 'Call MCGEN_CALLOUT'
complete -c etw-mc -o b -d 'Names of message tables begin with the base'
complete -c etw-mc -o cp -x -a 'ansi utf-8 utf-16' -d 'Encoding of text files'
complete -c etw-mc -o m -x -d 'Warn of longer messages'
complete -c etw-mc -o n -d 'No line end behind messages'
complete -c etw-mc -o v -d 'Tell what is written'
complete -c etw-mc -l help -d 'Show the options'
complete -c etw-mc -l version -d 'Show the version'
