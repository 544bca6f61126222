import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import process from 'node:process'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { listEntries } from './host-paths.ts'
import { encodeText } from './path-bytes.ts'
import { randomName } from './random-name.ts'

/** How many entries are removed between two pauses. During a pause, this process can do other work. Most trees are removed without any pause. */
const inOneGo = 256

/** The maximum number of attempts to remove a tree that something else is still changing. */
const mostRounds = 4

/**
 * Removes a directory with everything that commands may have left in it, even directories that their owner can't access, and trees so deep that no
 * path reaches the bottom (`PATH_MAX`, 4,096 bytes on Linux). Throws the system's error for entries that still can't be removed.
 *
 * Commands choose the names and the symlinks in the tree, and this process may remove more than they could. So names are used as the bytes that they
 * are, and every directory is held open, without following a symlink, while its entries are removed.
 *
 * It removes one entry after another on this thread. A run usually leaves a few dozen entries, and handing each one to another thread takes several
 * times as long as removing it.
 *
 * @internal
 */
export async function removeTree(path: string): Promise<void> {
  const top = encodeText(path)
  const turns = takeTurns()
  try {
    await removeBelow(top, turns)
  } catch {
    await flatten(top, turns)
    await removeBelow(top, turns)
  }
}

/**
 * Returns a function to call after each removed entry. From time to time, it returns a promise to wait for, so that this process can do other work.
 */
function takeTurns(): () => Promise<unknown> | undefined {
  let done = 0
  return () => ((done += 1) % inOneGo === 0 ? setImmediate() : undefined)
}

type Turns = ReturnType<typeof takeTurns>

async function removeBelow(path: Buffer, turns: Turns): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      // If the path is a symlink to a directory, only the symlink is removed, not the directory.
      if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) unlinkSync(path)
      else {
        for (const _ of removing(path)) {
          const turn = turns()
          if (turn !== undefined) await turn
        }
      }
      return
    } catch (error) {
      const code = codeOf(error)
      if (round === mostRounds || (code !== 'ENOTEMPTY' && code !== 'EBUSY' && code !== 'EMFILE')) throw error
      await sleep(round * 100)
    }
  }
}

/** Removes a directory with its contents, and yields after each entry. */
function* removing(directory: Buffer): Generator<void> {
  const descriptor = ifThere(() => openSync(directory, asDirectory))
  if (descriptor === undefined) return
  try {
    const held = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${descriptor}`) : directory
    for (const { name, kind } of listEntries(held)) {
      const path = below(held, bytesOf(name))
      if (kind === 'directory') yield* removing(path)
      else ifThere(() => unlinkSync(path))
      yield
    }
  } finally {
    closeSync(descriptor)
  }
  ifThere(() => rmdirSync(directory))
}

const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Removes all subdirectories of a directory with their contents. Nested directories are moved up first, so that no path below this directory is
 * longer than two names.
 */
async function flatten(path: Buffer, turns: Turns): Promise<void> {
  makeAccessible(path)
  const out = below(path, Buffer.from(`out-${randomName()}`))
  mkdirSync(out, { mode: 0o700 })
  const waiting = directoriesIn(path).filter((directory) => !directory.equals(out))
  let taken = 0
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    // Moving a directory requires write permission for the directory itself, not only for its parent.
    makeAccessible(directory)
    for (const child of directoriesIn(directory)) {
      const outside = below(out, Buffer.from(`${++taken}`))
      makeAccessible(child)
      renameSync(child, outside)
      waiting.push(outside)
    }
    for (const { name } of listEntries(directory)) {
      unlinkSync(below(directory, bytesOf(name)))
      await turns()
    }
    rmdirSync(directory)
  }
}

/** Gives the owner of a directory full access to it. Throws the system's error if the path names a symlink. */
function makeAccessible(directory: Buffer): void {
  if (process.platform !== 'linux') return chmodSync(directory, 0o700)
  // With O_PATH, even a directory that its owner can't access can be opened.
  const descriptor = openSync(directory, asDirectory | pathOnly)
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, 0o700)
  } finally {
    closeSync(descriptor)
  }
}

/** O_PATH of open(2), for which Node has no constant. */
const pathOnly = 0o1000_0000

/** The subdirectories of a directory. */
function directoriesIn(directory: Buffer): readonly Buffer[] {
  const found: Buffer[] = []
  for (const { name, kind } of listEntries(directory))
    if (kind === 'directory') found.push(below(directory, bytesOf(name)))
  return found
}

/** The bytes of a listed name, which may not be valid text. */
function bytesOf(name: string): Buffer {
  return Buffer.from(name, 'latin1')
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name])
}

/** Returns the function's result; undefined if the entry doesn't exist, for example because another process is removing the same tree. */
function ifThere<Given>(act: () => Given): Given | undefined {
  try {
    return act()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
