// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"errors"
	"net/netip"
)

// Mode is where TLS ends.
type Mode string

// Modes.
const (
	Clear      Mode = ""            // nowhere
	Files      Mode = "files"       // in this process, with a certificate of the operator
	SelfSigned Mode = "self-signed" // in this process, with a certificate of its own
	External   Mode = "external"    // in a proxy, which forwards the requests of other machines
)

// Reasons why a server may not listen.
var (
	ErrClear  = errors.New("other machines could read and write everything on the way, because there is no TLS")
	ErrProxy  = errors.New("a proxy forwards the requests of other machines, which could read and write everything, because there is no token yet")
	ErrOpen   = errors.New("other machines could read and write everything, because there is no token yet")
	ErrTokens = errors.New("the installation has tokens, and --insecure-listen is for one without")
)

// Wish is the requested address of a server, and how it should listen.
type Wish struct {
	// Host of the address: a name, an IP address, or "" for all.
	Host string
	// TLS is where the encryption of connections ends.
	TLS Mode
	// Insecure means that the owner accepts requests of the network without tokens.
	Insecure bool
}

// Address returns ErrClear unless the server may listen there if it has tokens. It is known before the data is opened.
func (w Wish) Address() error {
	if Loopback(w.Host) || w.TLS != Clear || w.Insecure {
		return nil
	}
	return ErrClear
}

// Serve returns ErrOpen, ErrProxy, ErrTokens or ErrClear unless the server may serve there with or without tokens.
func (w Wish) Serve(tokens bool) error {
	switch {
	case w.Insecure && tokens:
		return ErrTokens
	case !w.Insecure && !tokens && w.TLS == External:
		return ErrProxy
	case !w.Insecure && !tokens && !Loopback(w.Host):
		return ErrOpen
	default:
		return w.Address()
	}
}

// Loopback reports whether only this machine can connect to a host.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
