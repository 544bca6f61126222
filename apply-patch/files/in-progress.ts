const name = Symbol.for('portcullis/tree-locks')
const shared: typeof globalThis & { [name]?: Set<Promise<void>> } = globalThis

/**
 * One promise for each tree lock that this process holds. A promise resolves when its lock has been released. All copies of this package in the process share
 * the set: a bundle contains a copy for code that is loaded later, and a user's tool may import another copy.
 */
const held = (shared[name] ??= new Set())

/** Notes that this process has locked a tree and may be changing it. Returns a function that notes that the lock has been released. */
export function noteLock(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  held.add(promise)
  return () => {
    held.delete(promise)
    resolve()
  }
}

/**
 * Whether this process is changing a tree: by a commit, an undo or a recovery. A program must not exit in the meantime, for example because of a signal, or the
 * tree would have some of the changes until the next command recovers it.
 *
 * @returns a promise that resolves when the transactions in progress are completed or rolled back; undefined if there are none
 * @internal
 */
export function transactionsInProgress(): Promise<unknown> | undefined {
  return held.size === 0 ? undefined : Promise.all(held)
}
