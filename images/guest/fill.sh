#!/usr/bin/env bash
# Fills the guest's disk at the host's speed, before it ever boots. usage: fill.sh BASE DIR REPOSITORY
#
# Called by build, in namespaces of its own: mounts and daemons end with it.
set -euo pipefail
shopt -s inherit_errexit
base=$1 directory=$2 repository=$3
root=$directory/root
# shellcheck source=images/machine/mirror.sh
source "$repository/images/machine/mirror.sh"

mount_all() {
  mkdir "$root"
  mount -o loop "$directory/disk.img" "$root"
  tar -xpf "$base/root.tar" -C "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sys "$root/sys"
  mount --bind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t cgroup2 none "$root/sys/fs/cgroup"
}

# settings: who the guest is, and what its kernel has and allows.
settings() {
  install -d -m 700 "$root/root/.ssh"
  cp "$directory/key.pub" "$root/root/.ssh/authorized_keys"
  chroot "$root" systemctl --quiet enable ssh docker systemd-networkd
  echo guest >"$root/etc/hostname"
  printf '127.0.0.1 localhost guest\n' >"$root/etc/hosts"
  printf '[Match]\nName=en*\n[Network]\nDHCP=yes\n' >"$root/etc/systemd/network/guest.network"
  printf '%s\n' tcp_dctcp tcp_bbr tcp_htcp >"$root/etc/modules-load.d/fabriclab.conf"
  # A sampler walks the kernel's table of connections; the table of the whole machine has 65,536 places (images/README.md).
  printf '%s\n' 'net.ipv4.tcp_allowed_congestion_control = reno cubic dctcp bbr htcp' 'net.ipv4.tcp_child_ehash_entries = 1024' \
    >"$root/etc/sysctl.d/fabriclab.conf"
  cat >"$root/root/environment" <<'ENVIRONMENT'
export PATH=/opt/venv/bin:/fabriclab/bin:$PATH CLAB_VERSION_CHECK=disable XDG_CACHE_HOME=/fabriclab/cache PYTHONPATH=/fabriclab/repository
cd /fabriclab/repository
ENVIRONMENT
  install -d "$root/fabriclab"
  echo '/dev/vdb /fabriclab ext4 defaults 0 0' >>"$root/etc/fstab"
}

# the_hosts: how the host reaches archives and whom it trusts, while the disk is filled.
the_hosts() {
  rm -f "$root/etc/resolv.conf"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  apt_transport >"$root/etc/apt/apt.conf.d/90host"
  if [ -e /etc/pip.conf ]; then cp /etc/pip.conf "$root/etc/pip.conf"; fi
}

python_packages() {
  echo "guest: Python packages" >&2
  cp "$directory/requirements.txt" "$root/tmp/requirements.txt"
  chroot "$root" python3 -m venv /opt/venv
  chroot "$root" /opt/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r /tmp/requirements.txt
}

images() {
  local daemon try
  echo "guest: the images of hosts and switches (10 minutes)" >&2
  install -d "$root/tmp/repository"
  (cd "$repository" && git ls-files -z -- images probes traffic Cargo.toml Cargo.lock | xargs -0 cp --parents -t "$root/tmp/repository")
  chroot "$root" dockerd --iptables=false --ip6tables=false --bridge=none --storage-driver=overlay2 >"$root/tmp/dockerd.log" 2>&1 &
  daemon=$!
  for ((try = 0; try < 120; try++)); do
    if chroot "$root" docker info >/dev/null 2>&1; then break; fi
    if ! kill -0 "$daemon" 2>/dev/null; then
      tail -n 5 "$root/tmp/dockerd.log" >&2
      return 1
    fi
    sleep 1
  done
  chroot "$root" docker import --change 'CMD ["bash"]' - debian:13-slim <"$base/node.tar" >/dev/null
  chroot "$root" env DOCKER_BUILDKIT=0 BASE=debian:13-slim DEBIAN_MIRROR="$(apt_mirror)" /tmp/repository/images/build host switch
  chroot "$root" docker image prune --force >/dev/null
  kill "$daemon"
  wait "$daemon" || true
}

mount_all
settings
the_hosts
python_packages
images
rm -f "$root/etc/apt/apt.conf.d/90host" "$root/etc/pip.conf"
cp "$root"/boot/vmlinuz-* "$directory/vmlinuz"
cp "$root"/boot/initrd.img-* "$directory/initrd"
umount --recursive "$root"
rmdir "$root"
rm "$directory/requirements.txt" "$directory/key.pub"
