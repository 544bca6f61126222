import type { AnalysedCommand } from './commands/analyse.ts'
import { literal, type ShellWord } from './commands/shell-word.ts'
import { runsHooks } from './programs/git-changes.ts'
import { matchRules } from './rules/match-rules.ts'
import { programKey, type RuleSet } from './rules/rule-set.ts'
import type { PrefixRule } from './rules/rule.ts'

/**
 * The maximum number of commands to look for in one command's arguments and to compare with the rules. If the arguments may contain more commands, a
 * restricting rule is assumed to cover one of the others.
 */
const mostStarts = 64

/**
 * Finds the restricting rules for commands that the given command may start through its arguments, as `docker exec` and `git bisect run` do. A rule
 * is found if one of the words begins a command that the rule covers, or if a text that may be code names the rule's program.
 */
export function findStarted(command: AnalysedCommand, rules: RuleSet): readonly PrefixRule[] {
  const { restricting } = rules
  if (restricting.length === 0 || !mayStart(command)) return []
  const counts = new Set(restricting)
  const starts = [...startsOf(command, rules), ...aliasesOf(command, rules)]
  const found = starts
    .slice(0, mostStarts)
    .flatMap((words) => matchRules({ words, bare: undefined }, rules).map(({ rule }) => rule))
  const beyond = starts.length > mostStarts ? rules.concealing.slice(0, 1) : []
  return [...found.filter((rule) => counts.has(rule)), ...beyond, ...findNamed(command, rules)]
}

/** Whether a command may run other commands that are given in its arguments. A repository's hooks don't count. */
function mayStart({ words, facts, around, alarms, unlisted }: AnalysedCommand): boolean {
  return (
    unlisted ||
    [...facts, ...around].some(
      (fact) => fact.class === 'unknown' || (fact.class === 'runs-code' && fact !== runsHooks),
    ) ||
    alarms.some(({ kind }) => kind === 'environment' || kind === 'eval') ||
    (isGit(words) && words.some(({ text }) => /^alias\./i.test(text)))
  )
}

function isGit([program]: readonly ShellWord[]): boolean {
  return programKey(program?.text ?? '') === 'git'
}

/** Matches a variable assignment through which a command line passes settings to git (git(1), GIT_CONFIG_COUNT). The settings may define an alias. */
const handsSettings = /^(?:GIT_CONFIG_VALUE_\d+|GIT_CONFIG_PARAMETERS)=/

/**
 * The commands that aliases may stand for, if a command line passes the aliases to git in environment variables. Neither the names of these aliases
 * nor the places where they are used are tracked.
 */
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

/** The commands that may begin at any of a command's arguments or at the value of an option. Words after `git` may also be git subcommands. */
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

/** Characters that are common in code, but rare in names and paths. */
const code = /[\s;|&()`'"<>{}]/

/** Commands whose text arguments, such as the description of a pull request, are meant for people and never run. */
const told = /^gh (?:pr|issue|release) /

/** The rules whose program is named in text that may be code. Nothing else about the code is known. */
function findNamed({ words, texts }: AnalysedCommand, { concealing }: RuleSet): readonly PrefixRule[] {
  if (told.test(words.map(({ text }) => text).join(' '))) return []
  const codes = [...words.slice(1).map(({ text }) => text), ...texts]
    .filter((text) => code.test(text))
    .flatMap(readings)
  // A program's name alone counts as a command if a rule covers every use of the program.
  const alone = [...codes, ...texts.flatMap(readings)]
  return concealing.filter(({ pattern, text }) => {
    const names = pattern[0] ?? [/^[\w./-]+/.exec(text ?? '')?.[0] ?? '']
    return names.some(
      (name) => name !== '' && (pattern.length > 1 ? codes : alone).some((one) => mentions(one, programKey(name))),
    )
  })
}

/**
 * The possible readings of a text without its quotes and backslashes, in lower case. In some languages quotes separate words, and in others they are
 * part of a word. A short option at the beginning may have the rest of the text as its value.
 */
function readings(text: string): readonly string[] {
  const lower = text.toLowerCase()
  const parted = lower.replace(/["'\\]/g, ' ')
  return [parted, parted.replace(/^-\w/, ''), lower.replace(/["'\\]/g, '')]
}

/** Whether a text contains a name as a separate word, or as the beginning of a file name such as `git-push`. */
function mentions(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (!/[\w.-]/.test(before) && !/\w/.test(after)) return true
  }
  return false
}
