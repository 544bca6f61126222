// execa isn't used here, because a commit waits for these programs in place, while it holds the lock of its tree.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { accessList, capability, defaultList, parseList, printList } from './access-list.ts'
import { CommitError, errnoOf } from './commit-error.ts'

/** The extended attributes of a file that belong to its owner: the name of each (one byte in each character), and its value in hexadecimal, with `0x` before it. */
export type Attributes = Readonly<Record<string, string>>

/**
 * Programs that read and write extended attributes, because Node has no functions for that. `list` only tells that there is an access control list: its value
 * is empty.
 */
export type AttributePrograms = {
  readonly kind: 'attr' | 'acl' | 'list'
  /** The attributes of files and directories that have any. */
  readonly read: (paths: readonly string[]) => ReadonlyMap<string, Attributes>
  readonly write: (files: ReadonlyMap<string, Attributes>) => void
}

// `PATH` isn't used: a tree that is patched may be in it.
const folders = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

/** Finds the programs that this system has; undefined if it has none of them. */
export function findPrograms(): AttributePrograms | undefined {
  if (process.platform !== 'linux') return undefined
  const [getfattr, setfattr, getfacl, setfacl, ls] = ['getfattr', 'setfattr', 'getfacl', 'setfacl', 'ls'].map(
    findProgram,
  )
  if (getfattr !== undefined && setfattr !== undefined) return attr(getfattr, setfattr)
  if (getfacl !== undefined && setfacl !== undefined) return acl(getfacl, setfacl)
  return ls === undefined ? undefined : { kind: 'list', read: (paths) => readByList(ls, paths), write: () => undefined }
}

function findProgram(name: string): string | undefined {
  return folders.map((folder) => `${folder}/${name}`).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if (errnoOf(error) !== undefined) return false
    throw error
  }
}

function attr(get: string, set: string): AttributePrograms {
  return {
    kind: 'attr',
    read: (paths) =>
      readDump(
        inParts(paths, (part) => run(get, ['-h', '-d', '-m', '-', '-e', 'hex', '--absolute-names', '--', ...part])),
      ),
    write: (files) => {
      const dump = [...files].map(
        ([path, all]) =>
          `${headFor(path)}${Object.entries(all)
            .map(([name, value]) => `${escape(name)}=${value}\n`)
            .join('')}\n`,
      )
      run(set, ['-h', '--restore=-'], dump.join(''))
    },
  }
}

function readDump(dump: string): ReadonlyMap<string, Attributes> {
  const found = new Map<string, Attributes>()
  for (const block of dump.split('\n\n')) {
    const [head = '', ...lines] = block.trimStart().split('\n')
    const entries = lines.map(
      (line) => [unescape(line.slice(0, line.indexOf('='))), line.slice(line.indexOf('=') + 1)] as const,
    )
    const own = entries.filter(([name]) => isOwn(name))
    if (own.length > 0) found.set(pathIn(head), Object.fromEntries(own))
  }
  return found
}

/**
 * Whether an attribute belongs to the file's owner. All other attributes are given by the system: to the new file too, or they are wrong for new content
 * (labels, signatures, what a file system stores there).
 */
function isOwn(name: string): boolean {
  if (name === accessList || name === defaultList || name === capability) return true
  return /^(?:user|trusted)\.(?!overlay\.|com\.apple\.)/.test(name)
}

function acl(get: string, set: string): AttributePrograms {
  return {
    kind: 'acl',
    read: (paths) => {
      const found = new Map<string, Attributes>()
      const text = inParts(paths, (part) =>
        run(get, ['--physical', '--absolute-names', '--no-effective', '--numeric', '--skip-base', '--', ...part]),
      )
      for (const block of text.split('\n\n')) {
        const [head = '', ...lines] = block.trimStart().split('\n')
        const named = lines.filter((line) => !line.startsWith('#'))
        const own = named.filter((line) => !line.startsWith('default:'))
        const given = named.filter((line) => line.startsWith('default:')).map((line) => line.slice('default:'.length))
        const lists = {
          ...(own.length > 3 ? { [accessList]: parseList(own) } : {}),
          ...(given.length > 0 ? { [defaultList]: parseList(given) } : {}),
        }
        if (Object.keys(lists).length > 0) found.set(pathIn(head), lists)
      }
      return found
    },
    write: (files) => {
      const lists = [...files].flatMap(([path, { [accessList]: list }]) =>
        list === undefined ? [] : [`${headFor(path)}${printList(list)}\n`],
      )
      run(set, ['--restore=-'], lists.join(''))
    },
  }
}

/** Only the plus sign after the permission bits shows that there is a list, but it is there without any further package. */
function readByList(ls: string, paths: readonly string[]): ReadonlyMap<string, Attributes> {
  const lines = inParts(paths, (part) => run(ls, ['-Uldnq', '--', ...part])).split('\n')
  if (lines.length - 1 !== paths.length) return new Map()
  const isMarked = (index: number): boolean => lines[index]?.[10] === '+'
  return new Map(paths.flatMap((path, index) => (isMarked(index) ? [[path, { [accessList]: '' }] as const] : [])))
}

/** The most bytes of arguments in one call. Linux allows a quarter of the stack, which is two megabytes or more. */
const mostArguments = 200 * 1024

function inParts(paths: readonly string[], act: (part: readonly string[]) => string): string {
  const texts: string[] = []
  for (let from = 0; from < paths.length;) {
    let [to, size] = [from, 0]
    while (to < paths.length && (to === from || size < mostArguments)) size += (paths[to++]?.length ?? 0) * 3 + 9
    texts.push(act(paths.slice(from, to)))
    from = to
  }
  return texts.join('')
}

/** How long a program may take: it works through many files, but must not hold this process forever, because no signal ends a process that waits in this way. */
const patience = { timeout: 15 * 60_000, killSignal: 'SIGKILL' } as const

/** Runs a program to its end. Input and output hold one byte in each character, because names needn't be text. That it failed for one of the files shows in what it printed, or is found when the attributes are read again. */
function run(program: string, args: readonly string[], input = ''): string {
  const options = { input: Buffer.from(input, 'latin1'), env: { LC_ALL: 'C' }, maxBuffer: 1 << 28, ...patience }
  const { stdout, status, error } = spawnSync(program, args, options)
  if (status !== null) return stdout.toString('latin1')
  throw new CommitError('system', { operation: 'prepare', key: program, errno: 'EIO', syscall: 'run', cause: error })
}

/** Undoes the escapes of these programs: a backslash and three octal digits for a byte. The text holds one byte in each character. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function escape(text: string): string {
  return text.replace(/[\\\n\r=]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

/** The path in the first line of a block of a dump. */
function pathIn(head: string): string {
  return Buffer.from(unescape(head.slice('# file: '.length)), 'latin1').toString()
}

/** The first line of a block, for a path. */
function headFor(path: string): string {
  return `# file: ${escape(Buffer.from(path).toString('latin1'))}\n`
}
