import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { withoutUserinfo } from '../git/config-clean.ts'
import { readHostFile } from '../host-files.ts'

/** What commands may see of a file that holds secrets: the text without them, or nothing at all. */
type KeyFile = { readonly path: string; readonly shown: string | undefined }

/**
 * Settings of package managers, which commands need and which may hold a token: at the top of a root they are shown without the lines that do.
 * Sources: docs.npmjs.com/cli/configuring-npm/npmrc, yarnpkg.com/configuration/yarnrc, pip.pypa.io/en/stable/topics/configuration,
 * bun.sh/docs/runtime/bunfig, doc.rust-lang.org/cargo/reference/config.html, learn.microsoft.com/nuget/reference/nuget-config-file,
 * packaging.python.org/en/latest/specifications/pypirc.
 */
const obeyed = /^(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pip\.conf|\.?bunfig\.toml|nuget\.config|poetry\.toml|\.pypirc)$/i

/**
 * What nothing but a login is in: steps of CI jobs leave it in the workspace. Sources: github.com/google-github-actions/auth,
 * gnu.org/software/inetutils, git-scm.com/docs/git-credential-store.
 */
const keys = /^(?:gha-creds-[0-9a-f]+\.json|[._]netrc|\.git-credentials)$/i

/** A setting that gives a secret by itself: not by a variable's name, and not an empty one. */
const secretLine =
  /(?:^|[^a-z0-9{$])(?:_auth(?:token)?|_password|npmauth(?:token|ident)|token|password|passwd|secret|api[-_]?key|cleartextpassword)["']?\s*(?:[:=]|value\s*=)\s*(?!["']?(?:\$[{(a-z_]|%|["']?\s*$))\S/i

const largest = 1024 * 1024

/** What `path` may be shown as, where its name says that it may hold secrets and it does; undefined for any other file. */
export function keyFileAt(path: string): KeyFile | undefined {
  const name = basename(path)
  if (keys.test(name)) return { path, shown: undefined }
  if (!obeyed.test(name)) return undefined
  // Through no link: a command may have put it there, to see what it leads to.
  const text = readHostFile(path, { maxBytes: largest })?.toString('latin1')
  if (text === undefined) return undefined
  const clean = text
    .split('\n')
    .filter((line) => !holdsSecret(line))
    .map(withoutUserinfo)
    .join('\n')
  return clean === text ? undefined : { path, shown: clean }
}

/** The files at the top of a directory that hold secrets. */
export function keyFilesIn(directory: string): readonly KeyFile[] {
  return namesIn(directory).flatMap((name) => {
    const found = obeyed.test(name) || keys.test(name) ? keyFileAt(join(directory, name)) : undefined
    return found === undefined ? [] : [found]
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Not there, or closed to this user, and so to its commands.
    return []
  }
}

/** A line may be a whole file: it is looked at in pieces that overlap. */
function holdsSecret(line: string): boolean {
  for (let at = 0; at === 0 || at < line.length; at += 1_800)
    if (secretLine.test(line.slice(at, at + 2_000))) return true
  return false
}
