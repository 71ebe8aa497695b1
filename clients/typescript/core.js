// SPDX-License-Identifier: Apache-2.0
// Requests, retries, streams and errors.

const firstPause = 100
const lastPause = 5000
const silence = 20_000 // milliseconds; a feed sends a heartbeat every 3 seconds

/** A request that the server refused, or that was not answered: code lost. */
export class LocusError extends Error {
  constructor(code, detail, rest = {}) {
    super(`${detail} (${code})`)
    this.name = 'LocusError'
    this.code = code
    this.detail = detail
    this.status = rest.status ?? 0
    this.outcome = rest.outcome ?? 'unknown'
    this.pointer = rest.pointer ?? ''
    this.errors = rest.errors ?? []
    this.requestId = rest.request_id ?? ''
    this.retryAfter = 0
  }
}

async function refusal(response) {
  const { status } = response
  let error
  try {
    const problem = await response.json()
    if (!problem.code) throw new Error('not a problem')
    error = new LocusError(problem.code, problem.detail, { ...problem, status })
  } catch {
    error = new LocusError('status', `the server answered ${status}`, { status, outcome: status >= 500 || status === 408 || status === 429 ? 'unknown' : 'not_applied' })
  }
  error.retryAfter = Number(response.headers.get('Retry-After') ?? 0) * 1000 || 0
  return error
}

/** Whether a failed request may be sent again. */
function again(error, repeatable) {
  if (error.code === 'connection') return true
  if (error.status === 429 || error.status === 503) return repeatable || error.outcome === 'not_applied'
  return repeatable && [0, 502, 504].includes(error.status)
}

const random = globalThis.crypto ?? (await import('node:crypto')).webcrypto // Node 18

const randomKey = () => Array.from(random.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms) })

/** A part of a path. Parts of dots are refused by fetch, which takes them for directories. */
export function segment(text) {
  if (/^\.\.?$/.test(text)) throw new LocusError('invalid', `fetch cannot send the name ${text} in a path`, { outcome: 'not_applied' })
  return encodeURIComponent(text)
}

/** Parts of a path. */
export const segments = (texts) => texts.map(segment).join('/')

function loopback(host) {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** The lines of an answer, as they come. */
async function * linesOf(response, alive = () => {}) {
  const reader = response.body.getReader() // not every browser iterates over bodies
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      alive()
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n')
      rest = lines.pop()
      yield * lines
    }
    if (rest) yield rest
  } finally {
    reader.cancel().catch(() => {}) // a reader that left, or a connection that is lost
  }
}

export class Core {
  #base; #token; #fetch; #timeout; #patience

  constructor(server, { token, fetch: send = fetch, timeout = 15_000, patience = 30_000 } = {}) {
    const url = new URL(server)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('want the URL of a server such as http://127.0.0.1:7070')
    if (token && url.protocol !== 'https:' && !loopback(url.hostname)) throw new TypeError('a token is sent only over https, except to this machine: others could read it on the way')
    this.#base = url.href.replace(/\/$/, '')
    this.#token = token
    this.#fetch = send
    this.#timeout = timeout
    this.#patience = patience
  }

  async #once(method, target, headers, body, signal) {
    let response
    try {
      response = await this.#fetch(target, { method, headers, body, signal, redirect: 'manual' })
    } catch (e) {
      const refused = e?.cause?.code === 'ECONNREFUSED' || e?.cause?.code === 'ENOTFOUND'
      throw new LocusError(refused ? 'connection' : 'lost', `${method} ${target} was not answered: ${e?.cause?.message ?? e?.message}`, { outcome: refused ? 'not_applied' : 'unknown' })
    }
    if (!response.ok) throw await refusal(response)
    return response
  }

  /** Sends a request until it is answered and read, for as long as patience lasts and repeating it is safe. */
  async _send(method, path, { repeatable, body, query, header, long, signal }, read) {
    const url = new URL(this.#base + path)
    const [values, names] = query ?? [{}, []]
    const [given, known] = header ?? [{}, []]
    for (const name of Object.keys({ ...values, ...given })) {
      if (!names.includes(name) && !known.includes(name)) throw new TypeError(`${method} ${path} has no parameter ${name}; it has ${[...names, ...known].join(', ')}`)
    }
    for (const name of names) {
      for (const value of [values[name] ?? []].flat()) if (value !== '') url.searchParams.append(name, value)
    }
    const headers = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...(this.#token && { Authorization: `Bearer ${this.#token}` }) }
    for (const name of known) if (given[name] !== undefined) headers[name] = String(given[name])
    if (path === '/v1/hits') { // with a key, which needs times, they count once however often they are sent
      repeatable = true
      if (!headers['Idempotency-Key'] && !headers['Locus-Producer']) {
        headers['Idempotency-Key'] = randomKey()
        const at = new Date().toISOString()
        body = { ...body, hits: body.hits.map((hit) => ({ at, ...hit })) }
      }
    }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const begin = Date.now()
    for (let pause = firstPause; ; pause = Math.min(2 * pause, lastPause)) {
      try {
        const response = await this.#once(method, url.href, headers, text, long ? signal : AbortSignal.timeout(this.#timeout))
        try {
          return await read(response)
        } catch (e) {
          throw e instanceof LocusError || long ? e : new LocusError('lost', `the response to ${method} ${path} was cut off: ${e.message}`)
        }
      } catch (e) {
        if (!(e instanceof LocusError) || !again(e, repeatable)) throw e
        const wait = Math.max(pause * (0.5 + Math.random() / 2), e.retryAfter)
        if (Date.now() - begin + wait > this.#patience) throw e
        await sleep(wait)
      }
    }
  }

  async _value(method, path, rest) {
    return this._send(method, path, rest, (response) => response.json())
  }

  async _void(method, path, rest) {
    await this._send(method, path, rest, (response) => response.arrayBuffer())
  }

  async _download(method, path, rest) {
    return this._send(method, path, { ...rest, long: true }, (response) => response)
  }

  async _lines(method, path, { progress, ...rest }) {
    const response = await this._download(method, path, rest)
    try {
      for await (const text of linesOf(response)) {
        const line = JSON.parse(text)
        const { type, ...value } = line
        if (type === 'result') return value
        if (type === 'error') throw new LocusError(value.code, value.detail, value)
        progress?.(line)
      }
    } catch (e) {
      if (e instanceof LocusError) throw e
      throw new LocusError('lost', `${method} ${path} was cut off: ${e.message}`)
    }
    throw new LocusError('lost', `${method} ${path} was cut off`)
  }

  async * #events(query) {
    const silent = new AbortController()
    let timer
    const alive = () => { clearTimeout(timer); timer = setTimeout(() => silent.abort(), silence) }
    try {
      const header = [{ Accept: 'text/event-stream' }, ['Accept']]
      const response = await this._send('GET', '/v1/changes', { repeatable: true, long: true, signal: silent.signal, query, header }, (r) => r)
      let event = { kind: '', id: '', data: '' }
      alive()
      for await (const line of linesOf(response, alive)) {
        const [, field, text] = /^([^:]*):? ?(.*?)\r?$/.exec(line)
        if (field === 'event') event.kind = text
        else if (field === 'id') event.id = text
        else if (field === 'data') event.data += text
        else if (field === '' && text === '' && event.kind) {
          yield { ...event, data: JSON.parse(event.data || 'null') }
          event = { kind: '', id: '', data: '' }
        }
      }
    } finally {
      clearTimeout(timer)
      silent.abort()
    }
  }

  /** The changes after a watermark, or from now on, as they happen; it resumes after the last one. The first item is the start. */
  async * followChanges(after, { cell } = {}) {
    for (let begun = false; ; await sleep(Math.random() * 1000)) {
      try {
        for await (const { kind, id, data } of this.#events([{ after, cell }, ['after', 'cell']])) {
          after = id || after
          if (kind === 'end') throw new LocusError(data.code, data.detail, data)
          if (kind === 'change' || (kind === 'start' && !begun)) {
            begun = true
            yield { watermark: after ?? '', change: kind === 'change' ? data : null }
          }
        }
      } catch (e) {
        if (e instanceof LocusError && !again(e, true)) throw e
      }
    }
  }
}
