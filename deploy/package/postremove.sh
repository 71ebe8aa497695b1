#!/bin/sh
# The data in /var/lib/locus stays, even when the package is purged.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
