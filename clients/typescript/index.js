// SPDX-License-Identifier: Apache-2.0

export { LocusError } from './core.js'
export { Operations as Client } from './operations.js'
