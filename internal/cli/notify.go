// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net"
	"strings"
)

// notify tells the service manager the state of a server, as sd_notify(3) does: "READY=1" once it serves, "STOPPING=1"
// when it drains. It does nothing unless systemd started the process with Type=notify.
func (a *app) notify(state string) {
	path := a.env["NOTIFY_SOCKET"]
	if path == "" {
		return
	}
	if name, abstract := strings.CutPrefix(path, "@"); abstract {
		path = "\x00" + name
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(state))
		_ = conn.Close()
	}
	if err != nil {
		a.say("locus: cannot notify the service manager of %s: %v", state, err)
	}
}
