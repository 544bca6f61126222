import type { View } from '../../sandbox/index.ts'

/**
 * What a command's output says that fails on overlays alone, as the kernel's documentation of overlayfs has it ("Non-standard behavior", and what it says of
 * `redirect_dir`), each with what to do instead.
 */
const limits: readonly (readonly [said: RegExp, hint: string])[] = [
  [
    /Invalid cross-device link|\bEXDEV\b|cross-device link not permitted/,
    "[transaction: overlay] Directories that were there when the run began can't be renamed in its view (EXDEV). " +
      'Use `mv OLD NEW`, which copies and removes (and then `git add -A OLD NEW`, instead of git mv), or `cp -a OLD NEW && rm -r OLD`.',
  ],
  [
    /Value too large for defined data type|\bEOVERFLOW\b/,
    "[transaction: overlay] Files of other owners can't be written in the run's view (EOVERFLOW). Replace the file instead: copy it, remove it, and rename the copy.",
  ],
]

/** What to tell a model of a failure that comes from the overlay which its commands work on. */
export function overlayHints(output: string, views: readonly View[]): readonly string[] {
  if (!views.some(({ overlay }) => overlay === true)) return []
  return limits.filter(([said]) => said.test(output)).map(([, hint]) => hint)
}
