// SPDX-License-Identifier: Apache-2.0

// Package changes reads the logs of an installation's cells: the changes after a watermark, the end of the logs, what
// ids currently resolve to, and the latest matches. Package mirror follows a Source.
//
// Use it through DB.Changes of package locus.
package changes
