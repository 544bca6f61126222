import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { rmSync } from 'node:fs'

/** What is at each path of a tree: a file's text, a file's mode and text, a symlink's target, or a directory (`'/'`). */
export type Layout = Readonly<Record<string, string | { mode: number; text: string } | { link: string } | '/'>>

/** Creates a folder for one test, in `parent`. It contains a tree, a directory for journals, and a directory outside both. */
export function makeScene(
  layout: Layout = {},
  parent: string = tmpdir(),
): { base: string; root: string; state: string; outside: string } {
  const base = mkdtempSync(join(parent, 'patch-files-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, state, outside] = [join(base, 'tree'), join(base, 'state'), join(base, 'outside')]
  for (const folder of [root, state, outside]) mkdirSync(folder, { mode: 0o755 })
  fill(root, layout)
  return { base, root, state, outside }
}

/** Creates the files, links and directories of a layout in a folder. */
export function fill(root: string, layout: Layout): void {
  for (const [name, entry] of Object.entries(layout)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    if (entry === '/') mkdirSync(path, { recursive: true })
    else if (typeof entry === 'string') writeFileSync(path, entry)
    else if ('link' in entry) symlinkSync(entry.link, path)
    else {
      writeFileSync(path, entry.text)
      chmodSync(path, entry.mode)
    }
  }
}

/** Maps each path in a folder, in order, to its kind, mode, owner and content. Two trees are the same if their snapshots are equal. */
export function snapshot(root: string): Record<string, string> {
  return Object.fromEntries(list(root, '').toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function list(root: string, below: string): readonly (readonly [string, string])[] {
  return readdirSync(join(root, below)).flatMap((entry) => {
    const name = join(below, entry)
    const path = join(root, name)
    const stats = lstatSync(path)
    const facts = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}`
    if (stats.isSymbolicLink()) return [[name, `link ${readlinkSync(path)}`] as const]
    if (stats.isDirectory()) return [[name, `directory ${facts}`] as const, ...list(root, name)]
    return [[name, stats.isFile() ? `file ${facts} ${readFileSync(path, 'latin1')}` : 'other'] as const]
  })
}
