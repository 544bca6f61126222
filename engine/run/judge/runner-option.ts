/** How a runner that knows no variable for this is told to write a report: by an option at the end of the command. */
type RunnerOption = {
  /** What the command is followed by. */
  readonly words: string
  /** The report's name in the folder of reports. Its format is that of jest, which vitest writes too. */
  readonly file: string
}

/** Words that only start the program that follows them. */
const launchers: readonly (readonly string[])[] = [
  ['npx'],
  ['npx', '--no-install'],
  ['npx', '--yes'],
  ['npx', '-y'],
  ['npm', 'exec', '--'],
  ['pnpm'],
  ['pnpm', 'exec'],
  ['yarn'],
  ['bunx'],
  ['cross-env'],
]

/**
 * Returns the option with which vitest or jest writes a report, if the command is one of these programs and nothing else, whether it is named or run
 * by a script of the manifest. Undefined for any other command: where a pipe, a list or a variable follows, the option would belong to something else.
 *
 * @param scripts the scripts of the `package.json` in the directory in which the command runs
 * @param folder the folder for reports
 */
export function runnerOption(
  command: string,
  scripts: Readonly<Record<string, string>>,
  folder: string,
): RunnerOption | undefined {
  const direct = optionOf(plainWords(command), folder)
  if (direct !== undefined) return direct
  const [program = '', ...words] = plainWords(command)
  const [, name = '', ...more] = words[0] === 'run' || words[0] === 'run-script' ? words : ['run', ...words]
  const script = scripts[name === 't' || name === 'tst' ? 'test' : name]
  if (script === undefined || !['npm', 'pnpm', 'yarn'].includes(program)) return undefined
  const found = optionOf(plainWords(script), folder)
  return found !== undefined && program === 'npm' && !more.includes('--')
    ? { ...found, words: `-- ${found.words}` }
    : found
}

function optionOf(words: readonly string[], folder: string): RunnerOption | undefined {
  const [program = '', first = 'run'] = afterLaunchers(words)
  const name = program.slice(program.lastIndexOf('/') + 1).replace(/\.[cm]?js$/, '')
  // The other commands of vitest run no tests, or never end.
  if (name === 'vitest' && (first === 'run' || first.startsWith('-'))) {
    const file = 'vitest.json'
    return { words: `--reporter=default --reporter=json --outputFile.json=${folder}/${file}`, file }
  }
  return name === 'jest' ? { words: `--json --outputFile=${folder}/jest.json`, file: 'jest.json' } : undefined
}

/** The words from the program on that is started in the end: without what starts it, and the variables that are set for it. */
function afterLaunchers(words: readonly string[]): readonly string[] {
  const starts = launchers.filter((known) => known.every((word, index) => word === words[index]))
  const isNode = words[0] === 'node' && words.some((word) => word.includes('node_modules/'))
  const first = words.findIndex((word, index) => index > 0 && !word.startsWith('-'))
  const length = isNode ? Math.max(1, first) : Math.max(0, ...starts.map((known) => known.length))
  return length === 0 ? words : afterLaunchers(withoutVariables(words.slice(length)))
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^\w+=/.test(word))
  return first < 0 ? [] : words.slice(first)
}

/** The words of a command that a shell takes as they are, without the variables that are set before it; empty for any other command. */
function plainWords(command: string): readonly string[] {
  const words = command.trim().split(/[ \t]+/)
  return words.every((word) => /^[\w@%+=:,./-]+$/.test(word)) ? withoutVariables(words) : []
}
