// SPDX-License-Identifier: Apache-2.0

// Package file delivers to a directory of files: the newest event of every ID in parts of JSON lines or Parquet, and a
// manifest that lists the parts and has the position.
//
// A batch becomes a part, sorted by ID, and then a new manifest, which is renamed into place: events in a part that no
// manifest lists were not delivered. Eight parts of a level become one of the next level, with the newest event of each
// ID. The names of the manifest and of new parts begin with the token of their owner. The manifest with the highest
// token counts, so a former owner that wakes up late changes nothing.
//
//	DIR/manifest-00000000000000000005.json
//	DIR/part-00000000000000000005-00000017.parquet
//
// A part that was merged stays for ten minutes, for readers that have the former manifest.
package file
