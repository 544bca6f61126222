import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ActionError } from '../shared/runner.ts'

/** The limits that the workflow sets for a patch. */
export type Limits = {
  readonly allowed: readonly string[]
  readonly maxFiles: number
  readonly maxBytes: number
}

/**
 * Files that control other programs, or that decide which code other programs run. They may be changed only if a pattern in `allowed-paths` names the
 * file, or the folder from this list that contains it: a wildcard alone isn't enough, and neither is another folder.
 */
const guarded: readonly RegExp[] = [
  /^\.github\//,
  /^\.gitlab-ci\.yml$/,
  /^\.(?:circleci|buildkite|husky|githooks|devcontainer|vscode|idea|claude|codex|cursor|gemini|portcullis)\//,
  /(?:^|\/)\.git(?:modules|attributes)?(?:\/|$)/i,
  /(?:^|\/)(?:AGENTS|CLAUDE|GEMINI)(?:\.[\w-]+)*\.md$/i,
  /(?:^|\/)\.mcp\.json$/,
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|go\.sum|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock)$/,
]

/**
 * Reads a run's patch and the commit that it is based on. Checks that the patch has the expected hash, which the workflow passes separately.
 *
 * @throws ActionError if `expected` is not a SHA-256, a file is missing or not a regular file, the patch is too large or has another hash, or the
 *   manifest names no commit
 */
export function readPatch(
  bundle: string,
  expected: string,
  maxBytes: number,
): { readonly patch: Buffer; readonly base: string } {
  if (!/^[0-9a-f]{64}$/.test(expected)) throw new ActionError("The input 'patch-sha256' is not a SHA-256 in hex.")
  const patch = regularFile(join(bundle, 'patch.diff'))
  const manifest = JSON.parse(regularFile(join(bundle, 'manifest.json')).toString()) as Readonly<
    Record<string, unknown>
  >
  const hash = createHash('sha256').update(patch).digest('hex')
  if (hash !== expected || manifest['patch_sha256'] !== hash) {
    throw new ActionError('The patch is not the one that the run created: its SHA-256 differs. Nothing is applied.')
  }
  if (patch.length > maxBytes)
    throw new ActionError(`The patch has ${patch.length} bytes, but only ${maxBytes} are allowed.`)
  const base = manifest['base']
  if (typeof base !== 'string' || !/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(base))
    throw new ActionError('The manifest names no commit.')
  return { patch, base }
}

function regularFile(path: string): Buffer {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new ActionError(`${path} does not exist, or is not a file.`)
  return readFileSync(path)
}

/**
 * Throws an ActionError if a patch changes too many files, a file whose path is unsafe, or a file that the workflow doesn't allow. The error gives
 * the number of files, or names the first file that is not accepted.
 */
export function checkPaths(files: readonly string[], { allowed, maxFiles }: Limits): void {
  if (files.length > maxFiles)
    throw new ActionError(`The patch changes ${files.length} files, but the limit is ${maxFiles}.`)
  for (const file of files) {
    const name = JSON.stringify(file)
    const parts = file.split('/')
    if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\u0000-\u001f\u007f\\]/.test(part))) {
      throw new ActionError(`${name} is not a safe path for a file in a repository. Nothing is applied.`)
    }
    const patterns = allowed.filter((pattern) => matches(pattern, file))
    if (patterns.length === 0) throw new ActionError(`${name} is not among 'allowed-paths'. Nothing is applied.`)
    const isGuarded = guarded.some((one) => one.test(file))
    // A wildcard alone doesn't allow changes to files that control other programs: see `guarded`.
    if (isGuarded && !patterns.some((pattern) => /^[^*?]*[^*?/]/.test(pattern) && namesGuarded(pattern, file))) {
      throw new ActionError(
        `${name} controls other programs: 'allowed-paths' must name its whole path, or a folder such as '.github/'. Nothing is applied.`,
      )
    }
  }
}

/** Whether the part of a pattern before its first wildcard is the file's whole path, or names a file or folder that controls other programs. */
function namesGuarded(pattern: string, file: string): boolean {
  const fixed = pattern.split(/[*?]/)[0] ?? ''
  return fixed === file || guarded.some((one) => one.test(fixed))
}

/**
 * Whether a pattern matches a file. `**` before a slash matches any number of folders, and elsewhere any text; `*` and `?` match within one name.
 * Names that begin with a dot are matched like other names.
 */
function matches(pattern: string, file: string): boolean {
  const parts = pattern.split(/(\*\*\/|\*\*|\*|\?)/)
  const expression = parts.map((part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : part.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${expression.join('')}$`, 's').test(file)
}
