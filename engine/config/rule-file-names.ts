import { isUtf8 } from 'node:buffer'
import { readdirSync } from 'node:fs'

/**
 * Lists the names of the rule files in a directory, sorted. Node would take a name that isn't UTF-8 for that of another file, so `refuse` is called with
 * a description of each such name.
 */
export function ruleFileNames(directory: string, refuse: (why: string) => void): readonly string[] {
  const names = readdirSync(directory, 'buffer').filter((name) => name.toString('latin1').endsWith('.rules'))
  for (const name of names)
    if (!isUtf8(name))
      refuse(`the name of the rule file ${name.toString()} is not UTF-8; rename the file, so that it can be read`)
  return names
    .filter((name) => isUtf8(name))
    .map((name) => name.toString())
    .toSorted()
}
