import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import {
  decodeText,
  encodePath,
  openTreeBudget,
  parseAlternates,
  readHostFile,
  realpathSync,
  writeAlternates,
  type TreeBudget,
} from '../../sandbox/index.ts'

/**
 * Copies a git directory for a view of its work tree. Objects aren't copied; the copy uses those of the original. Data of other work trees, lock files of
 * a running git, and files stored for `git lfs` are left out. A link in place of `HEAD` or `objects` is replaced by a file or directory with
 * the same meaning for git, because the sandbox follows no links in a git directory.
 *
 * @param count called for each copied file
 * @param leavesOut decides which other entries of the top directory are left out
 * @throws TreeTooLarge if the directory has too many entries
 */
export function copyGitDirectory(
  from: Buffer,
  to: Buffer,
  count: (size: number) => void,
  leavesOut: (name: string) => boolean = () => false,
  budget: TreeBudget = openTreeBudget(decodeText(from)),
): void {
  mkdirSync(to, { mode: 0o755, recursive: true })
  // Names like `objects` and `worktrees` are special only in the top directory, which contains `HEAD`. Below it, they may be parts of branch names.
  const isTop = existsSync(inside(from, Buffer.from('HEAD')))
  for (const { name, kind } of budget.list(from)) {
    const bytes = Buffer.from(name, 'latin1')
    const [source, target] = [inside(from, bytes), inside(to, bytes)]
    if (leavesOut(name)) continue
    if (isTop && name === 'objects' && kind !== 'file') borrow(source, target)
    else if (name.endsWith('.lock') || (isTop && (name === 'worktrees' || name === 'lfs'))) continue
    else if (kind === 'directory') copyGitDirectory(source, target, count, undefined, budget)
    else if (kind === 'link' && isTop && name === 'HEAD') writeFileSync(target, headOfLink(source))
    else if (kind === 'link') symlinkSync(readlinkSync(source, 'buffer'), target)
    else if (kind === 'file') {
      count(lstatSync(source).size)
      copyFileSync(source, target)
    }
  }
}

/** The content of a `HEAD` file that names the same branch as a given symlink. Old versions of git created `HEAD` as a symlink. */
function headOfLink(link: Buffer): Buffer {
  return Buffer.concat([Buffer.from('ref: '), readlinkSync(link, 'buffer'), Buffer.from('\n')])
}

/**
 * Makes a copied repository use the original's objects. If the original itself borrows objects from other repositories, the copy lists their directories too,
 * because in the view git can't follow the original's references to them.
 */
function borrow(objects: Buffer, to: Buffer): void {
  const places = [...placesOf(realpathSync(decodeText(objects)))]
  mkdirSync(inside(to, Buffer.from('info')), { recursive: true })
  mkdirSync(inside(to, Buffer.from('pack')))
  writeFileSync(inside(to, Buffer.from('info/alternates')), writeAlternates(places))
}

/**
 * Whether a repository of a view has its own objects. A view starts without objects, so the run must have added them, for example by committing.
 *
 * @param git the git directory
 */
export function hasOwnObjects(git: Buffer): boolean {
  const objects = inside(git, Buffer.from('objects'))
  if (!existsSync(objects)) return false
  const [folders, packs] = [readdirSync(objects), inside(objects, Buffer.from('pack'))]
  return folders.some((name) => /^[0-9a-f]{2}$/.test(name)) || (existsSync(packs) && readdirSync(packs).length > 0)
}

function placesOf(objects: string, known: Set<string> = new Set()): ReadonlySet<string> {
  if (known.has(objects)) return known
  known.add(objects)
  const file = encodePath(`${objects}/info/alternates`)
  const content = readHostFile(file, { follow: true })
  const named = content === undefined ? [] : parseAlternates(content)
  for (const place of named.map((each) => resolve(objects, each))) {
    if (existsSync(encodePath(place))) placesOf(realpathSync(place), known)
  }
  return known
}

function inside(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name])
}
