import { basename, dirname, extname, join, normalize } from 'node:path/posix'

/** A text that says what is run, and the directory from which its paths lead. */
export type NamingText = { readonly folder: string; readonly text: string }

/**
 * The files that a command or its configuration names: a script, a plugin, a setup file, a program that is found on `PATH`. Such a file may decide what is tested,
 * and it may as well be what is tested.
 *
 * @param paths relative to the root of the tree, like the directories of the texts
 * @param targetOf where a link leads; undefined if there is no link at a path
 */
export function namedFiles(
  paths: readonly string[],
  texts: readonly NamingText[],
  targetOf: (path: string) => string | undefined,
): readonly string[] {
  const names = new Set<string>()
  const programs = new Set<string>()
  for (const { folder, text } of texts) {
    for (const word of text.split(/[\s;&|()<>"'`$={},:[\]]+/)) {
      const isModule = /^\w+(?:\.\w+)+$/.test(word)
      for (const each of [word.replace(/^\/+/, ''), ...(isModule ? [word.replaceAll('.', '/')] : [])]) {
        for (const place of [each, join(folder, each)].map((name) => normalize(name)))
          names.add(targetOf(place) ?? place)
      }
      if (!word.includes('/')) programs.add(word)
    }
  }
  return paths.filter((path) => {
    const stem = path.slice(0, path.length - extname(path).length)
    const isWhole = ['index', '__init__', '__main__'].includes(basename(stem))
    return (
      [path, stem, ...(isWhole ? [dirname(path)] : [])].some((each) => names.has(each)) || programs.has(basename(path))
    )
  })
}
