import type { HeldDirectory } from './held-directory.ts'

/** The most entries to examine; git itself never creates more. */
const most = 100_000

/**
 * The metadata of everything in a private directory: if the text is the same, nothing has changed. Objects are left out, because whenever they
 * change, so do the files that name them.
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
        // The objects of new submodules.
        if (!(name === 'objects' && path.startsWith('modules/'))) open.push(entry)
        stamps.push(entry)
      } else stamps.push(`${entry} ${stamp}`)
      if (stamps.length > most) return `${Math.random()}`
    }
  }
  return stamps.toSorted().join('\n')
}

/** The entries that the host changes in a work tree's git directory and in the repository's own. */
const ofWorktree: ReadonlySet<string> = new Set(
  'HEAD index rebase-merge rebase-apply sequencer config.worktree'.split(' '),
)
const ofRepository: ReadonlySet<string> = new Set(
  'packed-refs config shallow worktrees modules info hooks refs'.split(' '),
)

/** A text that shows whether the host has changed its repository, made without reading the repository's files. */
export function hostStamp(host: HeldDirectory, prefixes: readonly string[]): string {
  const stamps: string[] = []
  const add = (path: string): void => void stamps.push(`${path} ${host.stat(path)?.stamp ?? ''}`)
  for (const prefix of prefixes) {
    add(prefix)
    const isWanted = (name: string): boolean => ofWorktree.has(name) || (prefix === '' && ofRepository.has(name))
    for (const [name, { stamp }] of host.entries(prefix, isWanted) ?? []) stamps.push(`${prefix}${name} ${stamp}`)
    add(`${prefix}logs/HEAD`)
    // The bisect refs of the main work tree are found among the repository's refs.
    if (prefix !== '') add(`${prefix}refs/bisect`)
  }
  add('logs/refs/stash')
  // Writing to an existing file doesn't change the directory's time.
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
