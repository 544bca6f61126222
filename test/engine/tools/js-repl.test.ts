import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished } from 'vitest'
import type { ApprovalMode } from '../../../policies/index.ts'
import { jsRepl } from '../../../engine/tools/js-repl.ts'
import { eventually, openFor, processesWith, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath } from '../../support/call-path.ts'
import { tempDir } from '../../support/temp-dir.ts'

async function open(files: Readonly<Record<string, string>> = {}, approvalMode: ApprovalMode = 'never') {
  const workspace = tempDir(files)
  const readableRoots = [dirname(process.execPath)]
  const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots })
  const opened = await openPath({ tools: [jsRepl], sandbox, approvalMode })
  const run = async (code: string, more: object = {}): Promise<string> =>
    (await opened.call('js_repl', { code, ...more })).output
  return { ...opened, run, workspace }
}

describe('a session keeps', () => {
  test('variables, functions and classes, which may be declared again', async () => {
    const { run } = await open()
    expect(await run('const a = 1; let b = 2; function add(x, y) { return x + y }; class Box {}')).toBe('=> undefined')
    expect(await run('add(a, b)')).toBe('=> 3')
    expect(await run('const a = 40; add(a, b)')).toBe('=> 42')
    expect(await run('new Box()')).toBe('=> Box {}')
  })

  test('imports of every form, from Node and from the workspace', async () => {
    const { run } = await open({ 'own.mjs': 'export const one = 1\nexport default "main"\n' })
    expect(
      await run("import own, { one as first } from './own.mjs'\nimport * as path from 'node:path'\nown + first"),
    ).toBe("=> 'main1'")
    expect(await run("path.basename('/a/b')")).toBe("=> 'b'")
    expect(await run("const { one } = await import('./own.mjs'); one")).toBe('=> 1')
    expect(await run("require('./own.mjs').one")).toBe('=> 1')
    expect(await run("'import(x)'")).toBe("=> 'import(x)'")
  })

  test('nothing after a reset', async () => {
    const { call, run } = await open()
    await run('const a = 1')
    expect(await run('typeof a', { reset: true })).toBe("=> 'undefined'")
    expect(await call('js_repl', { reset: true })).toEqual({
      ok: true,
      output: 'The session is new: it has no variables.',
    })
    expect(await call('js_repl', {})).toEqual({ ok: false, output: 'Give the code to evaluate.' })
  })
})

describe('a call returns', () => {
  test('awaited values', async () => {
    const { run } = await open()
    expect(await run('const a = await Promise.resolve({ b: [1, 2] }); a')).toBe('=> { b: [ 1, 2 ] }')
    expect(await run('a.b.length')).toBe('=> 2')
  })

  test('the output of the code and of its child processes, before the value', async () => {
    const { run } = await open()
    expect(await run("console.log('one'); console.error('two'); process.stdout.write('three'); 4")).toBe(
      'one\ntwo\nthree\n=> 4',
    )
    const spawned = "require('node:child_process').execFileSync('echo', ['from a child'], { stdio: 'inherit' }); 5"
    expect(await run(spawned)).toBe('from a child\n=> 5')
  })

  test('printed text, never mistaken for the answer', async () => {
    const { run } = await open()
    const fake = JSON.stringify({ threw: false, text: 'fake' })
    const nonce = '00000000-0000-4000-8000-000000000000'
    expect(await run(`console.log('\\n${nonce}' + ${JSON.stringify(fake)} + '\\n'); 'real'`)).toBe(
      `\n${nonce}${fake}\n\n=> 'real'`,
    )
  })

  test('a thrown error, with its stack and without our own frames', async () => {
    const { call, run } = await open()
    const thrown = await call('js_repl', { code: 'function deep() {\n  throw new TypeError("no")\n}\ndeep()' })
    expect(thrown).toEqual({
      ok: false,
      output: 'Uncaught TypeError: no\n    at deep (<anonymous>:2:9)\n    at <anonymous>:4:1',
    })
    expect(await run("await Promise.reject('plain')")).toBe("Uncaught 'plain'")
    expect(await run('let [')).toContain('Uncaught SyntaxError')
    expect(await run('1 + 1')).toBe('=> 2')
  })

  test('normally even if something fails later on its own, and the session continues', async () => {
    const { run } = await open()
    const later = "const a = 1; setTimeout(() => { throw new Error('later') }); "
    expect(await run(`${later} await new Promise((done) => setTimeout(done, 50)); a`)).toMatch(
      /^Uncaught Error: later[^]*=> 1$/,
    )
    expect(await run('a')).toBe('=> 1')
  })
})

describe('the end of a session', () => {
  test('code that runs too long is killed, and the message says that its variables are lost', async () => {
    const { call, run } = await open()
    await run('const a = 1')
    expect(await call('js_repl', { code: 'for (;;) {}', timeout_ms: 300 })).toEqual({
      ok: false,
      output:
        'The session has ended: the code ran longer than 300 ms. Its variables are gone; the next call starts a new one.',
    })
    expect(await run('typeof a')).toBe("=> 'undefined'")
  })

  test('code that exits is reported at once or at the next call', async () => {
    const { run } = await open()
    expect(await run("console.log('bye'); process.exit(3)")).toBe(
      'bye\nThe session has ended: it exited with code 3. Its variables are gone; the next call starts a new one.',
    )
    await run("setTimeout(() => process.exit(0), 50); const mark = 'a'")
    let said = ''
    await eventually(async () => (said = await run('typeof mark')) !== "=> 'string'")
    // The session may end during a call or between two calls.
    expect(said).toMatch(/it exited with code 0/)
    expect(said).toMatch(/its variables are gone/i)
  })

  test('a cancelled call ends it', async () => {
    const { call } = await open()
    const given = new AbortController()
    const called = call('js_repl', { code: 'await new Promise(() => setInterval(() => {}, 1000))' }, given.signal)
    setTimeout(() => given.abort(), 100)
    expect(await called).toMatchObject({ ok: false, output: expect.stringContaining('the call was cancelled') })
  })

  test('the end of the run leaves no process behind', async () => {
    const { run, path } = await open()
    const mark = `mark-${process.pid}-repl`
    await run(`require('node:child_process').spawn('sh', ['-c', 'sleep 600; : ${mark}'], { detached: true }).pid`)
    expect(processesWith(mark)).not.toEqual([])
    path.context.state.repl.close()
    await eventually(() => processesWith(mark).length === 0)
  })
})

describe('the sandbox holds for it', () => {
  test('it writes only in the workspace', async () => {
    const outside = tempDir({ 'kept.txt': 'kept' })
    const { run, workspace } = await open()
    await run("require('node:fs').writeFileSync('made.txt', 'made')")
    expect(readFileSync(join(workspace, 'made.txt'), 'utf8')).toBe('made')
    expect(await run(`require('node:fs').writeFileSync(${JSON.stringify(join(outside, 'kept.txt'))}, 'x')`)).toMatch(
      /^Uncaught Error: E(?:ROFS|NOENT|ACCES)/,
    )
    expect(readFileSync(join(outside, 'kept.txt'), 'utf8')).toBe('kept')
  })

  test('it does not reach the network', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { call } = await open()
    const result = await call('js_repl', { code: `await (await fetch('http://127.0.0.1:${port}/')).text()` })
    expect(result.ok).toBe(false)
    expect(result.output).not.toContain('reached')
  })
})

describe('the Guardian judges each call', () => {
  test('as code that runs: refused if approval is needed and nobody is there', async () => {
    const { call } = await open({}, 'untrusted')
    expect(await call('js_repl', { code: '1' })).toMatchObject({
      ok: false,
      refused: expect.objectContaining({ decision: 'deny' }),
    })
  })

  test('with its code: the event of the call contains it', async () => {
    const { call, events } = await open()
    await call('js_repl', { code: '1 + 1' })
    expect(events.at(-1)).toMatchObject({
      item: { type: 'tool_call', tool: 'js_repl', status: 'completed', output: '=> 2', verdict: { decision: 'allow' } },
    })
  })
})
