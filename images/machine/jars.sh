#!/usr/bin/env bash
# Makes a layer of Java's archives: coordinates that a lab names, each with its checksum. usage: jars.sh build|where JAR...
#
# A JAR is GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256. Maven fetches them from where this host's Maven does; nothing else
# than what is named is fetched. In the layer they lie in /opt/jars. Beside its root directory lie `packages`, the
# coordinates, and `size`, how many bytes it has.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/cache.sh"
# shellcheck source=images/machine/layers.sh
source "$here/layers.sh"

key() { cache_key "jars-1 ${jars[*]}" "$here/jars.sh"; }

# file_of GROUP ARTIFACT VERSION CLASSIFIER: what Maven calls the archive.
file_of() { printf '%s-%s%s.jar' "$2" "$3" "${4:+-$4}"; }

# project: a Maven project that depends on each of them, and on nothing that they depend on.
project() {
  local jar group artifact version classifier
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>lab</groupId><artifactId>lab</artifactId><version>1</version><packaging>pom</packaging><dependencies>'
  for jar in "${jars[@]}"; do
    IFS=: read -r group artifact version classifier <<<"${jar%=*}"
    printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>' "$group" "$artifact" "$version"
    if [ -n "$classifier" ]; then printf '<classifier>%s</classifier>' "$classifier"; fi
    echo '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>'
  done
  echo '</dependencies></project>'
}

# sums: the file of each with its checksum, as sha256sum reads them.
sums() {
  local jar group artifact version classifier
  for jar in "${jars[@]}"; do
    IFS=: read -r group artifact version classifier <<<"${jar%=*}"
    printf '%s  %s\n' "${jar##*=}" "$(file_of "$group" "$artifact" "$version" "$classifier")"
  done
}

make_layer() {
  local start=$SECONDS place=$1/root/opt/jars
  if ! command -v mvn >/dev/null; then
    echo "mvn is missing: apt-get install maven" >&2
    return 1
  fi
  say "fetching ${#jars[@]} Java archives with Maven (a minute or two); they stay in $(cache_root)"
  mkdir -p "$place"
  project >"$1/pom.xml"
  mvn --batch-mode --quiet --file "$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$place" >&2
  sums >"$1/sums"
  (cd "$place" && sha256sum --check --quiet "$1/sums" >&2)
  rm "$1/pom.xml" "$1/sums"
  printf '%s\n' "${jars[@]%=*}" >"$1/packages"
  du -sb "$1/root" | cut -f1 >"$1/size"
  say "done in $((SECONDS - start)) s: ${#jars[@]} archives, $(du -sm "$1/root" | cut -f1) MB"
}

asked "jars.sh build|where GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256..." 2 "$@"
mapfile -t jars < <(printf '%s\n' "${@:2}" | sort -u)
key=$(key)
answer "$1" "$key"
