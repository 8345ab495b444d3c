# shellcheck shell=bash
# The artefact cache, sourced by the build scripts beside it. An artefact is a directory <cache>/<kind>/<key>; the key
# is a hash of the sources that it is made from; it appears by one rename when it is whole, so that an interrupted build
# leaves nothing behind that could be mistaken for one. Compilers are not in the key, so that an artefact can be named,
# and used, where there are none: what it was made by stands in its file `version`.

# Without it a failure inside $(...) would go on, and publish what is half made.
shopt -s inherit_errexit

cache_root() {
  local parent=${XDG_CACHE_HOME:-}
  if [ -z "$parent" ] && [ -n "${HOME:-}" ]; then parent=$HOME/.cache; fi
  case $parent in
    /*) printf '%s/fabriclab\n' "${parent%/}" ;;
    '')
      echo "HOME is not set, so the virtual machine's files have no place: set HOME, or XDG_CACHE_HOME to a directory of your own" >&2
      return 1
      ;;
    *)
      echo "\"$parent\" is no absolute path, so the virtual machine's files have no place: set XDG_CACHE_HOME (or HOME) to one" >&2
      return 1
      ;;
  esac
}

# cache_key TEXT FILE...: 16 hex digits from a text (versions, options) and the contents and names of files, independent
# of where they lie.
cache_key() {
  local text=$1 hash file
  shift
  {
    printf '%s\n' "$text"
    # One process for all files: every run asks for the keys.
    sha256sum -- "$@" | while read -r hash file; do printf '%s %s\n' "$hash" "${file##*/}"; done
  } | sha256sum | cut -c1-16
}

# cache_directory DIR: makes a directory of the cache, and says what helps where it can't be made.
cache_directory() {
  if ! mkdir -p "$1" || [ ! -w "$1" ]; then
    echo "$1 can't be written: XDG_CACHE_HOME names another place for the virtual machine's files" >&2
    return 1
  fi
}

# cache_make KIND KEY COMMAND...: runs COMMAND with one more argument, an empty directory, unless the artefact is there;
# publishes the directory when COMMAND succeeds; prints the artefact's path. One builder at a time; a second one waits
# and finds it done.
cache_make() {
  local kind=$1 key=$2 final partial lock
  shift 2
  final=$(cache_root)/$kind/$key
  if [ ! -d "$final" ]; then
    cache_directory "${final%/*}"
    exec {lock}>"$final.lock"
    flock "$lock"
    if [ ! -d "$final" ]; then
      # Who holds the lock is the only builder: these were left by one that was killed.
      rm -rf "$final".partial.*
      partial=$(mktemp -d "$final.partial.XXXXXX")
      # shellcheck disable=SC2064  # the path is wanted as it is now
      trap "$(printf 'rm -rf %q' "$partial")" EXIT
      # Whoever may reach the cache may read an artefact, whatever the builder's umask.
      (
        umask 022
        "$@" "$partial" >&2
      )
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
