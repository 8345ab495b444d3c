# shellcheck shell=bash
# What went into an artefact, as its file `contents` says it; sourced by cache.sh. One thing a line:
#
#   recipe KEY                            the hash of the sources: scripts, patches, lists of packages, Rust, C
#   package NAME_VERSION_ARCHITECTURE [SHA256]   a Debian package; its hash is that of the file that was unpacked
#   version VERSION                       of a kernel that was built from a tree of the user's own
#   compiler NAME VERSION
#
# A hash is left out where it is not known: artefacts that were made before there was this file kept versions only. Java
# archives have theirs in the recipe.

# contents_of DIR RECIPE SOURCES: the lines of the artefact in DIR; SOURCES has the source packages that were downloaded.
contents_of() {
  printf 'recipe %s\n' "$2"
  if [ -f "$1/version" ]; then _contents_by_version "$1/version" "$3"; fi
  if [ -f "$1/packages" ]; then _contents_by_packages "$1"; fi
}

# contents_key FILE: 16 hex digits.
contents_key() { sha256sum <"$1" | cut -c1-16; }

# _contents_by_version FILE SOURCES: a kernel is made of one source package, or of a tree that is nobody's package.
_contents_by_version() {
  local key value package='' archive
  while IFS= read -r value; do
    key=${value%%: *}
    value=${value#*: }
    case $key in
      Package) package=$value ;;
      Version)
        if [ -z "$package" ]; then
          printf 'version %s\n' "$value"
        else
          package=${package}_${value//:/%3a}_all
          archive=$2/$package.deb
          printf 'package %s%s\n' "$package" "$(if [ -f "$archive" ]; then sha256sum <"$archive" | sed 's/ .*//; s/^/ /'; fi)"
        fi
        ;;
      Compiler | Compilers) printf 'compiler %s\n' "${value//; /$'\n'compiler }" ;;
    esac
  done <"$1"
}

# _contents_by_packages DIR: `packages` with the hashes of `SHA256SUMS`.
_contents_by_packages() {
  local sums=$1/SHA256SUMS
  if [ ! -f "$sums" ]; then sums=/dev/null; fi
  awk 'FNR == NR && FILENAME != ARGV[2] { sub(/\.deb$/, "", $2); sum[$2] = $1; next }
    { print "package", $1 ($1 in sum ? " " sum[$1] : "") }' "$sums" "$1/packages"
}
