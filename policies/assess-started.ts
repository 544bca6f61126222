import type { AnalysedCommand } from './commands/analyse.ts'
import { literal, type ShellWord } from './commands/shell-word.ts'
import { runsHooks } from './programs/git-changes.ts'
import { matchRules } from './rules/match.ts'
import { programKey, type RuleSet } from './rules/rule-set.ts'
import type { PrefixRule } from './rules/rule.ts'

/** Places of a command at which another is looked for; with more than these what stands further behind is taken for one. */
const mostStarts = 64

/**
 * The rules that forbid or ask about what a command may start by its arguments, as `docker exec` and `git bisect run`
 * do: where one of the words begins a command that a rule is about, or where a text that may be code names its program.
 */
export function findStarted(command: AnalysedCommand, rules: RuleSet): readonly PrefixRule[] {
  const restricting = command.unlisted ? rules.restricting : rules.concealing
  if (restricting.length === 0 || !mayStart(command)) return []
  const counts = new Set(restricting)
  const starts = [...startsOf(command, rules), ...aliasesOf(command, rules)]
  const found = starts
    .slice(0, mostStarts)
    .flatMap((words) => matchRules({ words, bare: undefined }, rules).map(({ rule }) => rule))
  const beyond = starts.length > mostStarts ? rules.concealing.slice(0, 1) : []
  return [...found.filter((rule) => counts.has(rule)), ...beyond, ...findNamed(command, rules)]
}

/** Whether a command may run others that its arguments decide. Hooks of a repository are none of these. */
function mayStart({ words, facts, alarms, unlisted }: AnalysedCommand): boolean {
  return (
    unlisted ||
    facts.some((fact) => fact.class === 'unknown' || (fact.class === 'runs-code' && fact !== runsHooks)) ||
    alarms.some(({ kind }) => kind === 'environment' || kind === 'eval') ||
    (isGit(words) && words.some(({ text }) => /^alias\./i.test(text)))
  )
}

function isGit([program]: readonly ShellWord[]): boolean {
  return programKey(program?.text ?? '') === 'git'
}

/** Settings that a line hands git in variables (git(1), GIT_CONFIG_COUNT; `--config-env`), which may hold an alias. */
const handsSettings = /^(?:GIT_CONFIG_VALUE_\d+|GIT_CONFIG_PARAMETERS)=/

/** What aliases that are handed to git in variables may stand for: whose name is used, and where, isn't followed. */
function aliasesOf({ words, texts }: AnalysedCommand, { byProgram }: RuleSet): readonly (readonly ShellWord[])[] {
  if (!byProgram.has('git')) return []
  const named = isGit(words) && words.some(({ text }) => text.startsWith('--config-env'))
  const values = [...words.map(({ text }) => text), ...texts].filter((text) => handsSettings.test(text))
  return [...values, ...(named ? texts : [])].map((value) => {
    const alias = value
      .replace(handsSettings, '')
      .replace(/["'\\]/g, '')
      .replace(/^alias\.[^=]*=/i, '')
    return ['git', ...alias.split(/\s+/).filter((word) => word !== '')].map(literal)
  })
}

/** The commands that may begin with one of the words, or with the value of an option. Words behind git may be git's. */
function startsOf(
  { words }: AnalysedCommand,
  { byProgram, forAnyProgram }: RuleSet,
): readonly (readonly ShellWord[])[] {
  const ofGit = isGit(words) && byProgram.has('git')
  return words.slice(1).flatMap((word, at) => {
    if (word.kind !== 'static') return []
    const rest = words.slice(at + 2)
    const programs = new Set([
      word.text,
      word.text.replace(/^[^=]*=/, ''),
      word.text.replace(/^.*=/s, ''),
      word.text.replace(/^-\w/, ''),
    ])
    const known = [...programs].filter((text) => {
      const name = programKey(text)
      return forAnyProgram.length > 0 || byProgram.has(name) || (name.startsWith('git-') && byProgram.has('git'))
    })
    return [
      ...known.map((text) => [literal(text), ...rest]),
      ...(ofGit && at > 0 ? [[literal('git'), word, ...rest]] : []),
    ]
  })
}

/** What a name or a path doesn't hold, and a line of code does. */
const code = /[\s;|&()`'"<>{}]/

/** Texts that people read: what they say is said, not run. */
const told = /^gh (?:pr|issue|release) /

/** The rules whose program is named in what may be code. How the code goes on can't be told. */
function findNamed({ words, texts }: AnalysedCommand, { concealing }: RuleSet): readonly PrefixRule[] {
  if (told.test(words.map(({ text }) => text).join(' '))) return []
  const codes = [...words.slice(1).map(({ text }) => text), ...texts]
    .filter((text) => code.test(text))
    .flatMap(readings)
  // A program's name alone is a command where a rule is about all that the program does.
  const alone = [...codes, ...texts.flatMap(readings)]
  return concealing.filter(({ pattern, text }) => {
    const names = pattern[0] ?? [/^[\w./-]+/.exec(text ?? '')?.[0] ?? '']
    return names.some(
      (name) => name !== '' && (pattern.length > 1 ? codes : alone).some((one) => mentions(one, programKey(name))),
    )
  })
}

/** A text without its quotes, which part words in one language and stand within them in another. */
function readings(text: string): readonly string[] {
  const lower = text.toLowerCase()
  const parted = lower.replace(/["'\\]/g, ' ')
  return [parted, parted.replace(/^-\w/, ''), lower.replace(/["'\\]/g, '')]
}

/** Whether a text has a name as a word of its own, or as the beginning of a file such as `git-push`. */
function mentions(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (!/[\w.-]/.test(before) && !/\w/.test(after)) return true
  }
  return false
}
