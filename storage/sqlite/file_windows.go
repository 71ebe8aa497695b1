// SPDX-License-Identifier: Apache-2.0

package sqlite

import "os"

// fileNumber does not tell a file from its copy here.
func fileNumber(os.FileInfo) string { return "0" }

// fileLimit is how many files the process may have open: Windows has no such limit.
func fileLimit() uint64 { return 0 }
