import type { View } from '../../sandbox/index.ts'

/**
 * Error messages of operations that fail only on overlays, each with a hint on what to do instead. Source: the kernel's documentation of
 * overlayfs ("Non-standard behavior" and `redirect_dir`).
 */
const limits: readonly (readonly [said: RegExp, hint: string])[] = [
  [
    /Invalid cross-device link|\bEXDEV\b|cross-device link not permitted/,
    "[transaction: overlay] Directories that existed when the run began can't be renamed in the run's view (EXDEV). " +
      'Use `mv OLD NEW`, which copies and removes (and then `git add -A OLD NEW`, instead of git mv), or `cp -a OLD NEW && rm -r OLD`.',
  ],
  [
    /Value too large for defined data type|\bEOVERFLOW\b/,
    "[transaction: overlay] Files of other owners can't be written in the run's view (EOVERFLOW). Replace the file instead: copy it, remove it, and rename the copy.",
  ],
]

/** Explains the failures in a command's output that are caused by the overlay in which the command runs. */
export function overlayHints(output: string, views: readonly View[]): readonly string[] {
  if (!views.some(({ overlay }) => overlay === true)) return []
  return limits.filter(([said]) => said.test(output)).map(([, hint]) => hint)
}
