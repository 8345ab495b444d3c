# shellcheck shell=bash
# What the scripts that make layers (layer.sh, jars.sh) have in common, sourced by them after cache.sh: how they are
# asked, and how they answer.

# say TEXT: for people; fabriclab passes such lines on.
say() { printf 'layer: %s\n' "$*" >&2; }

# asked USAGE LEAST ARGUMENT...: ends the script with its usage, unless it has at least so many arguments and the first
# one is `build` or `where`.
asked() {
  local usage=$1 least=$2
  shift 2
  case ${1:-} in
    build | where) if [ $# -ge "$least" ]; then return; fi ;;
  esac
  echo "usage: $usage" >&2
  exit 2
}

# answer build|where RECIPE: the layer's path, which make_layer makes where it is missing; or where it lies, if it does.
answer() {
  case $1 in
    build) cache_make layers "$2" make_layer ;;
    where) cache_find layers "$2" ;;
  esac
}
