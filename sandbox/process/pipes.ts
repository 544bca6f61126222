import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** A pipe whose far end a command writes to. */
type OutputPipe = {
  readonly source: Readable
  /** For the child's stdio. */
  readonly descriptor: number
}

/** The pipes of one command. */
export type CommandPipes = {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  /** For each thing handed in: the descriptor, for the child's stdio, that it can be read from; undefined where it doesn't fit into a pipe. */
  readonly inputs: readonly (number | undefined)[]
  /** To be called as soon as the child has its descriptors: ours would keep the pipes open for ever. */
  handedOver(): void
  /** To be called when the command's tree is gone and both sources are closed. */
  release(): void
}

/** Opens the pipes of a command that is handed `inputs` from its start on. */
type OpenPipes = (...inputs: readonly Uint8Array[]) => CommandPipes

/** How many named pipes are made at a time: making sixteen takes as long as making one. */
const batch = 16

/**
 * Makes pipes for commands when they are needed, by way of named ones in `directory`. Node itself connects children by sockets, and a
 * socket can't be opened anew: `echo oops > /dev/stderr` fails on it; and each takes longer to make than all that is handed in takes to
 * write. With `reuse`, a name is used again for a later command, which needs certainty that nothing of the earlier one is left to write to it.
 */
export function createPipes(directory: string, reuse: boolean): OpenPipes {
  const idle: string[] = []
  let made = 0
  const take = (): string => {
    const name = idle.pop()
    if (name !== undefined) return name
    const names = Array.from({ length: batch }, () => join(directory, `pipe-${(made += 1)}`))
    const { error, status, stderr } = spawnSync('mkfifo', ['-m', '600', '--', ...names], { encoding: 'utf8' })
    if (error !== undefined) throw error
    if (status !== 0) throw new Error(`mkfifo: ${stderr.trim()}`)
    idle.push(...names.slice(1))
    return names[0] ?? ''
  }
  return (...given) => {
    const names = Array.from({ length: 2 + given.length }, take)
    const [stdout, stderr] = [openOutput(names[0] ?? ''), openOutput(names[1] ?? '')]
    const inputs = given.map((bytes, index) => openInput(names[2 + index] ?? '', bytes))
    return {
      stdout,
      stderr,
      inputs,
      handedOver: () => {
        for (const each of [stdout.descriptor, stderr.descriptor, ...inputs]) if (each !== undefined) closeSync(each)
      },
      release: () => {
        if (reuse) idle.push(...names)
        else for (const name of names) rmSync(name, { force: true })
      },
    }
  }
}

function openOutput(name: string): OutputPipe {
  // The reading end first and without waiting, or opening either end would wait for the other.
  const near = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const descriptor = openSync(name, constants.O_WRONLY)
  return { source: new Socket({ fd: near, readable: true, writable: false }), descriptor }
}

/** The end to read all of `bytes` from; undefined where the pipe can't hold them. */
function openInput(name: string, bytes: Uint8Array): number | undefined {
  const near = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const far = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK)
  try {
    if (writeSync(far, bytes) === bytes.length) return near
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  } finally {
    closeSync(far)
  }
  closeSync(near)
  return undefined
}
