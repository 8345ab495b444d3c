# shellcheck shell=bash
# Debian's packages on any Debian or Ubuntu host, without touching the host's apt state; sourced by the build scripts
# beside it. Where they come from, and through which proxy, is read from the host's own apt configuration and never
# written down here. DEBIAN_MIRROR=URI in the environment comes before all that (an Ubuntu host names no Debian mirror).

# apt_mirror: the URI of the Debian archive that the host uses.
apt_mirror() {
  local candidates uri
  if [ -n "${DEBIAN_MIRROR:-}" ]; then
    printf '%s\n' "${DEBIAN_MIRROR%/}"
    return
  fi
  # Other people's archives name Debian's suites too; only Debian's has this origin. Lists that were never fetched tell
  # nothing.
  # shellcheck disable=SC2016  # apt's variables, not the shell's
  uri=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 == "Debian" && !found++ { print $3 }')
  if [ -z "$uri" ]; then
    candidates=$(_apt_sources | awk '$3 == "main" && $2 ~ /^(stable|testing|unstable|oldstable|sid|buster|bullseye|bookworm|trixie|forky|duke)$/ { print $1 }')
    uri=$(awk '$1 ~ /\/debian\/?$/ { print; exit }' <<<"$candidates")
    uri=${uri:-$(head -n 1 <<<"$candidates")}
  fi
  if [ -z "$uri" ]; then
    echo "the apt configuration of this host names no Debian archive: set DEBIAN_MIRROR to the URI of one" >&2
    return 1
  fi
  printf '%s\n' "${uri%/}"
}

# _apt_sources: "URI suite component" for each binary source of the host, from one-line and deb822 files alike.
_apt_sources() {
  local file list='' parts=''
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  for file in "$list" "$parts"/*.list; do
    if [ -f "$file" ]; then _apt_one_line "$file"; fi
  done
  for file in "$parts"/*.sources; do
    if [ -f "$file" ]; then _apt_deb822 "$file"; fi
  done
}

_apt_one_line() {
  sed -E 's/#.*//; s/\[[^]]*\]//' "$1" | awk '$1 == "deb" { for (i = 4; i <= NF; i++) print $2, $3, $i }'
}

_apt_deb822() {
  awk '
    function flush(  u, s, c, i, j, k, n, m, l) {
      if (field["types"] ~ /(^| )deb( |$)/ && tolower(field["enabled"]) !~ /no|false|off|0/) {
        n = split(field["uris"], u); m = split(field["suites"], s); l = split(field["components"], c)
        for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) for (k = 1; k <= l; k++) print u[i], s[j], c[k]
      }
      split("", field)
    }
    /^#/ { next }
    /^[[:space:]]*$/ { flush(); next }
    /^[[:space:]]/ { field[name] = field[name] " " $0; next }
    { name = tolower(substr($0, 1, index($0, ":") - 1)); value = substr($0, index($0, ":") + 1); sub(/^[[:space:]]+/, "", value); field[name] = value }
    END { flush() }
  ' "$1"
}

# apt_keyring: the file with the keys of the Debian archive.
apt_keyring() {
  local file
  for file in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    if [ -f "$file" ]; then
      printf '%s\n' "$file"
      return
    fi
  done
  echo "the keys of the Debian archive are missing: apt-get install debian-archive-keyring" >&2
  return 1
}

# apt_source SUITE: the line for sources.list.
apt_source() {
  local mirror keyring
  mirror=$(apt_mirror)
  keyring=$(apt_keyring)
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$1"
}

# apt_trust: only what Debian signed, whatever the host's own apt lets pass, as lines of apt configuration.
apt_trust() {
  cat <<'CONF'
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
CONF
}

# apt_transport: the host's settings of how to reach an archive (proxy, certificates, dates), and whom to trust, as lines
# of apt configuration.
apt_transport() {
  apt_trust
  apt-config dump | grep -iE '^Acquire::(https?|ftp|Retries|ForceIPv[46]|Check-Valid-Until|Check-Date|Proxy-Auto-Detect)\b' || true
}

# apt_isolated DIR SUITE: makes DIR/apt.conf; `apt-get -c DIR/apt.conf update|download|...` then knows Debian's SUITE
# only, and reads and writes below DIR only. The host's proxy settings stay, its hooks don't run.
apt_isolated() {
  local directory suite=$2
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/empty"
  directory=$(cd "$1" && pwd)
  apt_source "$suite" >"$directory/sources.list"
  : >"$directory/status"
  cat >"$directory/apt.conf" <<CONF
Dir::Etc::sourcelist "$directory/sources.list";
Dir::Etc::sourceparts "$directory/empty";
Dir::Etc::preferences "$directory/empty/preferences";
Dir::Etc::preferencesparts "$directory/empty";
Dir::State "$directory";
Dir::State::lists "$directory/lists";
Dir::State::status "$directory/status";
Dir::Cache "$directory/cache";
APT::Sandbox::User "root";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
Acquire::Languages "none";
#clear Acquire::IndexTargets::deb::DEP-11;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
CONF
  apt_trust >>"$directory/apt.conf"
}
