#!/bin/sh
# Starts a process of the run in its container. usage: start.sh COMMAND...
# Says its process number, waits for the epoch on standard input, and becomes the command: what takes long is over
# before the epoch is chosen.
echo "$$"
read -r FABRICLAB_EPOCH_NS || exit 1
export FABRICLAB_EPOCH_NS
exec "$@" </dev/null
