import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RunEvent } from '../../../engine/core/events.ts'
import { agent } from '../../support/agent.ts'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsPrograms } from '../../support/needs.ts'
import { startRedis } from '../../support/redis.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** A server on loopback that says a word and ends the connection. Returns its port. */
async function startServer(word = 'hello'): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(word)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const ask = (port: number, host = 'localhost'): string => `timeout 20 bash -c 'cat < /dev/tcp/${host}/${port}'`
const running = (...lines: readonly string[]) => [lines.map((cmd) => call('exec_command', { cmd })), [say('done')]]

/** A program that prints the ports of its loopback interface to which it can connect. */
const scanner = `
  const { connect } = require("net")
  let next = 1
  const more = () => {
    if (next > 65535) return
    const port = next++, socket = connect(port, "127.0.0.1")
    // A port in the range of the system may happen to be the own port of the socket, to which it then connects.
    socket.on("connect", () => (socket.localPort === port || console.log("open", port), socket.destroy()))
    socket.on("error", () => undefined).on("close", more)
  }
  for (let i = 0; i < 200; i++) more()`

const connectionsIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'service_connection' ? [event.item] : [],
  )
const configOf = ([first]: readonly RunEvent[]) => (first?.type === 'thread.started' ? first.config : undefined)
const endOf = (events: readonly RunEvent[]) => {
  const last = events.at(-1)
  return last?.type === 'turn.completed' || last?.type === 'turn.failed' ? last : undefined
}

describe.skipIf(needsBubblewrap())('a service of a run', () => {
  test('is reached at its port and by its name; each connection is an event, and the record counts them', async () => {
    const port = await startServer()
    const cwd = repository()
    const report = join(tempDir(), 'report.md')
    const args = ['--json', '--report', report, '--service', `web=localhost:${port}`, 'x']
    const { code, events, stderr, requests } = await exec(running(`${ask(port)}; ${ask(port, 'web')}`), args, { cwd })
    expect(code, stderr).toBe(0)
    expect(JSON.stringify(requests[1]?.body)).toContain('hellohello')
    const service = { name: 'web', host: 'localhost', port }
    expect(configOf(events)?.services).toEqual([service])
    const bytes = { bytes_sent: 0, bytes_received: 5 }
    expect(connectionsIn(events)).toEqual(
      [1, 2].map(() => ({
        ...{ id: expect.any(String), type: 'service_connection', duration_ms: expect.any(Number) },
        ...service,
        ...bytes,
      })),
    )
    expect(endOf(events)?.record?.services).toEqual([
      { ...service, connections: 2, failed: 0, bytes_sent: 0, bytes_received: 10 },
    ])
    expect(endOf(events)?.transaction?.outside).toContainEqual({ kind: 'service', what: `web=localhost:${port}` })
    expect(stderr).toContain(`\nservices: localhost:${port} (web) → localhost:${port}\n`)
    const counted = '2 connections, 0 bytes sent, 10 bytes received'
    expect(stderr).toContain(`\n  service: localhost:${port} (web): ${counted}\n`)
    expect(readFileSync(report, 'utf8')).toContain(counted)
    expect(JSON.stringify(requests[0]?.body)).toContain(`servers that commands can reach: localhost:${port} (web)`)
  })

  test('is the only thing that a scan finds', async () => {
    const [port] = [await startServer(), await startServer('other')]
    const scan = [call('exec_command', { cmd: `${process.execPath} -e '${scanner}'`, yield_time_ms: 120_000 })]
    const { events } = await exec([scan, [say('done')]], ['--json', '--service', `localhost:${port}`, 'x'], {
      cwd: repository(),
    })
    const [command] = events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item] : [],
    )
    expect(command?.aggregated_output).toBe(`open ${port}\n`)
  })

  test('may be missing, which the event and the record say', async () => {
    const args = ['--json', '--service', 'localhost:79', 'x']
    const { code, events } = await exec(running(`${ask(79)} || true`), args, { cwd: repository() })
    expect(code).toBe(0)
    expect(connectionsIn(events)).toMatchObject([{ port: 79, error: expect.stringContaining('ECONNREFUSED') }])
    expect(endOf(events)?.record?.services).toMatchObject([{ port: 79, connections: 1, failed: 1 }])
  })

  test('is reached by the commands of a resumed run, and by --verify', async () => {
    const port = await startServer()
    const [cwd, home] = [repository(), tempDir()]
    const options = { cwd, home }
    const verify = ['--verify', ask(port)]
    const first = await exec([[say('done')]], ['--json', '--service', `localhost:${port}`, ...verify, 'x'], options)
    expect(first.code, first.stderr).toBe(0)
    expect(connectionsIn(first.events)).toHaveLength(1)
    const args = ['--service', `localhost:${port}`, '--json', 'resume', '--last', '--no-verify', 'y']
    const second = await exec(running(ask(port)), args, options)
    expect(connectionsIn(second.events)).toHaveLength(1)
  })

  test('a thousand connections are events, and the record counts the others too', async () => {
    const port = await startServer('.')
    const many = `for i in $(seq 1 1010); do cat < /dev/tcp/localhost/${port} > /dev/null; done`
    const args = ['--json', '--service', `localhost:${port}`, 'x']
    const { events } = await exec(
      [[call('exec_command', { cmd: `bash -c '${many}'`, yield_time_ms: 120_000 })], [say('done')]],
      args,
      { cwd: repository() },
    )
    expect(connectionsIn(events)).toHaveLength(1000)
    expect(endOf(events)?.record?.services).toMatchObject([{ connections: 1010, bytes_received: 1010 }])
  })

  const runs = needsPrograms('redis-server', 'redis-cli') ? test.skip : test
  runs('can be a real Redis', async () => {
    const redis = await startRedis()
    const port = new URL(redis.url).port
    const cli = `redis-cli -h db -p ${port}`
    const args = ['--json', '--service', `db=localhost:${port}`, 'x']
    const { events, stderr } = await exec(running(`${cli} set answer 42`), args, { cwd: repository() })
    expect(redis.cli('get', 'answer'), stderr).toBe('42\n')
    expect(connectionsIn(events)).toMatchObject([
      { name: 'db', bytes_sent: expect.any(Number), bytes_received: expect.any(Number) },
    ])
    expect(connectionsIn(events)[0]?.bytes_sent).toBeGreaterThan(10)
  })

  test('that the user’s own file names is joined by those of --service', async () => {
    const [one, two] = [await startServer('one'), await startServer('two')]
    const home = tempDir({ '.config/portcullis/config.toml': `services = ["localhost:${one}"]\n` })
    const args = ['--json', '--service', `localhost:${two}`, '--service', `localhost:${one}`, 'x']
    const { requests, events } = await exec(running(`${ask(one)}; ${ask(two)}`), args, { cwd: repository(), home })
    expect(JSON.stringify(requests[1]?.body)).toContain('onetwo')
    expect(configOf(events)?.services).toEqual([one, two].map((port) => ({ host: 'localhost', port })))
  })

  test('is never one that a repository names, even if it is trusted', async () => {
    const port = await startServer()
    const cwd = repository({ '.portcullis/config.toml': `services = ["localhost:${port}"]\n` })
    for (const trust of [[], ['--trust']]) {
      const { events, requests } = await exec(running(ask(port)), ['--json', ...trust, 'x'], { cwd })
      expect(configOf(events)?.services).toBeUndefined()
      expect(JSON.stringify(configOf(events)?.ignored_config)).toContain(join(cwd, '.portcullis/config.toml'))
      expect(JSON.stringify(requests[1]?.body)).not.toContain('hello')
    }
  })

  test('is named in evidence', async () => {
    const port = await startServer()
    const [cwd, home] = [repository(), tempDir()]
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd, stdio: 'ignore' })
    git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--allow-empty', '-m', 'first')
    const args = ['--service', `web=localhost:${port}`, 'x']
    expect((await exec(running(`${ask(port)} > said.txt`), args, { cwd, home })).code).toBe(0)
    const key = join(tempDir(), 'key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const output = join(tempDir(), 'evidence.json')
    const ended = await agent(['evidence', '--last', '-o', output, '--key', key], { cwd, home })
    expect(ended.code, ended.stderr).toBe(0)
    const { payload } = JSON.parse(readFileSync(output, 'utf8')) as { readonly payload: string }
    const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString()) as { readonly predicate: object }
    expect(predicate).toMatchObject({
      decided_by: [{ sandbox: { services: [`web=localhost:${port}`] } }],
      record: { services: [{ name: 'web', port, connections: 1, bytes_received: 5 }] },
    })
  })
})

const advice = /must not be a loopback address, .* is a service: --service localhost:5432/

test.each([
  [['--service', 'db'], '--service "db": must be [NAME=]HOST:PORT'],
  [['--service', 'localhost=a.example:1'], 'another name than localhost'],
  [['--service', 'localhost:3128'], 'where commands find the proxy'],
  [['--service', 'a=x:5', '--service', 'b=y:5'], '--service "b=y:5": must not have two services at port 5'],
  [Array.from({ length: 65 }, (_, at) => ['--service', `x:${at + 1}`]).flat(), 'more than 64 services'],
  [['-c', 'services=["localhost:3128"]'], "-c: key 'services': must not have a service at port 3128"],
  [['-c', 'sandbox_workspace_write.allowed_hosts=["localhost:5432"]'], advice],
  [['--service', 'a.example:1', '-c', 'sandbox_workspace_write.network_access=true'], 'network_access = true'],
  [['--service', 'no-such-host.invalid:1'], 'no-such-host.invalid:1: must name a host that this machine knows'],
])('agent exec %j is a usage error', async (args, message) => {
  const { code, stderr } = await exec([[say('done')]], [...args, 'x'], { cwd: repository() })
  expect(stderr).toMatch(message)
  expect(code).toBe(2)
})

test('a wrong service in the user’s file is reported with its line', async () => {
  const home = tempDir({ '.config/portcullis/config.toml': 'model = "gpt-5.5"\nservices = ["localhost:1", "db"]\n' })
  const { code, stderr } = await exec([[say('done')]], ['x'], { cwd: repository(), home })
  expect(stderr).toContain(`${join(home, '.config/portcullis/config.toml')}:2: key 'services.1': "db": must be`)
  expect(code).toBe(2)
})

test.each([
  ['exec', ['exec', 'x']],
  ['exec resume', ['exec', 'resume', '--last', 'x']],
  ['batch run', ['batch', 'run', 'none.jsonl', '-o', 'out']],
  ['mcp-server', ['mcp-server']],
  ['sandbox', ['sandbox', 'true']],
])('agent %s has the option', async (_, words) => {
  const [program, ...others] = words
  const { code, stderr } = await agent([`${program}`, ...others.slice(0, -1), '--service', 'db', ...others.slice(-1)], {
    cwd: repository(),
    home: tempDir(),
  })
  expect(stderr).not.toContain('unknown option')
  expect(code).not.toBe(0)
})

test.skipIf(needsBubblewrap())('each run of a batch has the services', async () => {
  const port = await startServer()
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['one', 'two']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf(`${ask(port)} > a.txt`)]
  const { code, stderr } = await place.run([...words, '--service', `localhost:${port}`])
  expect(code, stderr).toBe(0)
  const patches = globSync('runs/*/1/changes.patch', { cwd: place.out }).map((file) =>
    readFileSync(join(place.out, file), 'utf8'),
  )
  expect(patches.filter((patch) => patch.includes('\n+hello'))).toHaveLength(2)
})
