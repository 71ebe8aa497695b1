#!/bin/sh
# A removed package leaves no server running; an upgrade restarts it after the installation.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then systemctl disable --now locus.service || true; fi
	;;
esac
