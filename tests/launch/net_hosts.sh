# Hosts for a launcher's tests, on one machine; sourced, as root.
#
# What it is: each host is a network namespace with a cable of its own (a veth
# into a bridge), its own process tree and its own name, so that a cable can be
# pulled and a host can die as a whole: no packet of it says good-bye. What it
# is not: other clocks, memories or file systems; all hosts share those, as a
# run's folder wants it. Why so: mpirun and kernel meet the same silence as
# between machines. This machine itself is the host from which `launch` starts.

net_tag=lk$$
net_prefix=10.77.$(($$ % 250 + 1))
net_folder=$TEST_TMPDIR/net
declare -A net_address=()

# Whether hosts can be made here at all; says why not.
net_possible() {
  [ "$(id -u)" = 0 ] || { echo "network namespaces take root"; return 1; }
  command -v ip >/dev/null && command -v nsenter >/dev/null ||
    { echo "ip (iproute2) or nsenter is missing"; return 1; }
  ip netns add "$net_tag-try" 2>/dev/null ||
    { echo "this machine makes no network namespaces"; return 1; }
  ip netns del "$net_tag-try"
}

# A switch; hosts at the same one reach each other.
net_switch() { ip link add "$net_tag$1" type bridge && ip link set "$net_tag$1" up; }

# A cable between two switches, to be pulled at its end `${net_tag}t`.
net_trunk() {
  ip link add "${net_tag}t" type veth peer name "${net_tag}u"
  ip link set "${net_tag}t" master "$net_tag$1" up
  ip link set "${net_tag}u" master "$net_tag$2" up
}

# The host's process tree: whatever runs there ends with its first process.
net_boot() { # name
  ip netns exec "$net_tag-$1" setsid unshare --pid --fork --mount-proc --uts \
    --kill-child sh -c "hostname $1; exec sleep 1000000" 9>&- &
  local pid
  for _ in $(seq 100); do
    for pid in $(ip netns pids "$net_tag-$1"); do
      [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sleep ] || continue
      echo "$pid" >"$net_folder/init.$1"
      return 0
    done
    sleep 0.05
  done
  return 1
}

net_host() { # name, switch
  local last=$((${#net_address[@]} + 11))
  net_address[$1]=$net_prefix.$last
  ip netns add "$net_tag-$1"
  ip link add "$net_tag$1" type veth peer name eth0 netns "$net_tag-$1"
  ip link set "$net_tag$1" master "$net_tag$2" up
  ip -n "$net_tag-$1" addr add "$net_prefix.$last/24" dev eth0
  ip -n "$net_tag-$1" link set eth0 up
  ip -n "$net_tag-$1" link set lo up
  echo "$net_prefix.$last" >"$net_folder/address.$1"
  net_boot "$1"
}

net_pull() { ip link set "$net_tag$1" down; }
net_plug() { ip link set "$net_tag$1" up; }
# Power is lost: first nothing is heard of it any more, then nothing is there.
net_die() {
  net_pull "$1"
  kill -9 "$(cat "$net_folder/init.$1")"
}

# A process of a rank on a host, as this machine numbers it.
net_rank() { # host
  local pid
  for pid in $(ip netns pids "$net_tag-$1"); do
    { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null |
      grep -q '^OMPI_COMM_WORLD_RANK=' && echo "$pid" && return
  done
}

net_down() {
  local host
  for host in "${!net_address[@]}"; do
    for pid in $(ip netns pids "$net_tag-$host"); do kill -9 "$pid"; done
    ip netns del "$net_tag-$host"
  done 2>/dev/null
  ip -br link | sed -n "s/^\($net_tag[^@ ]*\).*/\1/p" |
    while read -r link; do ip link del "$link" 2>/dev/null; done
}

# `net_reaches NAME`: what a probe asks: does a packet come back? Nothing
# listens there, so a host that lives refuses. `net_agent NAME COMMAND`: ssh.
net_scripts() {
  mkdir -p "$net_folder"
  cat >"$net_folder/reaches" <<END_OF_SCRIPT
#!/bin/bash
read -r address <"$net_folder/address.\$1" || exit 1
kill -0 "\$(cat "$net_folder/init.\$1")" 2>/dev/null || exit 1
said=\$(timeout 1 bash -c ": </dev/tcp/\$address/9" 2>&1)
[[ \$said == *refused* ]]
END_OF_SCRIPT
  cat >"$net_folder/agent" <<END_OF_SCRIPT
#!/bin/bash
host=\$1
shift
"$net_folder/reaches" "\$host" || { echo "\$host: no route" >&2; exit 255; }
exec nsenter -t "\$(cat "$net_folder/init.\$host")" -n -p -u -m \\
  -w"\$PWD" env -i PATH="\$PATH" HOME="\$HOME" sh -c "\$*"
END_OF_SCRIPT
  chmod +x "$net_folder/reaches" "$net_folder/agent"
}

# The options of mpirun for these hosts.
net_mpirun_args() {
  local part
  for part in --mca plm_rsh_agent "$net_folder/agent" \
    --mca plm_rsh_no_tree_spawn 1 --mca btl self,tcp \
    --mca btl_tcp_if_include "$net_prefix.0/24" \
    --mca oob_tcp_if_include "$net_prefix.0/24" \
    --mca mpi_yield_when_idle 1; do
    printf '%s\n' "--mpirun-arg=$part"
  done
}
