// SPDX-License-Identifier: Apache-2.0

package peer

// Margin exports margin.
const Margin = margin
