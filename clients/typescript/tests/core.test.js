// SPDX-License-Identifier: Apache-2.0
// Retries, streams and pages against replies that fail as told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, LocusError } from '../index.js'

/** A client whose requests get the replies, one after the other: [status, body], or null for a lost response. */
function scripted(...replies) {
  const seen = []
  const send = async (url, init) => {
    seen.push({ url: new URL(url), ...init })
    const reply = replies.shift()
    if (!reply) throw new TypeError('fetch failed', { cause: new Error('other side closed') })
    const [status, body, headers] = reply
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  return { client: new Client('http://127.0.0.1:7070', { fetch: send, patience: 5000 }), seen }
}

const refused = [503, { code: 'overloaded', detail: 'later', outcome: 'not_applied' }]
const unknown = [503, { code: 'commit_unknown', detail: 'lost', outcome: 'unknown' }]
const ok = [200, { results: [] }]

test('what is safe is repeated', { concurrency: true }, async () => {
  const put = scripted(refused, unknown, null, ok)
  assert.deepEqual(await put.client.putRecords({ records: [] }), { results: [] })
  assert.equal(put.seen.length, 4)
  const token = scripted(refused, ok)
  await token.client.createToken({ name: 'x', role: 'reader' })
  assert.equal(token.seen.length, 2)
  for (const [reply, code] of [[unknown, 'commit_unknown'], [null, 'lost']]) {
    const { client, seen } = scripted(reply, ok)
    await assert.rejects(client.createToken({ name: 'x', role: 'reader' }), { code })
    assert.equal(seen.length, 1)
  }
})

test('hits have one key', async () => {
  const { client, seen } = scripted(null, refused, [200, { results: [{}] }])
  await client.addHits({ hits: [{ metric: 'm' }] })
  assert.equal(new Set(seen.map((r) => r.headers['Idempotency-Key'] + r.body)).size, 1)
  assert.ok(JSON.parse(seen[0].body).hits[0].at)
})

test('pages are one sequence', async () => {
  const { client, seen } = scripted([200, { entities: [{ id: 'a' }, { id: 'b' }], cursor: '2' }], [200, { entities: [{ id: 'c' }] }])
  const ids = []
  for await (const entity of client.allEntities({ q: 'x y', has: ['name', 'city'] })) ids.push(entity.id)
  assert.deepEqual(ids, ['a', 'b', 'c'])
  assert.deepEqual(seen.map((r) => r.url.search), ['?q=x+y&has=name&has=city', '?q=x+y&has=name&has=city&cursor=2'])
})

test('a parameter that a route does not have is an error', async () => {
  const { client, seen } = scripted([200, { results: [] }])
  await assert.rejects(client.listEntities({ filters: ['city:Oakland'] }), { name: 'TypeError', message: /no parameter filters; it has q, filter,/ })
  await assert.rejects(client.allEntities({ Q: 'x' }).next(), TypeError)
  await assert.rejects(client.addHits({ hits: [] }, { key: 'k' }), /has no parameter key; it has Idempotency-Key/)
  assert.equal(seen.length, 0)
  await client.addHits({ hits: [] }, { 'Idempotency-Key': 'k' })
  assert.equal(seen.length, 1)
})

test('lines end with the result', async () => {
  const lines = []
  const { client } = scripted([200, '{"type":"progress","done":1}\n{"type":"result","cells":3}\n'], [200, '{"type":"progress"}\n'], [200, '{"type":"error","code":"conflict","detail":"no","status":409}\n'])
  assert.deepEqual(await client.checkInstallation({}, (line) => lines.push(line)), { cells: 3 })
  assert.deepEqual(lines, [{ type: 'progress', done: 1 }])
  await assert.rejects(client.checkInstallation({}), /cut off/)
  await assert.rejects(client.checkInstallation({}), { code: 'conflict', status: 409 })
})

test('a feed resumes', async () => {
  const change = (n) => `event: change\nid: g0-0:${n}\ndata: {"entity":"e${n}"}\n\n`
  const end = 'event: end\ndata: {"code":"trimmed","detail":"gone","outcome":"not_applied","status":410}\n\n'
  const { client, seen } = scripted([200, 'event: start\nid: g0-0:1\ndata: {}\n\n' + change(2)], [200, 'event: start\nid: g0-0:2\ndata: {}\n\n' + change(3) + end])
  const got = []
  await assert.rejects(async () => {
    for await (const { watermark, change } of client.followChanges('g0-0:1')) got.push([watermark, change?.entity])
  }, { code: 'trimmed' })
  assert.deepEqual(got, [['g0-0:1', undefined], ['g0-0:2', 'e2'], ['g0-0:3', 'e3']])
  assert.deepEqual(seen.map((r) => r.url.search), ['?after=g0-0%3A1', '?after=g0-0%3A2'])
})

test('a token needs https', async () => {
  assert.throws(() => new Client('http://locus.example', { token: 'locus_tok_x' }), TypeError)
  await assert.rejects(scripted().client.getRecord('crm', '..'), LocusError)
})
