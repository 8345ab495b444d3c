#!/bin/sh
# Says what the image of a SONiC node is and has, one NAME=VALUE a line. usage: probe.sh WHAT...
# WHAT: a file by its path, or a program by its name; what the image lacks of them is said.
set -u
version=/etc/sonic/sonic_version.yml
for name in release branch build_version; do
  echo "$name=$(sed -n "s/^$name: *//p" "$version" 2>/dev/null | tr -d "'\"" | head -n 1)"
done
hwsku=/usr/share/sonic/device/${PLATFORM:-}/${HWSKU:-}
echo "hwsku=$hwsku"
for what in "$version" "$hwsku/sai.profile" "$@"; do
  case $what in
    /*) [ -e "$what" ] ;;
    *) command -v "$what" >/dev/null ;;
  esac || echo "lacks=$what"
done
cat /etc/supervisor/conf.d/*.conf 2>/dev/null | sed -n 's/^\[program:\(.*\)\]$/program=\1/p'
