// SPDX-License-Identifier: Apache-2.0

import { Change, SubFault } from './operations.js'

/** A request that the server refused, or that was not answered (codes lost and connection). */
export class LocusError extends Error {
  readonly code: string
  readonly detail: string
  readonly status: number
  readonly outcome: 'not_applied' | 'unknown'
  readonly pointer: string
  readonly errors: SubFault[]
  readonly requestId: string
}

/** A line of progress of long work. */
export interface Line {
  type: string
  [name: string]: unknown
}

export interface Options {
  token?: string
  /** Sends the requests, with certificates of your own for instance. */
  fetch?: typeof fetch
  /** Milliseconds of one request; 15,000 by default. */
  timeout?: number
  /** Milliseconds in which a request is sent again; 30,000 by default. */
  patience?: number
}

export function segment(text: string): string
export function segments(texts: string[]): string

export class Core {
  constructor(server: string, options?: Options)
  /** The changes after a watermark, or from now on, as they happen; it resumes after the last one. The first item is the start. */
  followChanges(after?: string, options?: { cell?: string }): AsyncGenerator<{ watermark: string, change: Change | null }>
}
