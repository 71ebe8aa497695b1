// SPDX-License-Identifier: Apache-2.0

// Package running runs the sinks of an installation and the streams that it reads, according to their definitions. The
// definitions and the progress of each are rows of the authority cell. Every process has a runner for each definition,
// and a lease decides which of them works. Variables are the environment variables that definitions may name for their
// secrets.
package running
