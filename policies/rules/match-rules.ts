import { homeDirectory } from '../home.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import { matchStars } from './match-stars.ts'
import { isOptionEntry, longestPart } from './rule-index.ts'
import { programKey, type RuleSet } from './rule-set.ts'
import type { PrefixRule } from './rule.ts'
import { formsOf, isDryRun, isSameVerb, makesAll, patternsOf, plainOption } from './spellings.ts'

/** A command to compare with rules: all of its words, and its words without the options that precede the subcommand. */
type RuleSubject = { readonly words: readonly ShellWord[]; readonly bare: readonly ShellWord[] | undefined }

/** A rule that covers a command. `certain` is false if the match depends on words that are known only at run time. */
type RuleMatch = { readonly rule: PrefixRule; readonly certain: boolean }

/**
 * The rules that cover a command. Rules that allow are taken literally. Rules that prompt or forbid also match if there is a path in front of the program's
 * name, if there are options between the words, or if options are bundled or come in another order. They may also match unknown words: such a match
 * counts as uncertain or, for a default rule, doesn't count at all.
 */
export function matchRules(subject: RuleSubject, rules: RuleSet): readonly RuleMatch[] {
  const [program] = subject.words
  if (program === undefined || rules.prefixRules.length === 0) return []
  const forms = subject.bare === undefined ? [subject.words] : [subject.words, subject.bare]
  const meant = forms.flatMap(formsOf)
  const candidates = program.kind === 'static' ? candidatesFor(meant, rules) : rules.restricting
  const isKnown = subject.words.every(({ kind }) => kind === 'static')
  const matches: RuleMatch[] = []
  for (const rule of candidates) {
    // If the program is unknown, one rule is enough.
    if (program.kind !== 'static' && matches.length > 0) break
    const isDefault = rule.origin.layer === 'default'
    if (isDefault && isDryRun(subject.words)) continue
    const isAllow = rule.decision === 'allow'
    const found = (isAllow ? forms : meant).map((words) =>
      isAllow ? matchExactly(words, rule, rules) : matchWidely(words, rule),
    )
    if (found.includes('yes')) matches.push({ rule, certain: true })
    else if (found.includes('maybe') && (!isDefault || isKnown)) matches.push({ rule, certain: false })
  }
  return matches
}

/**
 * The rules that may concern a command: those about its program, in the order of the rule set, and then those that name no program. If all words are
 * known, rules that require other words are left out.
 */
function candidatesFor(forms: readonly (readonly ShellWord[])[], rules: RuleSet): readonly PrefixRule[] {
  const found = new Set<PrefixRule>()
  for (const [first, ...rest] of forms) {
    const filed = rules.byProgram.get(programKey(first?.text ?? ''))
    if (filed === undefined) continue
    const isKnown = rest.every(({ kind }) => kind === 'static')
    const those = isKnown ? [filed.others, ...rest.map(({ text }) => filed.byWord.get(text) ?? [])] : [filed.all]
    for (const rule of those.flat()) found.add(rule)
  }
  const place = (rule: PrefixRule): number => rules.places.get(rule) ?? 0
  return [...[...found].toSorted((a, b) => place(a) - place(b)), ...textsThatFit(forms, rules)]
}

/**
 * Of the rules that name no program, returns those that may match a command. A rule with stars is left out if the longest text between its stars
 * doesn't occur in the known text.
 */
function textsThatFit(forms: readonly (readonly ShellWord[])[], { forAnyProgram }: RuleSet): readonly PrefixRule[] {
  const known = forms.map(linesOf)
  // Any of the rules may match text that is known only at run time.
  if (forAnyProgram.length < fewTexts || known.some((lines) => lines.known !== undefined)) return forAnyProgram
  const all = known.flatMap(({ line, bare }) => [line, bare]).join('\n')
  return forAnyProgram.filter((rule) => all.includes(longestPart(rule)))
}

/** With fewer rules that name no program, none are left out before the comparison. */
const fewTexts = 50

type Answer = 'yes' | 'maybe' | 'no'

function matchExactly(words: readonly ShellWord[], rule: PrefixRule, rules: RuleSet): Answer {
  if (rule.text !== undefined) {
    return words.every(({ kind }) => kind === 'static') && matchStars(rule.text, linesOf(words).line) ? 'yes' : 'no'
  }
  if (rule.exact === true && words.length !== rule.pattern.length) return 'no'
  const fits = rule.pattern.every((alternatives, at) => {
    const word = words[at]
    if (word?.kind !== 'static') return false
    return alternatives.includes(word.text) || (at === 0 && isRegistered(word.text, alternatives, rules))
  })
  return fits ? 'yes' : 'no'
}

/** Whether a path stands for a program's bare name. It does only if a `host_executable` lists the path. */
function isRegistered(path: string, names: readonly string[], rules: RuleSet): boolean {
  if (!path.startsWith('/')) return false
  // If there are several entries for one name, the last one counts, as in Codex.
  const last = new Map(rules.hostExecutables.map((one) => [one.name, one]))
  return [...last.values()].some(
    ({ name, paths }) => names.includes(name) && paths.some((one) => one.replace(/^~(?=\/)/, homeDirectory()) === path),
  )
}

const lineOf = (words: readonly ShellWord[]): string => words.map(({ text }) => text).join(' ')

/** A command as a line of text, with and without its program's folder. `known`: text before the first unknown word; undefined if all are known. */
type Lines = { readonly line: string; readonly bare: string; readonly known: string | undefined }

/** A cache of commands as lines of text. It is needed because each command is compared with every rule that has a `text`. */
const lines = new WeakMap<readonly ShellWord[], Lines>()

function linesOf(words: readonly ShellWord[]): Lines {
  const made = lines.get(words)
  if (made !== undefined) return made
  const [program, ...rest] = words
  const unknownAt = words.findIndex(({ kind }) => kind !== 'static')
  const all: Lines = {
    line: lineOf(words),
    bare: lineOf([{ kind: 'static', text: programKey(program?.text ?? '') }, ...rest]),
    known: unknownAt < 0 ? undefined : lineOf(words.slice(0, unknownAt)),
  }
  lines.set(words, all)
  return all
}

/** Compares a command with a rule's text, in which `*` stands for any text. The command is tried with and without a folder in front of the program's name. */
function matchTextWidely(words: readonly ShellWord[], text: string): Answer {
  const { line, bare, known } = linesOf(words)
  if (known === undefined) return matchStars(text, line) || (bare !== line && matchStars(text, bare)) ? 'yes' : 'no'
  const star = text.indexOf('*')
  const start = star < 0 ? text : text.slice(0, star)
  return start.startsWith(known) || known.startsWith(start) ? 'maybe' : 'no'
}

function matchWidely(words: readonly ShellWord[], rule: PrefixRule): Answer {
  if (rule.text !== undefined) return matchTextWidely(words, rule.text)
  const [program] = words
  const [names = []] = rule.pattern
  if (program === undefined) return 'no'
  const named =
    program.kind === 'static' ? (names.map(programKey).includes(programKey(program.text)) ? 'yes' : 'no') : 'maybe'
  if (named === 'no') return 'no'
  const answers = patternsOf(rule, programKey(program.text)).map((pattern) => matchPattern(words, pattern))
  return least([named, answers.reduce(better)])
}

function matchPattern([program, ...rest]: readonly ShellWord[], [, ...pattern]: PrefixRule['pattern']): Answer {
  const name = programKey(program?.text ?? '')
  const options = pattern.filter(isOptionEntry)
  const operands = pattern.filter((entry) => !isOptionEntry(entry))
  const bringsWords = program?.kind === 'dynamic' && !program.single
  return least([
    makesAll(name) ? matchTargets(rest, operands) : matchOperands(name, rest, operands, bringsWords),
    ...options.map((entry) => matchOption(name, rest, entry)),
  ])
}

/** Whether the words of the command include all operands of the pattern, in any order. Used for programs such as make, whose operands are all targets. */
function matchTargets(words: readonly ShellWord[], pattern: PrefixRule['pattern']): Answer {
  const isOpen = words.some(({ kind }) => kind !== 'static')
  const given = (entry: readonly string[]): boolean =>
    words.some(({ kind, text }) => kind === 'static' && entry.includes(text))
  return least(pattern.map((entry): Answer => (given(entry) ? 'yes' : isOpen ? 'maybe' : 'no')))
}

function least(answers: readonly Answer[]): Answer {
  if (answers.includes('no')) return 'no'
  return answers.includes('maybe') ? 'maybe' : 'yes'
}

/**
 * Whether the words that aren't options begin with the words of the pattern. A word after an option may be the option's value. In that case it may be
 * skipped, and the answer becomes `maybe`.
 */
function matchOperands(
  program: string,
  words: readonly ShellWord[],
  pattern: readonly (readonly string[])[],
  bringsWords: boolean,
): Answer {
  if (pattern.length === 0) return 'yes'
  // If the program name comes from an unquoted variable, that variable may also contain the first arguments.
  let states = new Map<number, Answer>([[0, 'yes']])
  if (bringsWords) for (let at = 1; at < pattern.length; at++) states.set(at, 'maybe')
  let best = (bringsWords ? 'maybe' : 'no') as Answer
  let afterOption = false
  for (const word of words) {
    const next = new Map<number, Answer>()
    const reach = (at: number, answer: Answer): void => {
      if (at === pattern.length) best = better(best, answer)
      else next.set(at, better(next.get(at) ?? 'no', answer))
    }
    // Cargo takes a `+` before the name of a toolchain.
    const isOption = word.kind === 'static' && /^-.|^\+[a-z]/.test(word.text)
    for (const [at, answer] of states) {
      const entry = pattern[at] ?? []
      const isMeant = (text: string): boolean =>
        entry.includes(text) || (at === 0 && entry.some((verb) => isSameVerb(program, text, verb)))
      if (isOption) reach(entry.includes(word.text) ? at + 1 : at, answer)
      else if (word.kind === 'static') {
        if (isMeant(word.text)) reach(at + 1, answer)
        if (afterOption) reach(at, 'maybe')
      } else {
        reach(at, 'maybe')
        if (couldBe(word, entry)) reach(at + 1, 'maybe')
        if (word.kind === 'dynamic' && !word.single)
          for (let skip = at + 2; skip <= pattern.length; skip++) reach(skip, 'maybe')
      }
    }
    const isOpen = [...next.values()].some((answer) => answer === 'yes')
    if (best === 'yes' || next.size === 0 || (best === 'maybe' && !isOpen)) return best
    afterOption = isOption ? !/^--.*=/.test(word.text) && word.text !== '--' : word.kind !== 'static'
    states = next
  }
  return best
}

function better(a: Answer, b: Answer): Answer {
  if (a === 'yes' || b === 'yes') return 'yes'
  return a === 'maybe' || b === 'maybe' ? 'maybe' : 'no'
}

function couldBe(word: ShellWord, entry: readonly string[]): boolean {
  if (word.kind !== 'dynamic') return true
  return entry.some((text) => text.startsWith(word.prefix))
}

/** Whether the command has one of the options, anywhere, bundled or abbreviated. For `git push`, `+` before a refspec counts as `--force`. */
function matchOption(program: string, words: readonly ShellWord[], entry: readonly string[]): Answer {
  const given = words.flatMap((word) => (word.kind === 'static' ? [word.text] : []))
  const plain = given.map((text) => plainOption(program, text))
  const forces = program === 'git' && given.includes('push') && given.some((text) => text.startsWith('+'))
  const answers = entry.map((written): Answer => {
    if (forces && /^(?:-f|--force)$/.test(written)) return 'yes'
    const option = plainOption(program, written)
    const texts = [...plain, ...given]
    if (given.some((text) => isOption(text, written)) || texts.some((text) => isOption(text, option))) return 'yes'
    const letters = /^-([A-Za-z0-9]{1,4})$/.exec(option)?.[1]
    const bundled = texts.filter((text) => /^-[A-Za-z0-9]+$/.test(text)).join('')
    if (letters !== undefined && [...letters].every((letter) => bundled.includes(letter))) return 'yes'
    const unclear = words.some((word) => word.kind !== 'static' && (word.kind === 'glob' || /^-|^$/.test(word.prefix)))
    return unclear ? 'maybe' : 'no'
  })
  return answers.reduce(better, 'no')
}

/** Whether a text is the given option: the option itself, the option with `=` and a value, or a long option shortened to two letters or more. */
function isOption(text: string, option: string): boolean {
  if (text === option || text.startsWith(`${option}=`)) return true
  const name = text.split('=')[0] ?? ''
  return option.startsWith('--') && name.length > 3 && name.startsWith('--') && option.startsWith(name)
}
