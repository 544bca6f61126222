import { isTestCommand, type Deed } from './run-evidence.ts'
import { pathsIn } from './named-paths.ts'
import { quotesIn } from './quoted.ts'
import { pattern } from './word-patterns.ts'

/**
 * Compares a claim that tests pass with the recorded test runs, the last of which passed. Returns why the claim goes beyond them: it quotes a command
 * that never ran, names a test file or a package that no run covers, or gives a number that no run printed. Undefined if the claim doesn't go beyond
 * them.
 */
export function beyond(text: string, runs: readonly Deed[]): string | undefined {
  const tried = runs.filter(({ outcome }) => outcome !== 'refused')
  return otherCommand(text, tried) ?? otherFile(text, tried) ?? otherLabel(text, tried) ?? otherNumber(text, tried)
}

/** Words that are ignored when commands are compared: two commands for the same tests may differ in them. */
const general =
  /^(?:npm|npx|pnpm|yarn|bun|bunx|run|run-script|test|tests|t|exec|bundle|python3?|uv|poetry|pipenv|hatch|rye|pdm|sh|bash|node|sudo|env|time|all|check|then|vendor\/bin\/.*|\.\/node_modules.*|\.|suite)$/

/** Matches a quotation of what a program printed, such as "7 tests, 0 failures". Other quotations may be commands. */
const printed = pattern(String.raw`^\d|[,:!] |\.{3}|^(?:OK|PASS\w*|FAIL\w*|BUILD|TEST|Tests?|Ran|Executed|Finished)\b`)

function otherCommand(text: string, runs: readonly Deed[]): string | undefined {
  for (const quote of quotesIn(text)) {
    if (!/^\S+ /.test(quote) || printed.test(quote) || !isTestCommand(quote)) continue
    const special = wordsOf(quote).filter(
      (word) => !word.startsWith('-') && !general.test(word) && !/[<>|&;=$*"']/.test(word),
    )
    if (special.length > 0 && runs.every(({ command }) => !special.every((word) => wordsOf(command).includes(word))))
      return `no command in the run matches ${quote}`
  }
  return undefined
}

function wordsOf(command: string): readonly string[] {
  return command
    .split(/[\s'"\\]+/)
    .map((word) => word.replace(/^\.\//, '').replace(/\/$/, ''))
    .filter((word) => word !== '')
}

/** Matches a statement that the tests in a folder ran: "including the integration tests under `tests/integration`". */
const folderOfTests =
  /\b(?:including|as well as|along with|together with|ran|plus) (?:all )?(?:of )?(?:the |those |all )?(?:[\w-]{1,40} )?(?:tests|specs) (?:in|under|below|from) `([^`\s]{1,200})`/i
const amongTests = /(?:^|\/)(?:tests?|specs?|e2e|__tests__)\/\w/

function otherFile(text: string, runs: readonly Deed[]): string | undefined {
  const folder = folderOfTests.exec(text)?.[1]
  const named =
    pathsIn(text.replaceAll('`', ' ')).find(({ path }) => path.includes('/') && /test|spec/i.test(path)) ??
    (folder !== undefined && amongTests.test(folder) ? { path: folder } : undefined)
  if (named === undefined) return undefined
  const covered = runs.map(({ command }) =>
    pathsIn(command.replaceAll(/['"]/g, ' ')).map(({ path }) => path.replace(/\/$/, '')),
  )
  const asFolders = runs.map(({ command }) => wordsOf(command).filter((word) => /^[\w.@-]+\/[\w./@-]+$/.test(word)))
  const all = covered.map((paths, at) => [...paths, ...(asFolders[at] ?? [])])
  const isCovered = all.some(
    (paths) =>
      paths.length === 0 ||
      paths.some((path) => named.path.startsWith(path) || path.endsWith(named.path) || named.path.endsWith(path)),
  )
  return isCovered ? undefined : `no command in the run ran ${named.path}`
}

/** Matches a package of a monorepo in the notation of `bazel` and similar programs: `//e2e`. */
const label = /`(\/\/[\w./-]{1,100}?)(?:\/\.\.\.|:[\w.-]{1,60})?`/g

function otherLabel(text: string, runs: readonly Deed[]): string | undefined {
  const tested = runs.flatMap(({ command }) =>
    wordsOf(command).flatMap((word) => /^\/\/[^:]*/.exec(word)?.[0].replace(/\/?(?:\.\.\.)?$/, '') ?? []),
  )
  const named = [...text.matchAll(label)].map(([, name = '']) => name)
  const missed = named.find((name) => tested.every((each) => !`${name}/`.startsWith(`${each}/`)))
  return tested.length === 0 || missed === undefined ? undefined : `no command in the run tested ${missed}`
}

function otherNumber(text: string, runs: readonly Deed[]): string | undefined {
  const said =
    /\b(\d{1,6}) ?(?:\/|of) ?\1\b|\ball (\d{1,6}) (?:\w+ )?(?:tests|specs|examples|cases|checks|scenarios)\b|\b(\d{1,6}) (?:tests? )?(?:passed|passing|pass)\b/i.exec(
      text,
    )
  const number = Number(said?.[1] ?? said?.[2] ?? said?.[3] ?? 0)
  const counts = [...new Set(runs.flatMap(({ counts: each = [] }) => each))]
  if (number < 3 || counts.length === 0 || runs.some(({ counts: each = [] }) => each.length === 0)) return undefined
  const isSum = counts.some((one) => counts.some((two) => one + two === number || one - two === number))
  return counts.includes(number) || isSum ? undefined : `no recorded test run reported the number ${number}`
}
