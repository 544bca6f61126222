import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { gitDirectoriesOf, nestedRepositories, readCheckedOut, type CheckedOut } from '../../sandbox/index.ts'

const heads = z.array(z.object({ path: z.string(), branch: z.string().optional(), commit: z.string().optional() }))
const headsFile = (directory: string): string => join(directory, 'heads.json')

/** Whether a tree is the root of a repository. */
export function isRepository(tree: string): boolean {
  return lstatSync(join(tree, '.git'), { throwIfNoEntry: false }) !== undefined
}

/**
 * Records what is checked out in each tree, and in its submodules and linked work trees, when its view is made. Landing moves a branch only if the branch still
 * points to the recorded commit.
 */
export function noteHeads(directory: string, paths: readonly string[]): void {
  const all = paths.flatMap((path) => [path, ...nestedRepositories(path).map((nested) => nested.path)])
  const known = all.flatMap((path) => {
    const git = gitDirectoriesOf(path)
    const head = git && readCheckedOut(git)
    return head === undefined ? [] : [{ path, ...head }]
  })
  writeFileSync(headsFile(directory), `${JSON.stringify(known)}\n`, { mode: 0o600 })
}

/** What was checked out in a tree when its view was made; undefined if that wasn't recorded. */
export function headOf(directory: string, path: string): CheckedOut | undefined {
  if (!existsSync(headsFile(directory))) return undefined
  const known = heads.parse(JSON.parse(readFileSync(headsFile(directory), 'utf8'))).find((each) => each.path === path)
  return known && { branch: known.branch, commit: known.commit }
}
