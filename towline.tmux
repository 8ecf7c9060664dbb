#!/bin/sh
# The entry for tmux plugin managers: brings Towline into the server that runs this.
# Never fails, and never holds up the start of tmux: what is wrong is said in the status line.

say() {
    tmux display-message "towline: $1" >/dev/null 2>&1
    exit 0
}

for tow in "$(command -v tow)" "$HOME/.cargo/bin/tow" "$HOME/.local/bin/tow"; do
    if [ -n "$tow" ] && [ -x "$tow" ]; then
        "$tow" tmux load >/dev/null 2>&1 || say "could not be loaded; run: tow doctor"
        exit 0
    fi
done
say "the program tow is not installed; run install.sh in the plugin's folder, then reload tmux"
