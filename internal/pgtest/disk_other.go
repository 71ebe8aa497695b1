// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package pgtest

import "errors"

func mountDisk(string, uint64) error {
	return errors.New("a server has a disk of its own only on Linux")
}

func unmountDisk(string) error { return nil }
