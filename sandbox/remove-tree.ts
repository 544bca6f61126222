import { chmod, mkdtemp, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes a directory with all that commands may have left in it: also directories that deny even their owner, and trees so deep that
 * no path leads to their end (`PATH_MAX`, 4,096 bytes on Linux). Throws what the system says of what resists even so.
 *
 * @internal
 */
export async function removeTree(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 })
  try {
    await remove()
  } catch {
    await flatten(path)
    await remove()
  }
}

/** Empties each directory below this one by first taking the directories in it out, so that none is ever deeper than two names. */
async function flatten(path: string): Promise<void> {
  await chmod(path, 0o700)
  const out = await mkdtemp(join(path, 'out-'))
  const top = (await directoriesIn(Buffer.from(path))).filter((directory) => !directory.equals(Buffer.from(out)))
  const waiting = [...top]
  let taken = 0
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    // A directory is renamed only by whoever may write to it too.
    await chmod(directory, 0o700)
    for (const child of await directoriesIn(directory)) {
      const outside = Buffer.from(join(out, `${++taken}`))
      await chmod(child, 0o700)
      await rename(child, outside)
      waiting.push(outside)
    }
    for (const name of await readdir(directory, { encoding: 'buffer' })) await unlink(below(directory, name))
    await rmdir(directory)
  }
}

/** Names are bytes, which need not be text. */
async function directoriesIn(directory: Buffer): Promise<readonly Buffer[]> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => below(directory, name))
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name])
}
