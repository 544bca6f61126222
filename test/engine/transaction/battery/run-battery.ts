import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { hashOfFile } from '../../../../engine/transaction/tree-files.ts'
import { agent, type Ended } from '../../../support/agent.ts'
import { call, say, startMockOpenAI, type Reply } from '../../../support/mock-openai.ts'
import type { Received } from '../../../support/sse-server.ts'
import { fingerprint } from '../fingerprint.ts'
import { makeTree, type Change } from './changes.ts'

export const strategies = ['copy', 'overlay', 'reflink'] as const
type Strategy = (typeof strategies)[number]

/** A way for a run to end so that none of its changes land. */
type End = {
  readonly name: string
  readonly args?: readonly string[]
  /** Acts on the program's process after the changes have been made. */
  readonly act?: (pid: number) => void
  /** If set, `act` isn't called directly after the changes, but while the command that follows them is running. */
  readonly duringCommand?: true
  readonly last?: Reply
  readonly code: number | null
}

/** A command that is still running when its run is stopped. */
const lasting = 'sleep 60'

const cmd = (text: string): Reply => [call('exec_command', { cmd: text, timeout_ms: 120_000 })]

/** The ways in which a run can end so that none of its changes land. */
export const ends: readonly End[] = [
  {
    name: 'failed provider',
    last: { say: [], end: { type: 'failed', code: 'invalid_prompt', message: 'flagged' } },
    code: 6,
  },
  { name: 'refused', args: ['--fail-on-denied'], last: cmd('git push --force'), code: 3 },
  { name: 'failed verify', args: ['--verify', 'false', '--verify-attempts', '1'], code: 1 },
  { name: 'budget', args: ['--max-turns', '2'], last: cmd('true'), code: 4 },
  {
    name: 'Ctrl-C',
    act: (pid) => process.kill(pid, 'SIGINT'),
    duringCommand: true,
    last: cmd(lasting),
    code: 130,
  },
  { name: 'SIGKILL', act: (pid) => process.kill(pid, 'SIGKILL'), last: cmd(lasting), code: null },
  {
    name: 'SIGKILL during a command',
    act: (pid) => process.kill(pid, 'SIGKILL'),
    duringCommand: true,
    last: cmd(lasting),
    code: null,
  },
  {
    // The mounts of an overlay belong to the program's own process. Those of other views belong to the sandboxes of commands.
    name: 'SIGKILL of the sandbox',
    args: ['--max-turns', '2'],
    act: (pid) => descendants(pid).forEach((each) => kill(each)),
    duringCommand: true,
    last: cmd(lasting),
    code: 4,
  },
]

/** The violated guarantees, in sentences. */
type Failures = readonly string[]

/** Makes changes in a run that ends in the given way, and checks that the whole tree is the same after the run as before. */
export async function nothingHappens(
  strategy: Strategy,
  end: End,
  made: readonly Change[],
  base?: string,
): Promise<Failures> {
  return inTree(base, async (tree, home) => {
    const before = fingerprint(tree)
    let [pid, asked] = [0, 0]
    let notMade = ''
    let acted: Promise<Failures> = Promise.resolve([])
    const ended = await run(tree, home, {
      args: [`--view=${strategy}`, ...(end.args ?? [])],
      reply: (index, request) => {
        asked = index
        if (index === 0) return cmd(scriptOf(made))
        if (index > 1) return end.last ?? [say('done')]
        notMade = failedIn(request)
        if (end.duringCommand === true) acted = whileRunning(pid, () => end.act?.(pid))
        else end.act?.(pid)
        return end.last ?? [say('done')]
      },
      onStart: (started) => (pid = started),
    })
    const what = `${strategy}, ${end.name}, ${made.length === 1 ? made[0]?.name : `${made.length} kinds`}`
    return [
      ...(asked > 0 ? [] : [`${what}: the changes were not made: ${ended.stdout} ${ended.stderr}`]),
      ...(notMade === '' ? [] : [`${what}: ${notMade}`]),
      ...(await acted).map((each) => `${what}: ${each}`),
      ...(ended.code === end.code ? [] : [`${what}: exit code ${ended.code}, not ${end.code}: ${ended.stderr}`]),
      ...differences(before, fingerprint(tree)).map((each) => `${what}: ${each}`),
    ]
  })
}

/**
 * Makes the changes in two copies of the tree: in a run that lands all of them, and in a run without `--transactional`. Checks that both trees end up
 * the same, and that a single undo of the first run restores the original tree.
 */
export async function everythingHappens(strategy: Strategy, all: readonly Change[], base?: string): Promise<Failures> {
  return inTree(base, async (tree, home) =>
    inTree(base, async (plain, plainHome) => {
      const what = `${strategy}, success, ${all.length === 1 ? all[0]?.name : `${all.length} kinds`}`
      const made = all.filter(({ apart, notBy }) => apart !== 'blocks' && notBy !== strategy)
      const before = facts(tree)
      let notMade = ''
      const reply = (index: number, request: Received): Reply => {
        if (index === 0) return cmd(scriptOf(made))
        notMade ||= failedIn(request)
        return [say('done')]
      }
      await run(plain, plainHome, { args: [], reply })
      const args = [`--view=${strategy}`]
      const ended = await run(tree, home, { args, reply })
      const left = facts(tree)
      const undone = await agent(['undo', '--last'], { cwd: tree, home })
      return [
        ...(ended.code === 0 ? [] : [`${what}: exit code ${ended.code}: ${ended.stdout} ${ended.stderr}`]),
        ...(notMade === '' ? [] : [`${what}: ${notMade}`]),
        ...differences(facts(plain), left).map((each) => `${what}: ${each}`),
        ...differences(before, facts(tree)).map((each) => `${what}, undone (${undone.stderr.trim()}): ${each}`),
      ]
    }),
  )
}

/** A script that makes the changes one after the other, and prints the name of each change whose command fails. */
function scriptOf(made: readonly Change[]): string {
  return made
    .map(({ command, name }) => `( set -e; ${command} )\n[ $? = 0 ] || printf '%s made: %s.\\n' not '${name}'`)
    .join('\n')
}

/** The names of the changes that failed, found in the output that a request to the model contains. */
function failedIn(request: Received): string {
  return (
    JSON.stringify(request.body)
      .match(/not made: [^.]*/g)
      ?.join(', ') ?? ''
  )
}

/** Waits until a descendant of the process runs the command `lasting`, and then calls `act`. Returns a failure if none does within 20 seconds. */
async function whileRunning(pid: number, act: () => void): Promise<Failures> {
  for (let tries = 0; tries < 1000; tries++) {
    if (descendants(pid).some((each) => commandLineOf(each) === lasting)) {
      act()
      return []
    }
    await setTimeout(20)
  }
  return ['no command was running that could be stopped']
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
  } catch {
    // The process has ended.
    return ''
  }
}

/** The properties of a tree that a landing must reproduce: file types, modes, link targets, contents, and git's view of the tree. */
function facts(tree: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const walk = (directory: Buffer, shown: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
      const path = Buffer.concat([directory, Buffer.from('/'), entry.name])
      const name = `${shown}${entry.name.toString('latin1')}`
      const mode = (lstatSync(path).mode & 0o7777).toString(8)
      if (name === '.git') continue
      if (entry.isDirectory()) found[name] = `directory ${mode}`
      else if (entry.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`
      // These files of a database and of npm contain the time at which they were written, so their content isn't compared.
      else if (entry.isFile()) found[name] = `file ${mode} ${/\.db|\.package-lock/.test(name) ? '' : hashOfFile(path)}`
      if (entry.isDirectory()) walk(path, `${name}/`)
    }
  }
  walk(Buffer.from(tree), '')
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: tree }).toString()
  return { ...found, 'git log': git('log', '--format=%T %s'), 'git status': git('status', '--porcelain') }
}

type Running = {
  readonly args: readonly string[]
  readonly reply: (index: number, request: Received) => Reply
  readonly onStart?: (pid: number) => void
}

async function run(cwd: string, home: string, { args, reply, onStart }: Running): Promise<Ended> {
  const mock = await startMockOpenAI({ replies: (request, index) => reply(index, request), ids: randomUUID() })
  try {
    return await agent(['exec', '-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`, '--json', ...args, 'x'], {
      cwd,
      home,
      env: { OPENAI_API_KEY: 'sk-test-key' },
      onStart: (child) => onStart?.(child.pid ?? 0),
    })
  } finally {
    await mock.close()
  }
}

async function inTree(
  base: string | undefined,
  act: (tree: string, home: string) => Promise<Failures>,
): Promise<Failures> {
  const directory = realpathSync(mkdtempSync(join(base ?? tmpdir(), 'portcullis-battery-')))
  try {
    const [tree, home] = [join(directory, 'tree'), join(directory, 'home')]
    execFileSync('mkdir', [tree, home])
    makeTree(tree)
    return await act(tree, home)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function differences(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): Failures {
  if (isDeepStrictEqual(before, after)) return []
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return all
    .filter((path) => before[path] !== after[path])
    .map((path) => `${JSON.stringify(path)} was ${before[path] ?? 'absent'}, is ${after[path] ?? 'absent'}`)
    .slice(0, 10)
}

/** The descendants of a process. */
function descendants(pid: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const]
      } catch {
        // The process has ended.
        return []
      }
    })
  const found = [pid]
  for (const parent of found) found.push(...parents.filter(([, by]) => by === parent).map(([each]) => each))
  return found.slice(1)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended together with another one.
  }
}
