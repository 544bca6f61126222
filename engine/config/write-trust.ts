import { existsSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { readConfigText } from './read-files.ts'
import { UserFile } from './settings-schema.ts'
import { lineOf, parseToml, tryParseToml } from './toml.ts'
import { validate } from './validate.ts'

/**
 * Records in the user's config.toml that a repository is trusted. Leaves everything else in the file as it is.
 *
 * @param directory the user's configuration folder; created if it doesn't exist
 * @param root the repository's root
 * @returns the file's path, and whether the file was changed
 * @throws UserError `usage` if the file is invalid, says that the repository is untrusted, or can't be extended or written
 */
export function writeTrust(directory: string, root: string): { readonly file: string; readonly changed: boolean } {
  const file = join(directory, 'config.toml')
  const text = readConfigText(file)
  const { projects } = validate(UserFile, parseToml(text, file), { name: file, text })
  const level = projects?.[root]?.trust_level
  if (level === 'trusted') return { file, changed: false }
  const table = `[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`
  if (level === 'untrusted') {
    const line = lineOf(text, ['projects', root, 'trust_level'])
    throw new UserError('usage', `${file}:${line}: marks ${root} as untrusted; to trust it, change that line`)
  }
  const longer = `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${table}`
  if (tryParseToml(longer) === undefined) {
    throw new UserError(
      'usage',
      `${file}: can't be extended automatically, because of how it defines projects; add this yourself:\n${table}`,
    )
  }
  replace(file, longer)
  return { file, changed: true }
}

/** Replaces a file atomically, or creates it. If it is a link, its target is replaced. */
function replace(file: string, text: string): void {
  try {
    makeDirectories(dirname(file))
    const real = existsSync(file) ? realpathSync(file) : file
    const mode = existsSync(real) ? statSync(real).mode & 0o777 : 0o600
    const temporary = `${real}.${process.pid}.tmp`
    writeFileSync(temporary, text, { mode, flag: 'wx' })
    renameSync(temporary, real)
  } catch (error) {
    throw new UserError('usage', `${file}: can't be written: ${(error as Error).message}`, { cause: error })
  }
}
