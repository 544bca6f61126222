import { join } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { readConfigText } from './read-files.ts'
import { replaceUserFile } from './replace-user-file.ts'
import { UserFile } from './settings-schema.ts'
import { lineOf, parseToml, tryParseToml, withTable } from './toml.ts'
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
  const longer = withTable(text, table)
  if (tryParseToml(longer) === undefined) {
    throw new UserError(
      'usage',
      `${file}: can't be extended automatically, because of how it defines projects; add this yourself:\n${table}`,
    )
  }
  replaceUserFile(file, longer)
  return { file, changed: true }
}
