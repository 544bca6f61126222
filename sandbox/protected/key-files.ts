import { basename, join } from 'node:path'
import { readdirSync } from '../host-paths.ts'
import { withoutUserinfo } from '../git/config-clean.ts'
import { readHostFile } from '../host-files.ts'

/** What commands may see of a file with secrets: its text without the secrets, or nothing if `shown` is undefined. */
type KeyFile = { readonly path: string; readonly shown: string | undefined }

/**
 * Matches the names of package managers' settings files. Commands need these files, but they may contain a token. In the top directory of a root,
 * commands see them without the secrets. Sources: docs.npmjs.com/cli/configuring-npm/npmrc, yarnpkg.com/configuration/yarnrc,
 * pip.pypa.io/en/stable/topics/configuration, bun.sh/docs/runtime/bunfig, learn.microsoft.com/nuget/reference/nuget-config-file,
 * python-poetry.org/docs/configuration, packaging.python.org/en/latest/specifications/pypirc.
 */
const obeyed = /^(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pip\.conf|\.?bunfig\.toml|nuget\.config|poetry\.toml|\.pypirc)$/i

/**
 * Matches the names of files that contain only credentials. Steps of CI jobs leave such files in the workspace. Sources:
 * github.com/google-github-actions/auth, gnu.org/software/inetutils, git-scm.com/docs/git-credential-store.
 */
const keys = /^(?:gha-creds-[0-9a-f]+\.json|[._]netrc|\.git-credentials)$/i

/** Matches a setting whose value is a literal secret. It doesn't match if the value is empty or refers to a variable. */
const secretLine =
  /(?:^|[^a-z0-9{$])(?:_auth(?:token)?|_password|npmauth(?:token|ident)|token|password|passwd|secret|api[-_]?key|cleartextpassword)["']?\s*(?:[:=]|value\s*=)\s*(?!["']?(?:\$[{(a-z_]|%|["']?\s*$))\S/i

const largest = 1024 * 1024

/**
 * What commands see of the file at `path`; undefined if its name matches neither `keys` nor `obeyed`, or if it is a settings file that contains no
 * secrets or can't be read.
 */
export function keyFileAt(path: string): KeyFile | undefined {
  const name = basename(path)
  if (keys.test(name)) return { path, shown: undefined }
  if (!obeyed.test(name)) return undefined
  // Symlinks are not followed, because a command may have created one in order to read the file to which it leads.
  const text = readHostFile(path, { maxBytes: largest })?.toString('latin1')
  if (text === undefined) return undefined
  const clean = text
    .split('\n')
    .filter((line) => !holdsSecret(line))
    .map(withoutUserinfo)
    .join('\n')
  return clean === text ? undefined : { path, shown: clean }
}

/**
 * The files with secrets that are directly in a directory.
 *
 * @internal
 */
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
    // The directory is missing, or this user can't read it. Then commands can't read it either.
    return []
  }
}

/** Whether a line contains a secret. A line may be as long as the file, so it is searched in overlapping pieces. */
function holdsSecret(line: string): boolean {
  for (let at = 0; at === 0 || at < line.length; at += 1_800)
    if (secretLine.test(line.slice(at, at + 2_000))) return true
  return false
}
