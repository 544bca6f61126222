/** Uses strace to trace the system calls of a process, to kill the process at one of them, or to make one of them fail. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

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

/** A system call of the main thread: the `nth` call with this name. strace counts each name separately. */
export type Call = { readonly name: string; readonly nth: number; readonly text: string; readonly reads: boolean }

export type Ended = {
  readonly killed: boolean
  readonly stdout: string
  readonly stderr: string
  /**
   * Whether the runtime itself has disturbed the trace. Node opens files to count processors, in one thread or another, and wakes its threads a
   * varying number of times. Later calls then have different numbers, so the run is inconclusive.
   */
  readonly disturbed: boolean
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
): Promise<{ readonly calls: readonly Call[]; readonly disturbed: boolean }> {
  const names = [...changing, ...asking].map((name) => `?${name}`).join()
  const { lines, disturbed } = await trace(['-e', `trace=${names}`], command, env)
  const counts = new Map<string, number>()
  const calls: Call[] = []
  let begun = false
  for (const line of lines) {
    const [, name = '', text = ''] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? []
    begun ||= text.includes(begins)
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    const reads = /^open/.test(name) && !text.includes('O_CREAT')
    const call = { name, nth, text: `${name}(${text}`, reads }
    if (begun && changing.includes(name) && !isOfRunTime(call.text)) calls.push(call)
  }
  return { calls, disturbed }
}

/** Kills the process as it enters a call, so that earlier calls are done but this one isn't. */
export function killAt({ name, nth }: Call, command: readonly string[], env: Env): Promise<Ended> {
  return trace(['-e', `trace=${name},?link,?linkat`, '-e', `inject=${name}:signal=KILL:when=${nth}`], command, env)
}

/** Makes a call fail and, with `onwards`, all later calls of the same name too. */
export function failAt(
  { name, nth }: Call,
  error: string,
  command: readonly string[],
  env: Env,
  onwards = false,
): Promise<Ended> {
  const when = `${nth}${onwards ? '+' : ''}`
  return trace(['-e', `trace=${name},?link,?linkat`, '-e', `inject=${name}:error=${error}:when=${when}`], command, env)
}

/** Runs a process under strace. Returns how the process ended, and the traced calls of its main thread. */
async function trace(
  what: readonly string[],
  command: readonly string[],
  env: Env,
): Promise<Ended & { readonly lines: readonly string[] }> {
  const log = join(env['LOG'] ?? '', `strace-${process.hrtime.bigint()}`)
  // If `LINKLESS` is set, all calls to link(2) and linkat(2) fail, as on a file system without hard links.
  const linkless = env['LINKLESS'] === undefined ? [] : ['-e', 'inject=?link,?linkat:error=EPERM:when=1+']
  const ended = await runPlainly(['strace', '-f', '-o', log, ...what, ...linkless, ...command], env)
  const all = readFileSync(log, 'utf8').split('\n')
  rmSync(log)
  const main = all[0]?.split(' ')[0] ?? ''
  const lines = all.filter((line) => line.startsWith(`${main} `) && !line.includes('resumed>'))
  const missed = lines.some((line) => line.endsWith('(INJECTED)') && isOfRunTime(line.replace(/^\d+ +/, '')))
  return { ...ended, lines, disturbed: missed || lines.some((line) => line.includes('"/sys/devices/')) }
}

/**
 * Whether a call writes the driver's report, wakes a thread (eventfd), or tells the event loop that a program has ended, through a pipe. None of this is part of a
 * commit, and the number of these calls varies.
 */
function isOfRunTime(text: string): boolean {
  return /^write\((?:[12],|\d+, "(?:\\1\\0\\0\\0\\0\\0\\0\\0", 8|\*", 1|[^"]*\\21\\0\\0\\0\\0\\0\\0\\0", 16)\))/.test(
    text,
  )
}

/** Runs a process to completion. */
export function runPlainly(
  [program = '', ...args]: readonly string[],
  env: Env,
): Promise<Pick<Ended, 'killed' | 'stdout' | 'stderr'>> {
  // Node's thread pool gets only one thread, because strace counts the calls of each thread separately.
  const child = spawn(program, args, { env: { ...env, PATH: process.env['PATH'], UV_THREADPOOL_SIZE: '1' } })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_, signal) => resolve({ killed: signal === 'SIGKILL', ...output }))
  })
}

/** Runs tasks two at a time, because most of their time is spent on starting processes. */
export async function inPairs<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items]
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item)
  }
  await Promise.all([worker(), worker()])
}
