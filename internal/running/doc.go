// SPDX-License-Identifier: Apache-2.0

// Package running runs what an installation's definitions ask for: its sinks and the streams that it reads. The definitions
// and the progress of each are rows of the authority cell. Every process has a runner for each definition, and a lease says
// which of them works.
package running
