import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file of a test case: its text, its bytes in base64, its mode and text, a symlink's target, or a directory. */
export type CaseFile =
  | string
  | { readonly base64: string }
  | { readonly mode: string; readonly content: string }
  | { readonly symlink: string }
  | { readonly dir: true; readonly mode?: number; readonly after?: true }

/** A test case: a row of `fixtures/apply-patch/*.jsonl`. */
export type Case = {
  readonly id: string
  readonly files: Readonly<Record<string, CaseFile>>
  readonly patch: string
  readonly argv_mode?: 'stdin' | 'arg'
  readonly args?: readonly string[]
  readonly umask?: string
  readonly run_as_uid?: number
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
  readonly final: Readonly<Record<string, CaseFile | '<empty dir>'>>
  readonly expect: 'same' | 'exact' | 'unchanged' | 'fails' | 'better' | 'either' | 'survives'
  readonly expect_final?: Readonly<Record<string, CaseFile>>
  readonly outside_initial?: Readonly<Record<string, CaseFile>>
}

export type Run = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

/** The path of the built program. The sources would take ten times as long to start. */
const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname

/** Runs the built program in a folder, or the program that `command` starts. */
export function runProgram(
  cwd: string,
  input: string | Uint8Array,
  options: {
    command?: readonly string[]
    args?: readonly string[]
    umask?: string
    uid?: number
    state?: string
    env?: Readonly<Record<string, string>>
  } = {},
): Run {
  const state = options.state ?? join(dirname(cwd), 'state')
  mkdirSync(state, { recursive: true })
  if (options.uid !== undefined) chownSync(state, options.uid, options.uid)
  const command = [...(options.command ?? [process.execPath, program]), ...(options.args ?? [])]
  const shell = ['sh', '-c', `umask ${options.umask ?? '022'}; exec "$@"`, 'sh', ...command]
  const [file = '', ...rest] = options.umask === undefined ? command : shell
  const { status, stdout, stderr } = spawnSync(file, rest, {
    cwd,
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], XDG_STATE_HOME: state, ...options.env },
    maxBuffer: 1 << 28,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  return { status, stdout, stderr }
}

/** Creates two folders for a case: its root, and `apout` next to it, which the recorded cases use as a folder outside the root. */
export function makeCase({
  files,
  outside_initial,
  run_as_uid,
}: Pick<Case, 'files' | 'outside_initial' | 'run_as_uid'>): {
  readonly cwd: string
  readonly outside: string
} {
  const base = mkdtempSync(join(tmpdir(), 'apply-patch-case-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  chmodSync(base, 0o755)
  const [cwd, outside] = [join(base, 'tree'), join(base, 'apout')]
  for (const folder of [cwd, outside]) mkdirSync(folder)
  fill(cwd, files)
  fill(outside, outside_initial ?? {})
  if (run_as_uid !== undefined) {
    for (const name of ['.', ...readdirSync(cwd, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(cwd, name), run_as_uid, run_as_uid)
    }
  }
  return { cwd, outside }
}

function fill(folder: string, files: Readonly<Record<string, CaseFile>>): void {
  const late: (() => void)[] = []
  for (const [name, file] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    if (typeof file === 'string') writeFileSync(path, file)
    else if ('base64' in file) writeFileSync(path, Buffer.from(file.base64, 'base64'))
    else if ('symlink' in file) symlinkSync(file.symlink, path)
    else if ('content' in file) {
      writeFileSync(path, file.content)
      chmodSync(path, Number.parseInt(file.mode, 8))
    } else {
      mkdirSync(path, { recursive: true })
      const { mode } = file
      if (mode !== undefined) late.push(() => chmodSync(path, mode))
    }
  }
  for (const act of late) act()
}

/** The content of a folder, in the format of `Case.final`. A file's mode is included only if its entry in `like` has a mode. */
export function readTree(folder: string, like: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(folder, name)
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) found[name] = { symlink: readlinkSync(path) }
    else if (stats.isDirectory()) {
      if (readdirSync(path).length === 0) found[`${name}/`] = '<empty dir>'
    } else if (stats.isFile()) found[name] = describeFile(readFileSync(path), stats.mode, like[name])
  }
  return found
}

function describeFile(bytes: Buffer, mode: number, like: unknown): unknown {
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return { base64: bytes.toString('base64') }
  const hasMode = typeof like === 'object' && like !== null && 'mode' in like
  return hasMode ? { mode: `0${(mode & 0o7777).toString(8)}`, content: text } : text
}

/** All contents, modes and symlinks in a folder. If they are the same before and after a run, the run has changed nothing. */
export function fingerprint(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(folder, name)
      const stats = lstatSync(path)
      const content = stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? readFileSync(path, 'base64') : ''
      return `${name} ${stats.mode.toString(8)} ${content}`
    })
}
