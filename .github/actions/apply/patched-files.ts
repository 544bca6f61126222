import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { ActionError } from '../shared/runner.ts'

/** A file as it is after a patch. If the patch removes the file, `content` is null. */
export type Patched = { readonly path: string; readonly mode: '100644' | '100755'; readonly content: Buffer | null }

/** A file as it was before a patch. */
export type Before = { readonly mode: string; readonly content: Buffer }

function gitApply(folder: string, args: readonly string[], patch: Buffer): Buffer {
  const { PATH } = process.env
  try {
    // Git runs outside of any repository and without the user's git configuration, so that the result depends only on the patch.
    return execFileSync('git', ['apply', '--whitespace=nowarn', '-p1', ...args, '-'], {
      cwd: folder,
      input: patch,
      env: {
        PATH,
        HOME: folder,
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CEILING_DIRECTORIES: dirname(folder),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    })
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer }
    throw new ActionError(
      `git can't apply the patch to its base commit: ${String(stderr ?? '')
        .trim()
        .slice(0, 500)}`,
    )
  }
}

/** Returns the files that a patch names, without duplicates. The files themselves are neither read nor written. */
export function filesOf(patch: Buffer, temp: string): readonly string[] {
  const folder = mkdtempSync(join(temp, 'names-'))
  const text = gitApply(folder, ['--numstat', '-z'], patch).toString()
  const fields = text.split('\0').filter((field) => field !== '')
  return [...new Set(fields.map((field) => field.replace(/^[^\t]*\t[^\t]*\t/, '')))]
}

/**
 * Applies a patch in a temporary folder that contains only the files that the patch names.
 *
 * @param before the content of these files before the patch
 * @throws ActionError if the patch doesn't apply, or if a file in `before` or in the result is not a regular file
 */
export function applyPatch(
  patch: Buffer,
  files: readonly string[],
  before: ReadonlyMap<string, Before>,
  temp: string,
): readonly Patched[] {
  const folder = mkdtempSync(join(temp, 'tree-'))
  for (const [path, { mode, content }] of before) {
    if (mode !== '100644' && mode !== '100755')
      throw new ActionError(`${JSON.stringify(path)} is not a regular file in the patch's base commit.`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
    chmodSync(join(folder, path), mode === '100755' ? 0o755 : 0o644)
  }
  gitApply(folder, [], patch)
  return files.map((path): Patched => {
    const whole = join(folder, path)
    const stat = lstatSync(whole, { throwIfNoEntry: false })
    if (stat === undefined) return { path, mode: '100644', content: null }
    if (!stat.isFile())
      throw new ActionError(
        `The patch turns ${JSON.stringify(path)} into something other than a regular file. Nothing is applied.`,
      )
    return { path, mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', content: readFileSync(whole) }
  })
}
