/** What a hook wrote for later commands: variables, and lines that are not valid. */
type EnvFile = { readonly variables: ReadonlyMap<string, string>; readonly others: readonly string[] }

const assignment = /^(?:export|declare\s+-x)\s+([A-Za-z_]\w*)=(.*)$/

/**
 * Parses the file that `CLAUDE_ENV_FILE` names: lines of the form `export NAME=value`, or `declare -x` as bash prints them. Values are plain or quoted text.
 * Nothing is executed or expanded. Empty lines and comments are skipped. Any other line is returned as invalid.
 */
export function parseEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>()
  const others: string[] = []
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [, name, written] = assignment.exec(line) ?? []
    const value = written === undefined ? undefined : valueOf(written)
    if (name === undefined || value === undefined) others.push(line)
    else variables.set(name, value)
  }
  return { variables, others }
}

/** Returns the value of a shell word that consists of plain and quoted text; undefined for any other text. */
function valueOf(word: string): string | undefined {
  let value = ''
  let rest = word
  while (rest !== '') {
    const part =
      /^'(?<single>[^']*)'/.exec(rest) ??
      /^"(?<double>(?:[^"\\$`]|\\[^\n])*)"/.exec(rest) ??
      /^(?<plain>(?:[\w%+,./:=@^-]|\\[^\n])+)/.exec(rest)
    if (part === null) return undefined
    const { single, double, plain } = part.groups ?? {}
    value += single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? plain?.replace(/\\(.)/g, '$1') ?? ''
    rest = rest.slice(part[0].length)
  }
  return value
}
