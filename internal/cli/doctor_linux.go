// SPDX-License-Identifier: Apache-2.0

package cli

import "syscall"

// fileSystems are names of file systems by their magic number, see statfs(2).
var fileSystems = map[int64]disk{
	0xef53: {name: "ext4"}, 0x58465342: {name: "xfs"}, 0x9123683e: {name: "btrfs"}, 0x2fc12fc1: {name: "zfs"},
	0xf2f52010: {name: "f2fs"},
	0x794c7630: {name: "overlayfs"}, 0x65735546: {name: "FUSE"},
	0x01021994: {name: "tmpfs", memory: true}, 0x858458f6: {name: "ramfs", memory: true},
	0x6969: {name: "NFS", shared: true}, 0x517b: {name: "SMB", shared: true}, 0xfe534d42: {name: "SMB", shared: true},
	0xff534d42: {name: "CIFS", shared: true},
	0x01021997: {name: "9p", shared: true}, 0x00c36400: {name: "CephFS", shared: true},
}

func diskOf(dir string) disk {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return disk{}
	}
	d := fileSystems[int64(s.Type)&0xffffffff]
	d.free, d.known = int64(s.Bavail)*int64(s.Bsize), true
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		d.maximum = limit.Max
	}
	return d
}
