#!/bin/sh
# Runs a command where there is no network but this machine's own: sh alone.sh COMMAND ...
for way in "unshare --net" "unshare --map-root-user --net"; do
	if $way ip link set lo up 2>/dev/null; then
		exec $way sh -c 'ip link set lo up && exec "$@"' alone "$@"
	fi
done
echo "insula: the real clients are run only where they reach nothing but this machine; that takes Linux, unshare" \
	"and ip, and root or user namespaces (sysctl kernel.unprivileged_userns_clone=1)." >&2
exit 1
