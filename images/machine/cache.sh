# shellcheck shell=bash
# The artefact cache, sourced by the build scripts beside it. An artefact is a directory <cache>/<kind>/<key>; the key is a hash of
# everything that it is made from; it appears by one rename when it is whole, so that an interrupted build leaves nothing behind that
# could be mistaken for one.

cache_root() { printf '%s/fabriclab\n' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# cache_key TEXT FILE...: 16 hex digits from a text (versions, options) and the contents and names of files, independent of where they lie.
cache_key() {
  local text=$1 file
  shift
  {
    printf '%s\n' "$text"
    for file in "$@"; do
      printf '%s %s\n' "$(sha256sum <"$file")" "${file##*/}"
    done
  } | sha256sum | cut -c1-16
}

# cache_make KIND KEY COMMAND...: runs COMMAND with one more argument, an empty directory, unless the artefact is there; publishes the
# directory when COMMAND succeeds; prints the artefact's path. One builder at a time; a second one waits and finds it done.
cache_make() {
  local kind=$1 key=$2 final partial lock
  shift 2
  final=$(cache_root)/$kind/$key
  if [ ! -d "$final" ]; then
    mkdir -p "${final%/*}"
    exec {lock}>"$final.lock"
    flock "$lock"
    if [ ! -d "$final" ]; then
      partial=$(mktemp -d "$final.partial.XXXXXX")
      # shellcheck disable=SC2064  # the path is wanted as it is now
      trap "rm -rf '$partial'" EXIT
      "$@" "$partial" >&2
      chmod 755 "$partial"
      mv -T "$partial" "$final"
      trap - EXIT
    fi
    exec {lock}>&-
    rm -f "$final.lock"
  fi
  printf '%s\n' "$final"
}

# cache_find KIND KEY: the artefact's path if it is there, else nothing.
cache_find() {
  local final
  final=$(cache_root)/$1/$2
  if [ -d "$final" ]; then printf '%s\n' "$final"; fi
}
