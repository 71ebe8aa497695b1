// SPDX-License-Identifier: Apache-2.0

package sqlite

import "os"

// fileNumber cannot distinguish a file from its copy on Windows.
func fileNumber(os.FileInfo) string { return "0" }

// fileLimit returns 0: Windows has no such limit.
func fileLimit() uint64 { return 0 }
