#!/bin/sh
# Starts redis, syncd with vslib, and the daemons that read buffers and QoS; prints ASIC_DB's growth, and ends when it
# has come to rest: `objects N` a line, then /work/asic.json. Exit status: 0, or 1 with `failed WHY` as its last line.
set -eu
cd /work
# shellcheck source=/dev/null
. ./numbers.sh # PORTS: how many the file has; in half seconds without a change: PATIENCE is too long, REST is the end
mkdir -p /var/run/redis/sonic-db /usr/share/sonic/hwsku /var/log/swss
cp database_config.json /var/run/redis/sonic-db/
cp lanemap.ini sai.profile /usr/share/sonic/hwsku/
redis() { redis-cli -s /var/run/redis/redis.sock "$@"; }
redis-server --port 0 --unixsocket /var/run/redis/redis.sock --save '' --notify-keyspace-events AKE >redis.log 2>&1 &
until redis ping >/dev/null 2>&1; do
  kill -0 $! 2>/dev/null || { echo "failed redis-server ended: $(tail -n 1 redis.log)"; exit 1; }
  sleep 0.1
done
redis -n 4 --pipe <config.resp >pipe.log

running=
start() {
  name=$1
  shift
  "$@" >"$name.log" 2>&1 &
  running="$running $name:$!"
}
export platform=vs
start syncd syncd -u -s -p /usr/share/sonic/hwsku/sai.profile
start portsyncd portsyncd
start orchagent orchagent -d /var/log/swss -b 8192 -s -m 02:00:00:00:00:01
start buffermgrd buffermgrd -l pg_profile_lookup.ini

# Without host interfaces nobody tells orchagent that all of them are there: so it is told, as portsyncd would.
ports_are_there() {
  redis -n 0 >/dev/null <<'END'
MULTI
HSET _PORT_TABLE:PortInitDone lanes 0
SADD PORT_TABLE_KEY_SET PortInitDone
PUBLISH PORT_TABLE_CHANNEL@0 G
EXEC
END
}

last_words() { grep -v XSUPERVISOR "$1.log" | tail -n 1; }
count() { redis -n 1 --scan --pattern "$1" | wc -l; }
# What all of them have done so far: objects, and processor time in ticks. At rest a heartbeat is all they do.
ticks() {
  for one in $running; do cat "/proc/${one#*:}/stat" 2>/dev/null; done | awk '{ sum += $14 + $15 } END { print sum + 0 }'
}
still=0 last=0 busy=0 told=
while [ -z "$told" ] || [ "$still" -lt "$REST" ]; do
  sleep 0.5
  for one in $running; do
    kill -0 "${one#*:}" 2>/dev/null && continue
    echo "failed ${one%:*} ended: $(last_words "${one%:*}")"
    exit 1
  done
  now=$(count 'ASIC_STATE:*')
  echo "objects $now"
  used=$(ticks)
  if [ "$now" = "$last" ] && [ $((used - busy)) -le 2 ]; then still=$((still + 1)); else still=0; fi
  last=$now busy=$used
  [ -z "$told" ] || continue
  made=$(count 'ASIC_STATE:SAI_OBJECT_TYPE_HOSTIF:*')
  if [ "$made" -ge "$PORTS" ]; then
    ports_are_there
    told=yes still=0
  elif [ "$still" -ge "$PATIENCE" ]; then
    echo "failed orchagent made $made of $PORTS ports, then nothing: $(last_words orchagent)"
    exit 1
  fi
done
redis -n 1 --raw eval "$(cat dump.lua)" 0 >asic.json
