import { readFileSync } from '../host-paths.ts'

/** How many inotify instances a command may have, and how many files these instances together may watch. */
export type WatchLimits = { readonly instances: number; readonly watches: number }

/**
 * Returns the inotify limits (inotify(7)) for one command. They are only a fraction of the user's own limits, because the caller's other programs,
 * such as an editor, count toward the user's limits too. The result is undefined if the user's limits can't be read.
 */
export function watchLimits(
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): WatchLimits | undefined {
  try {
    const [instances, watches] = ['max_user_instances', 'max_user_watches'].map((name) =>
      Number(read(`/proc/sys/fs/inotify/${name}`)),
    )
    if (!Number.isSafeInteger(instances) || !Number.isSafeInteger(watches)) return undefined
    return { instances: Math.ceil((instances ?? 0) / 4), watches: Math.ceil((watches ?? 0) / 2) }
  } catch {
    return undefined
  }
}
