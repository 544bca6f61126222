import type { HeldDirectory } from './held-directory.ts'

/**
 * The maximum number of directory entries to examine. If there are more, the files always count as changed. Outside of `objects`, git itself hardly
 * ever creates that many.
 */
const most = 100_000

/**
 * Returns a text made from the metadata of the files in a private git directory, except those in `hooks`, `lfs` and `portcullis`. If the text is the
 * same as before, none of these files has changed. Objects are left out too, because new objects matter only if a file names them, in which case that
 * file has changed.
 */
export function snapshot(directory: HeldDirectory): string {
  const skipped: ReadonlySet<string> = new Set(['objects', 'portcullis', 'hooks', 'lfs'])
  const stamps: string[] = []
  const open = ['']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const [name, { kind, stamp }] of directory.entries(path) ?? []) {
      if (path === '' && skipped.has(name)) continue
      const entry = path === '' ? name : `${path}/${name}`
      if (kind === 'directory') {
        // Like the repository's own objects, those of new submodules are left out.
        if (!(name === 'objects' && path.startsWith('modules/'))) open.push(entry)
        stamps.push(entry)
      } else stamps.push(`${entry} ${stamp}`)
      if (stamps.length > most) return `${Math.random()}`
    }
  }
  return stamps.toSorted().join('\n')
}

/**
 * The names of the entries whose changes `hostStamp` shows: `ofWorktree` lists those in a work tree's own git directory, and `ofRepository` those in
 * the repository's common directory.
 */
const ofWorktree: ReadonlySet<string> = new Set(
  'HEAD index rebase-merge rebase-apply sequencer config.worktree'.split(' '),
)
const ofRepository: ReadonlySet<string> = new Set(
  'packed-refs config shallow worktrees modules info hooks refs'.split(' '),
)

/**
 * Returns a text that changes if something that commands see changes in the host's repository, for example a ref, the index, a setting or a hook. New
 * objects alone don't count. The text is made without reading the repository's files.
 */
export function hostStamp(host: HeldDirectory, prefixes: readonly string[]): string {
  const stamps: string[] = []
  const add = (path: string): void => void stamps.push(`${path} ${host.stat(path)?.stamp ?? ''}`)
  for (const prefix of prefixes) {
    add(prefix)
    const isWanted = (name: string): boolean => ofWorktree.has(name) || (prefix === '' && ofRepository.has(name))
    for (const [name, { stamp }] of host.entries(prefix, isWanted) ?? []) stamps.push(`${prefix}${name} ${stamp}`)
    add(`${prefix}logs/HEAD`)
    // The main work tree has no prefix: the loop below finds its bisect refs among the repository's refs.
    if (prefix !== '') add(`${prefix}refs/bisect`)
  }
  add('logs/refs/stash')
  // Writing to an existing file doesn't change the time of its directory, so every file in these directories is checked.
  const open = ['info', 'hooks', 'refs']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    // Sample hooks never run, and commands don't see them.
    const isShown = path === 'hooks' ? (name: string) => !name.endsWith('.sample') : undefined
    for (const [name, { kind, stamp }] of host.entries(path, isShown) ?? []) {
      stamps.push(`${path}/${name} ${stamp}`)
      if (kind === 'directory') open.push(`${path}/${name}`)
    }
  }
  return stamps.join('\n')
}
