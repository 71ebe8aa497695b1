// SPDX-License-Identifier: Apache-2.0

package sqlite

import "os"

// fileNumber does not tell a file from its copy here.
func fileNumber(os.FileInfo) string { return "0" }
