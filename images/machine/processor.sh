# shellcheck shell=bash
# What processor the machine needs, sourced by what builds it and what it is built with.

# require_processor: tells at once, before anything is fetched or built for nothing, that another one won't do.
require_processor() {
  local processor
  processor=$(uname -m)
  if [ "$processor" != x86_64 ]; then
    echo "this computer's processor is $processor: fabriclab's virtual machine is built for x86-64 (x86_64) only; use a computer that has one" >&2
    return 1
  fi
}
