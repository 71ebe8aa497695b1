#!/bin/sh
# The user of the service; a running service goes on with the new binary. The service is not enabled by itself.
set -e
if command -v systemd-sysusers >/dev/null; then systemd-sysusers locus.conf || true; fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart locus.service
fi
