# shellcheck shell=bash
# The artefact cache, sourced by the build scripts beside it. An artefact is a directory <cache>/<kind>/<contents key>.
# Its file `contents` lists what went into it (contents.sh), and the key is the hash of that file: builds from other
# packages, or by other compilers, have other keys.
#
# What is to be made is known before: the recipe key is a hash of the sources. <cache>/<kind>/recipes/<recipe key> is a
# link to the artefact that was made last by that recipe, so that an artefact is found without a network or a compiler.
# It appears, and then its link, by one rename each when it is whole: an interrupted build leaves nothing behind that
# could be mistaken for one.

# Without it a failure inside $(...) would go on, and publish what is half made.
shopt -s inherit_errexit
# shellcheck source=images/machine/contents.sh
source "${BASH_SOURCE[0]%/*}/contents.sh"

cache_root() {
  local parent=${XDG_CACHE_HOME:-}
  if [ -z "$parent" ] && [ -n "${HOME:-}" ]; then parent=$HOME/.cache; fi
  case $parent in
    /*) printf '%s/fabriclab\n' "${parent%/}" ;;
    '')
      echo "HOME is not set, so there is no directory for the virtual machine's files; set HOME, or XDG_CACHE_HOME to a directory of your own" >&2
      return 1
      ;;
    *)
      echo "\"$parent\" is not an absolute path, so there is no directory for the virtual machine's files; set XDG_CACHE_HOME (or HOME) to one" >&2
      return 1
      ;;
  esac
}

# cache_key TEXT FILE...: a recipe's key: 16 hex digits from a text (versions, options) and the contents and names of files,
# independent of where they lie.
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

# cache_make KIND RECIPE COMMAND...: runs COMMAND with one more argument, an empty directory, unless the artefact is there;
# publishes the directory when COMMAND succeeds; prints the artefact's path. One builder at a time; a second one waits
# and finds it done.
cache_make() {
  local kind=$1 recipe=$2
  shift 2
  _adopt "$kind" "$recipe"
  if [ -z "$(cache_find "$kind" "$recipe")" ]; then _make "$kind" "$recipe" "$@"; fi
  cache_find "$kind" "$recipe"
}

# _adopt KIND RECIPE: before there were contents keys, an artefact lay under its recipe's. One that lies there is published.
# It stays where it is, too, for recordings that name it: the files are the same (hard links).
_adopt() {
  local former
  former=$(cache_root)/$1/$2
  if [ ! -d "$former" ] || [ ! -w "${former%/*}" ] || [ -d "${former%/*}/recipes/$2" ]; then return; fi
  _make "$1" "$2" _copy_of "$former"
}

# _copy_of DIR COPY
_copy_of() { cp -al "$1/." "$2/" 2>/dev/null || cp -a "$1/." "$2/"; }

# _make KIND RECIPE COMMAND...: makes and publishes an artefact unless it is there.
_make() {
  local recipe=$2 store partial lock
  store=$(cache_root)/$1
  shift 2
  cache_directory "$store"
  exec {lock}>"$store/$recipe.lock"
  flock "$lock"
  if [ ! -d "$store/recipes/$recipe" ]; then
    # Who holds the lock is the only builder: these were left by one that was killed.
    rm -rf "$store/$recipe".partial.*
    partial=$(mktemp -d "$store/$recipe.partial.XXXXXX")
    # shellcheck disable=SC2064  # the path is wanted as it is now
    trap "$(printf 'rm -rf %q' "$partial")" EXIT
    # Whoever may reach the cache may read an artefact, whatever the builder's umask.
    (
      umask 022
      "$@" "$partial" >&2
      contents_of "$partial" "$recipe" "$store/../sources" >"$partial/contents"
    )
    chmod 755 "$partial"
    _publish "$store" "$recipe" "$partial"
    trap - EXIT
  fi
  exec {lock}>&-
  rm -f "$store/$recipe.lock"
}

# _publish STORE RECIPE PARTIAL: gives a whole artefact its name and the recipe its link. What has the same contents is
# there already where another recipe's builder, or a wheel, brought it (fabriclab/engine/packed.py has this lock, too).
_publish() {
  local key lock
  key=$(contents_key "$3/contents")
  exec {lock}>"$1/$key.lock"
  flock "$lock"
  if [ -d "$1/$key" ]; then rm -rf "$3"; else mv -T "$3" "$1/$key"; fi
  exec {lock}>&-
  rm -f "$1/$key.lock"
  mkdir -p "$1/recipes"
  ln -sfn "../$key" "$1/recipes/.$2.$$"
  mv -T "$1/recipes/.$2.$$" "$1/recipes/$2"
}

# cache_find KIND RECIPE: the path of what that recipe made, else nothing. An artefact that was made before there were
# contents keys lies under its recipe's until a build adopts it.
cache_find() {
  local store target
  store=$(cache_root)/$1
  if [ -d "$store/recipes/$2" ]; then
    # The shell's own: every run asks.
    target=$(cd -P -- "$store/recipes/$2" && pwd)
    printf '%s\n' "$store/${target##*/}"
  elif [ -d "$store/$2" ]; then
    printf '%s\n' "$store/$2"
  fi
}
