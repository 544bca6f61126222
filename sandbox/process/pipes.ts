import { spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** A pipe whose far end a command writes to. */
type OutputPipe = {
  readonly source: Readable
  /** For the child's stdio. To be closed by `handedOver` as soon as the child has it, or the pipe never ends. */
  readonly descriptor: number
  handedOver(): void
}

/** The two pipes of one command. */
export type OutputPipes = {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  /** To be called when the command's tree is gone and both sources are closed. */
  release(): void
}

/** How many named pipes are made at a time: making sixteen takes as long as making one. */
const batch = 16

const options = ['-m', '600', '--'] as const

/**
 * Makes pipes for the output of commands, by way of named ones in `directory`. Node itself connects children by sockets, and a socket
 * can't be opened anew: `echo oops > /dev/stderr` fails on it. With `reuse`, a name is used again for a later command, which needs
 * certainty that nothing of the earlier one is left to write to it.
 */
export async function createPipes(directory: string, reuse: boolean): Promise<() => OutputPipes> {
  const idle: string[] = []
  let made = 0
  const nextNames = (): readonly string[] => Array.from({ length: batch }, () => join(directory, `pipe-${(made += 1)}`))
  const take = (): string => {
    const name = idle.pop()
    if (name !== undefined) return name
    const names = nextNames()
    const { error, status, stderr } = spawnSync('mkfifo', [...options, ...names], { encoding: 'utf8' })
    if (error !== undefined) throw error
    if (status !== 0) throw new Error(`mkfifo: ${stderr.trim()}`)
    idle.push(...names.slice(1))
    return names[0] ?? ''
  }
  // The first are made while the rest of the sandbox is.
  const first = nextNames()
  await new Promise<void>((resolve, reject) => {
    const child = spawn('mkfifo', [...options, ...first], { stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`mkfifo in ${directory}: status ${code}`))))
  })
  idle.push(...first)
  return () => {
    const names = [take(), take()] as const
    const [stdout, stderr] = [openPipe(names[0]), openPipe(names[1])]
    return {
      stdout,
      stderr,
      release: () => {
        if (reuse) idle.push(...names)
        else for (const name of names) rmSync(name, { force: true })
      },
    }
  }
}

function openPipe(name: string): OutputPipe {
  // The reading end first and without waiting, or opening either end would wait for the other.
  const near = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const descriptor = openSync(name, constants.O_WRONLY)
  return {
    source: new Socket({ fd: near, readable: true, writable: false }),
    descriptor,
    handedOver: () => closeSync(descriptor),
  }
}
