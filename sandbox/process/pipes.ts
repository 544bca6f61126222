// execa isn't used here, because mkfifo is called synchronously or without reading any output, and every command has to
// wait for its pipes before it can start.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { lstatSync, mkdirSync, openSync, rmSync, unlinkSync } from '../host-paths.ts'
import { systemProgram } from '../host-program.ts'
import { randomName } from '../random-name.ts'
import { O_PATH } from '../kernel-constants.ts'
import { patience } from './patience.ts'

/** A pipe that a command writes to and we read from. */
type OutputPipe = {
  readonly source: Readable
  /** The descriptor to pass to the child. */
  readonly descriptor: number
}

/** The pipes of one command. */
export type CommandPipes = {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  /** For each input, the descriptor to pass to the child, so that it can read the input; undefined if the input doesn't fit into a pipe. */
  readonly inputs: readonly (number | undefined)[]
  /** Closes our copies of the child's descriptors, which would keep the pipes open forever. Call this as soon as the child has the descriptors. */
  handedOver(): void
  /** Lets another command use the pipes, or closes them. Call this when all processes of the command have ended and both outputs are closed. */
  release(): void
}

/** The pipes of a sandbox. */
type Pipes = {
  /** Begins to create pipes if there are too few for a command. Call this while there is other work to do before `open`. */
  readonly prepare: () => void
  /** Opens a command's pipes: two for its outputs, and one for each of `inputs`. Each input that fits into its pipe is written into it at once. */
  readonly open: (...inputs: readonly Uint8Array[]) => CommandPipes
  /** Closes the pipes that no command is using. */
  readonly close: () => void
}

/** How many pipes one call of mkfifo creates. The first call creates only enough for one command, because there may be no other. */
const batch = { first: 5, next: 20 }

/** The arguments of mkfifo(1) that come before the names. The pipes can be opened only by this user. */
const asOwner = ['-m', '600', '--']

/** A pipe. On Linux it can be reached only through our descriptor, on other systems by its name. */
type Pipe = { readonly name: string; readonly held: number | undefined }

/**
 * Creates pipes for commands when they are needed, as named pipes in `directory`. Node itself connects children through sockets, which have two
 * drawbacks: a socket can't be reopened, so `echo oops > /dev/stderr` fails; and creating one takes longer than writing all inputs. With `reuse`,
 * later commands get the same pipes. Set `reuse` only if no process of an earlier command can still write to a pipe.
 *
 * Another run's commands may see `directory`, and can write to any named pipe that they see, even through a read-only mount. Therefore the names
 * can't be guessed, the directory can't be listed, and on Linux each name is removed before its pipe is used.
 */
export function createPipes(directory: string, reuse: boolean): Pipes {
  const idle: Pipe[] = []
  const place = join(directory, 'pipes')
  let isFirst = true
  let coming: readonly string[] = []
  const newNames = (): readonly string[] => {
    mkdirSync(place, { recursive: true, mode: 0o300 })
    const names = Array.from({ length: isFirst ? batch.first : batch.next }, () => join(place, randomName()))
    isFirst = false
    return names
  }
  const prepare = (): void => {
    if (process.platform !== 'linux' || coming.length > 0 || idle.length >= batch.first) return
    const names = newNames()
    const maker = spawn(systemProgram('mkfifo'), [...asOwner, ...names], { env: {}, stdio: 'ignore' })
    maker.once('error', () => undefined)
    maker.unref()
    coming = names
  }
  const make = (): void => {
    const prepared = coming
    coming = []
    if (haveCome(prepared)) {
      idle.push(...prepared.map(hold))
      return
    }
    const names = newNames()
    const { error, status, stderr } = spawnSync(systemProgram('mkfifo'), [...asOwner, ...names], {
      encoding: 'utf8',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
      ...patience,
    })
    if (error !== undefined) throw error
    if (status !== 0) throw new Error(`mkfifo: ${stderr.trim()}`)
    idle.push(...names.map(hold))
  }
  const take = (): Pipe => {
    if (idle.length === 0) make()
    const pipe = idle.pop()
    if (pipe === undefined) throw new Error('mkfifo made nothing')
    return pipe
  }
  const open: Pipes['open'] = (...given) => {
    const pipes = Array.from({ length: 2 + given.length }, take)
    const names = pipes.map(({ name }) => name)
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
        if (reuse) idle.push(...pipes)
        else pipes.forEach(drop)
      },
    }
  }
  return { prepare, open, close: () => idle.splice(0).forEach(drop) }
}

/** How many milliseconds to wait for pipes that another process is creating. That process usually takes less than three. */
const patienceMs = 30

/** Waits briefly until all of these pipes exist, and returns whether they do. Returns false if the list is empty. */
function haveCome(names: readonly string[]): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; waited < patienceMs && names.length > 0; waited += 1) {
    // The pipes are created in the order of their names, so the last one is checked first.
    if (names.toReversed().every(isPrivatePipe)) return true
    Atomics.wait(clock, 0, 0, 1)
  }
  return false
}

function isPrivatePipe(name: string): boolean {
  const stat = lstatSync(name, { throwIfNoEntry: false })
  return stat?.isFIFO() === true && (stat.mode & 0o7777) === 0o600
}

function hold(name: string): Pipe {
  if (process.platform !== 'linux') return { name, held: undefined }
  const held = openSync(name, O_PATH | constants.O_NOFOLLOW)
  unlinkSync(name)
  return { name: `/proc/self/fd/${held}`, held }
}

function drop({ name, held }: Pipe): void {
  if (held === undefined) rmSync(name, { force: true })
  else closeSync(held)
}

function openOutput(name: string): OutputPipe {
  // The reading end is opened first, without blocking. Otherwise, opening one end would wait until the other end is opened.
  const near = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const descriptor = openSync(name, constants.O_WRONLY)
  return { source: new Socket({ fd: near, readable: true, writable: false }), descriptor }
}

/** A descriptor from which all of `bytes` can be read; undefined if the pipe can't hold them. */
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
