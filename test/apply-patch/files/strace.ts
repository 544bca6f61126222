/** Uses strace to trace the system calls of a process, to kill the process at one of them, or to make one of them fail. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** The system calls with which a program may change files or sync them, under all the names that the runtime may use. */
const changing = [
  [
    'open',
    'openat',
    'creat',
    'mkdir',
    'mkdirat',
    'rmdir',
    'unlink',
    'unlinkat',
    'link',
    'linkat',
    'symlink',
    'symlinkat',
  ],
  ['rename', 'renameat', 'renameat2', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'fallocate'],
  ['chmod', 'fchmod', 'fchmodat', 'chown', 'fchown', 'lchown', 'fchownat', 'utimensat', 'fsync', 'fdatasync'],
].flat()

const asking = ['access', 'faccessat', 'faccessat2']

/** A system call with which the program itself, not its runtime, uses a file. */
export type Call = {
  readonly name: string
  /** The `nth` such call with this name. */
  readonly nth: number
  /** How many calls with this name the runtime had made before. The number varies, and strace can't tell them apart when it counts. */
  readonly besides: number
  readonly text: string
  readonly reads: boolean
}

export type Ended = { readonly killed: boolean; readonly stdout: string; readonly stderr: string }

/** How a run ended in which one call should fail or be the last one. */
export type Tried = Ended & {
  /** The call as it was numbered in this run, if something else was struck because the runtime made more or fewer calls than expected. Such a run shows nothing. */
  readonly missed: Call | undefined
}

/** Why strace can't be used here; undefined if it can. */
export function whyNoStrace(): string | undefined {
  const inject = ['-f', '-o', '/dev/null', '-e', 'trace=?rmdir', '-e', 'inject=?rmdir:error=EIO:when=1', '/bin/true']
  const { error, status, stderr } = spawnSync('strace', inject, { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not installed'
  return status === 0 ? undefined : `strace cannot trace here: ${stderr.trim()}`
}

type Env = Readonly<Record<string, string>>

/** Returns the program's own calls that change or open files, starting with the first call that names the path `begins`. */
export async function traceCalls(
  command: readonly string[],
  env: Env,
  begins = '/work-begins',
): Promise<readonly Call[]> {
  const names = [...changing, ...asking].map((name) => `?${name}`).join()
  const lines: string[] = []
  await trace(['-e', `trace=${names}`], command, env, (line) => void lines.push(line))
  const counts = new Map<string, { own: number; besides: number }>()
  const calls: Call[] = []
  let begun = false
  for (const text of lines) {
    const name = nameOf(text)
    begun ||= text.includes(begins)
    const count = counts.get(name) ?? { own: 0, besides: 0 }
    counts.set(name, count)
    count[usesFile(text) ? 'own' : 'besides'] += 1
    const reads = /^open/.test(name) && !text.includes('O_CREAT')
    if (begun && usesFile(text) && changing.includes(name))
      calls.push({ name, nth: count.own, besides: count.besides, text, reads })
  }
  return calls
}

/** Kills the process as it enters a call, so that earlier calls are done but this one isn't. */
export function killAt(call: Call, command: readonly string[], env: Env): Promise<Tried> {
  return strike(call, 'signal=KILL', '', command, env)
}

/** Makes a call fail and, with `onwards`, all later calls of the same name too. */
export function failAt(
  call: Call,
  error: string,
  command: readonly string[],
  env: Env,
  onwards = false,
): Promise<Tried> {
  return strike(call, `error=${error}`, onwards ? '+' : '', command, env)
}

/** Repeats a try until it strikes the call. */
export async function untilStruck<Result extends Pick<Tried, 'missed'>>(
  call: Call,
  attempt: (call: Call) => Promise<Result>,
): Promise<Result> {
  let wanted = call
  for (let tries = 0; tries < mostTries; tries++) {
    const tried = await attempt(wanted)
    if (tried.missed === undefined) return tried
    wanted = tried.missed
  }
  throw new Error(`missed ${mostTries} times: ${call.text}`)
}

/**
 * On an idle machine, about every second try at a write is missed, and on a busy one nine of ten, because the runtime's own writes vary more. So a call that is
 * missed this often isn't made in every run.
 */
export const mostTries = 200

async function strike(
  call: Call,
  injection: string,
  onwards: '+' | '',
  command: readonly string[],
  env: Env,
): Promise<Tried> {
  const { name, nth, besides } = call
  const seen = { own: 0, besides: 0 }
  let isMissed = false
  const what = ['-e', `trace=${name},?link,?linkat`]
  const inject = ['-e', `inject=${name}:${injection}:when=${nth + besides}${onwards}`]
  const ended = await trace([...what, ...inject], command, env, (line, end) => {
    if (nameOf(line) !== name || seen.own === nth) return
    seen[usesFile(line) ? 'own' : 'besides'] += 1
    const isStruck = seen.own + seen.besides === nth + besides
    isMissed ||= isStruck !== (seen.own === nth)
    // A runtime whose own call fails may wait forever: for the lock of its signal handlers, which it keeps in a pipe.
    if (isMissed) end()
  })
  return { ...ended, missed: isMissed ? { ...call, besides: seen.besides } : undefined }
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf('('))
}

/**
 * Whether a call names a path, or has a descriptor of something that has a path. All other descriptors (pipes, sockets, event counters) are the runtime's own.
 * The runtime also counts processors in `/sys`.
 */
function usesFile(line: string): boolean {
  return /^\w+\((?:"|AT_FDCWD|\d+<\/)/.test(line) && !line.includes('"/sys/')
}

/** Runs a process under strace, which reports each traced call of its main thread. */
function trace(
  what: readonly string[],
  command: readonly string[],
  env: Env,
  read: (line: string, end: () => void) => void,
): Promise<Ended> {
  // If `LINKLESS` is set, all calls to link(2) and linkat(2) fail, as on a file system without hard links.
  const linkless = env['LINKLESS'] === undefined ? [] : ['-e', 'inject=?link,?linkat:error=EPERM:when=1+']
  return run(['strace', '-y', '-o', '|cat >&3', ...what, ...linkless, ...command], env, read)
}

/** Runs a process to completion. */
export function runPlainly(command: readonly string[], env: Env, patience?: number): Promise<Ended> {
  return run(command, env, () => undefined, patience)
}

/**
 * @param read receives each line that the process writes to its descriptor 3, and a function that kills the process
 * @param patience how long the process may run, in milliseconds. All take less than a second on an idle machine.
 */
async function run(
  [program = '', ...args]: readonly string[],
  env: Env,
  read: (line: string, end: () => void) => void,
  patience = 60_000,
): Promise<Ended> {
  // A process group of its own can be killed whole: a traced process outlives strace.
  const child = spawn(program, args, {
    env: { ...env, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const [, stdout, stderr, traced] = child.stdio as [null, Readable, Readable, Readable, undefined]
  const output = { stdout: '', stderr: '' }
  const last: string[] = []
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
  }
  stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  createInterface({ input: traced }).on('line', (line) => {
    last.splice(0, Math.max(0, last.length - 4))
    last.push(line)
    read(line, end)
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, patience)
  try {
    const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    if (isLate)
      throw new Error(
        [`not ended after ${patience / 1000} s: ${program} ${args.join(' ')}`, 'Its last calls:', ...last].join('\n'),
      )
    return { killed: signal === 'SIGKILL', ...output }
  } finally {
    clearTimeout(timer)
  }
}

/** Runs tasks two at a time, because most of their time is spent on starting processes. */
export async function inPairs<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items]
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item)
  }
  await Promise.all([worker(), worker()])
}
