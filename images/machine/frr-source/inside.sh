#!/usr/bin/env bash
# Compiles FRR, in the world that outside.sh made. usage: inside.sh JOBS
#
# /given/archive or /given/source is the source, /given/out what is installed, /given/needed the libraries that it asks
# for. Paths and options are Debian's, so that it lies over Debian's FRR (debian/rules of frr); documentation, SNMP and
# RPKI are left out.
set -euo pipefail
trap 'exit 130' INT TERM
libraries=/usr/lib/x86_64-linux-gnu/frr

step() { echo "== $1 @$(date +%s)"; }

step 'unpacking the source'
mkdir -p /given/source /given/objects /given/out
if [ -f /given/archive ]; then tar -x -f /given/archive -C /given/source --no-same-owner; fi
configure_ac=$(find /given/source -maxdepth 2 -name configure.ac -print -quit)
cd "${configure_ac%/*}"

step 'preparing its build system'
if [ ! -x configure ]; then ./bootstrap.sh; fi
# Since 10.0 these are the directories above FRR's own.
if grep -q '^frr_sysconfdir=' configure.ac; then
  places=(--sysconfdir=/etc --localstatedir=/var --runstatedir=/run)
else
  places=(--sysconfdir=/etc/frr --localstatedir=/run/frr)
fi
source=$PWD
cd /given/objects

step 'configuring it'
"$source/configure" --prefix=/usr --sbindir=/usr/lib/frr --libdir="$libraries" --with-moduledir="$libraries/modules" \
  LIBTOOLFLAGS="-rpath $libraries" CFLAGS=-O2 "${places[@]}" --with-vtysh-pager=/usr/bin/pager --with-libpam \
  --disable-static --disable-dependency-tracking --disable-doc --disable-snmp --disable-rpki --disable-grpc --disable-scripting \
  --disable-protobuf --disable-zeromq --enable-pim6d --enable-fpm --enable-ospfapi --enable-bgp-vnc \
  --enable-multipath=256 --enable-user=frr --enable-group=frr --enable-vty-group=frrvty \
  --enable-configfile-mask=0640 --enable-logfile-mask=0640

step compiling
make -j "$1"

step 'installing it'
make install-strip DESTDIR=/given/out
cd /given/out
rm -rf usr/include usr/share/{doc,man,info} etc/frr/frr.conf
find . -name '*.la' -delete
# It fails for files that are no programs.
{ find . -type f -exec readelf --dynamic {} + 2>/dev/null || true; } | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u >/given/needed
