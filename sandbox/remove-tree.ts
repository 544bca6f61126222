import { chmodSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmdirSync, unlinkSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** How many entries are removed between two pauses. During a pause, this process can do other work. */
const inOneGo = 256

/** The maximum number of attempts to remove a tree that something else is still changing. */
const mostRounds = 4

/**
 * Removes a directory with everything that commands may have left in it, even directories that their owner can't access, and trees so deep that no
 * path reaches the bottom (`PATH_MAX`, 4,096 bytes on Linux). Throws the system's error for entries that still can't be removed.
 *
 * It removes one entry after another on this thread. A run usually leaves a few dozen entries, and handing each one to another thread takes several
 * times as long as removing it.
 *
 * @internal
 */
export async function removeTree(path: string): Promise<void> {
  if (isSmallRemoved(path)) return
  const turns = takeTurns()
  try {
    await removeBelow(path, turns)
  } catch {
    await flatten(path, turns)
    await removeBelow(path, turns)
  }
}

/** The maximum number of entries in a tree that is removed without any pause. */
const mostSmall = 256

/**
 * Removes a tree without pausing and returns true if the tree is small and nothing in it prevents the removal, which is the usual case. Otherwise
 * returns false; some entries may have been removed by then.
 */
function isSmallRemoved(path: string): boolean {
  let done = 0
  const remove = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if ((done += 1) > mostSmall) throw new Error('the tree is not small')
      // A name that isn't valid UTF-8 is changed when it is read as text. Its entry is then not found, and `removeTree` uses its slower method.
      const inside = `${directory}/${entry.name}`
      if (entry.isDirectory()) remove(inside)
      else unlinkSync(inside)
    }
    rmdirSync(directory)
  }
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false
    remove(path)
    return true
  } catch {
    return false
  }
}

/**
 * Returns a function to call after each removed entry. From time to time, it returns a promise to wait for, so that this process can do other work.
 */
function takeTurns(): () => Promise<void> | undefined {
  let done = 0
  return () => ((done += 1) % inOneGo === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined)
}

type Turns = ReturnType<typeof takeTurns>

async function removeBelow(path: string, turns: Turns): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      // If the path is a symlink to a directory, only the symlink is removed, not the directory.
      if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) unlinkSync(path)
      else await removeOnce(Buffer.from(path), turns)
      return
    } catch (error) {
      const code = codeOf(error)
      if (round === mostRounds || (code !== 'ENOTEMPTY' && code !== 'EBUSY' && code !== 'EMFILE')) throw error
      await sleep(round * 100)
    }
  }
}

async function removeOnce(directory: Buffer, turns: Turns): Promise<void> {
  const entries = ifThere(() => readdirSync(directory, { withFileTypes: true, encoding: 'buffer' }))
  if (entries === undefined) return
  for (const entry of entries) {
    const path = below(directory, entry.name)
    if (entry.isDirectory()) await removeOnce(path, turns)
    else ifThere(() => unlinkSync(path))
    const turn = turns()
    if (turn !== undefined) await turn
  }
  ifThere(() => rmdirSync(directory))
}

/**
 * Removes all subdirectories of a directory with their contents. Nested directories are moved up first, so that no path below this directory is
 * longer than two names.
 */
async function flatten(path: string, turns: Turns): Promise<void> {
  chmodSync(path, 0o700)
  const out = mkdtempSync(join(path, 'out-'))
  const top = directoriesIn(Buffer.from(path)).filter((directory) => !directory.equals(Buffer.from(out)))
  const waiting = [...top]
  let taken = 0
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    // Moving a directory requires write permission for the directory itself, not only for its parent.
    chmodSync(directory, 0o700)
    for (const child of directoriesIn(directory)) {
      const outside = Buffer.from(join(out, `${++taken}`))
      chmodSync(child, 0o700)
      renameSync(child, outside)
      waiting.push(outside)
    }
    for (const name of readdirSync(directory, { encoding: 'buffer' })) {
      unlinkSync(below(directory, name))
      await turns()
    }
    rmdirSync(directory)
  }
}

/** The subdirectories of a directory. Names are read as bytes, because they may not be valid text. */
function directoriesIn(directory: Buffer): readonly Buffer[] {
  const entries: readonly Dirent<Buffer>[] = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => below(directory, name))
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
