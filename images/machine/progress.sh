# shellcheck shell=bash
# What a long command says while it lasts, on standard error, sourced by what starts one. On a terminal one line that
# changes, with the seconds; elsewhere, as in a log, a line for each step and one a minute.

# progress TITLE STEP COMMAND...: runs COMMAND. STEP is a function that is given the seconds so far and prints what it
# is at, behind a tab the seconds that all will still take, if it can tell; it may print nothing.
progress() {
  local title=$1 step=$2 began=$SECONDS ticker status=0
  shift 2
  _tick "$title" "$step" "$began" "$$" >&2 </dev/null &
  ticker=$!
  # shellcheck disable=SC2064  # the process is wanted as it is now
  trap "kill $ticker 2>/dev/null" EXIT
  "$@" || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  trap - EXIT
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  if [ "$status" != 0 ]; then
    echo "$title: failed after $(duration $((SECONDS - began)))" >&2
    return "$status"
  fi
  echo "$title: done in $(duration $((SECONDS - began)))" >&2
}

# numbered NAME: "[2/5] NAME", where whoever has us do one of more steps has named them all in STEPS.
numbered() {
  local name number=0 steps=()
  read -ra steps <<<"${STEPS:-}"
  for name in "${steps[@]}"; do
    number=$((number + 1))
    if [ "$name" = "$1" ]; then
      echo "[$number/${#steps[@]}] ${2:-$1}"
      return
    fi
  done
  echo "${2:-$1}"
}

# duration SECONDS
duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# about SECONDS: as precisely as an estimate is.
about() {
  if [ "$1" -le 45 ]; then echo 'less than a minute'; elif [ "$1" -le 90 ]; then echo 'about a minute'; else echo "about $((($1 + 30) / 60)) min"; fi
}

# _tick TITLE STEP BEGAN OWNER: until it is killed, or its owner is gone.
_tick() {
  local now left last='' line='' told=$SECONDS width=${COLUMNS:-80}
  if [ -t 2 ] && [[ $(stty size <&2 2>/dev/null) =~ \ ([1-9][0-9]*)$ ]]; then width=${BASH_REMATCH[1]}; fi
  while kill -0 "$4" 2>/dev/null; do
    now=$("$2" $((SECONDS - $3)) 2>/dev/null) || now=''
    left=''
    if [[ $now == *$'\t'* ]]; then
      left=${now##*$'\t'}
      now=${now%$'\t'*}
    fi
    line="$1: ${now:+$now, }$(duration $((SECONDS - $3)))${left:+, $(about "$left") to go}"
    if [ -t 2 ]; then
      printf '\r\033[K%s' "${line:0:$((width - 1))}"
    elif [ "${now%% *}" != "$last" ] || [ $((SECONDS - told)) -ge 60 ]; then
      echo "$line"
      told=$SECONDS
    fi
    last=${now%% *}
    sleep 1
  done
}
