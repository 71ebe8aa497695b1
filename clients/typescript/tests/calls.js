// SPDX-License-Identifier: Apache-2.0
// Makes the calls of standard input at the server of the first argument, and prints the result of each as JSON.

import { readFileSync } from 'node:fs'
import { Client, LocusError } from '../index.js'

const client = new Client(process.argv[2])
const results = []
for (const call of JSON.parse(readFileSync(0, 'utf8'))) {
  const params = { ...call.query, ...call.header }
  const given = [...(call.path ?? []), ...('body' in call ? [call.body] : []), ...(Object.keys(params).length ? [params] : [])]
  try {
    const answer = await client[call.op](...given)
    results.push({ ok: answer instanceof Response ? await answer.text() : answer })
  } catch (e) {
    if (!(e instanceof LocusError)) throw e
    results.push({ error: { code: e.code, detail: e.detail, status: e.status, outcome: e.outcome, pointer: e.pointer } })
  }
}
console.log(JSON.stringify(results))
