import { memoize } from './memoize.ts'

/**
 * A list of paths as one text, with a NUL before and after each path. The lists are long, and searching the text takes a hundredth of the time that
 * comparing each path would take.
 */
export const listText = memoize((paths: readonly string[]) => `\0${paths.join('\0')}\0`)

/** Whether any path in a list is `directory` itself or is inside it. All paths must be absolute and normalized. */
export function isAnyWithin(paths: readonly string[], directory: string): boolean {
  const text = listText(paths)
  return directory === '/' || text.includes(`\0${directory}/`) || text.includes(`\0${directory}\0`)
}
