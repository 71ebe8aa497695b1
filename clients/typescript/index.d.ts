// SPDX-License-Identifier: Apache-2.0

export { LocusError, Line, Options } from './core.js'
export { Operations as Client } from './operations.js'
export * from './operations.js'
