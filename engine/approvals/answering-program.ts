import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import process from 'node:process'
import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { lineExchange, type Exchange } from '../../policies/index.ts'
import { hostPath, hostProgram, isGroupAlive } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/** A program that answers questions. It is started at the first question. */
type AnsweringProgram = {
  readonly exchange: Exchange
  /** Stops the program and everything that it started, with SIGKILL if SIGTERM isn't enough. Can be called repeatedly. */
  readonly close: () => Promise<void>
}

type Execa = (typeof import('execa'))['execa']

type AnsweringOptions = {
  /** The paths that commands may write to. The program is not looked up in them. */
  readonly roots: readonly string[]
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Receives the program's standard error. Undefined: standard error is discarded. */
  readonly errors: Writable | undefined
}

/**
 * Exchanges JSON lines with a child process. The process is started at the first question and kept for later ones. If it has ended, it is started again.
 *
 * @param argv the program and its arguments. The program is looked up at once, before any command can create a different program with its name
 * @throws UserError `usage` if there is no such program
 */
export async function answeringProgram(
  argv: readonly [string, ...string[]],
  { roots, environment, errors }: AnsweringOptions,
): Promise<AnsweringProgram> {
  const [name, ...words] = argv
  const located = locate(name, roots)
  const env = { ...environment, PATH: hostPath(roots, environment['PATH']) }
  await checkFirstWord(argv, env)
  let running: { readonly child: ChildProcess; readonly exchange: Exchange; failed: Error | undefined } | undefined
  const start = (execa: Execa): NonNullable<typeof running> => {
    // `detached` gives the program its own process group, so that its children can be stopped together with it. With `buffer: false`, its output can
    // be read as it arrives; with `reject: false`, a non-zero exit code is not an error.
    const {
      nodeChildProcess: child,
      stdin,
      stdout,
      stderr,
    } = execa(located, words, {
      stdio: ['pipe', 'pipe', 'pipe'],
      buffer: false,
      reject: false,
      detached: true,
      extendEnv: false,
      env,
    })
    // The program doesn't inherit standard error. If it did and outlived this process, whoever reads the standard error of this process would keep waiting.
    if (errors === undefined) stderr.resume()
    else stderr.pipe(errors, { end: false })
    const started = { child, exchange: lineExchange(stdout, stdin), failed: undefined as Error | undefined }
    child.on('error', (cause) => (started.failed = new Error(`${name} can't be started: ${cause.message}`, { cause })))
    child.unref()
    for (const stream of [stdin, stdout, stderr]) (stream as Partial<Socket>).unref?.()
    return started
  }
  return {
    exchange: async (request, signal) => {
      // `execa` is loaded at the first question, because most runs never ask one.
      const { execa } = await import('execa')
      if (running === undefined || running.failed !== undefined || hasEnded(running.child)) running = start(execa)
      const asked = running
      try {
        return await asked.exchange(request, signal)
      } catch (cause) {
        // If the program couldn't be started, that is why the exchange failed, so the error from starting it is thrown instead of the exchange's.
        throw asked.failed ?? cause
      }
    },
    close: async () => {
      const { child } = running ?? {}
      running = undefined
      if (child === undefined) return
      child.stdin?.end()
      const { pid } = child
      if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
      for (let waited = 0; waited < graceMs && isGroupAlive(pid); waited += lookMs) await setTimeout(lookMs)
      signalGroup(pid, 'SIGKILL')
      child.stderr?.destroy()
    },
  }
}

function locate(name: string, roots: readonly string[]): string {
  try {
    return hostProgram(name, roots)
  } catch (cause) {
    throw new UserError('usage', `The approval program ${name} can't be started: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/**
 * If a program is a shell with a command line, asks that shell whether the line's first word is a command. Words with expansions are left to the shell.
 *
 * @param argv the program and its arguments
 * @throws UserError `usage` if it isn't
 */
async function checkFirstWord([shell, flag, line]: readonly string[], env: Readonly<NodeJS.ProcessEnv>): Promise<void> {
  const word = line === undefined ? undefined : firstWord(line.trimStart())
  if (shell !== '/bin/sh' || flag !== '-c' || word === undefined) return
  const { execa } = await import('execa')
  const { exitCode } = await execa(shell, ['-c', 'command -v "$1"', shell, word], {
    stdio: 'ignore',
    reject: false,
    timeout: longestLookMs,
    extendEnv: false,
    env,
  })
  if (exitCode === undefined || exitCode === 0) return
  throw new UserError('usage', `The approval program ${word} can't be started: there is no such command.`)
}

/** How long a shell may look for a command, in milliseconds. */
const longestLookMs = 10_000

/** The first word of a command line, without its quotes; undefined if the shell would expand it. */
function firstWord(line: string): string | undefined {
  const end = line.startsWith('"') ? line.indexOf('"', 1) : -1
  const word = end === -1 ? (line.split(' ', 1)[0] ?? '') : line.slice(1, end)
  const isWhole = end === -1 || line.length === end + 1 || line[end + 1] === ' '
  return isWhole && (end === -1 ? /^[\w./+@:-]+$/ : /^[^"$`\\]+$/).test(word) ? word : undefined
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.stdout?.readableEnded === true
}

/** How long a program may take to end after SIGTERM, in milliseconds. */
const graceMs = 1000
/** How often to check whether a program has ended: the time between two checks, in milliseconds. */
const lookMs = 20

/** Sends a signal to a process group. Returns false if the group is empty. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
