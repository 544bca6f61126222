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

/** What a tree holds: a file's text, `{mode, text}`, `{link}`, or `'/'` for a directory. */
export type Layout = Readonly<Record<string, string | { mode: number; text: string } | { link: string } | '/'>>

/** A folder for one test with a tree and a place for journals beside it, and a third one that is outside. */
export function makeScene(layout: Layout = {}): { base: string; root: string; state: string; outside: string } {
  const base = mkdtempSync(join(tmpdir(), 'patch-files-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, state, outside] = [join(base, 'tree'), join(base, 'state'), join(base, 'outside')]
  for (const folder of [root, state, outside]) mkdirSync(folder, { mode: 0o755 })
  fill(root, layout)
  return { base, root, state, outside }
}

/** Puts files into a folder. */
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

/** Everything in a folder: path to kind, mode and content. Two trees are alike when these are equal. */
export function snapshot(root: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(root, name)
    const stats = lstatSync(path)
    const mode = (stats.mode & 0o7777).toString(8)
    const owner = `${stats.uid}:${stats.gid}`
    if (stats.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`
    else if (stats.isDirectory()) found[name] = `directory ${mode} ${owner}`
    else if (stats.isFile()) found[name] = `file ${mode} ${owner} ${readFileSync(path, 'latin1')}`
    else found[name] = 'other'
  }
  return found
}
