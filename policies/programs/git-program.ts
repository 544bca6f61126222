import { readOnly, unknown, type Alarm, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import { literal, mayBeOption, mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import { commandsGiven, gitChange } from './git-changes.ts'
import { pathsOf } from './git-paths.ts'
import { isPlainShape } from './git-formats.ts'
import { gitReaders, gitSecondReaders, type GitReader } from './git-options.ts'
import { isTameSetting } from './git-settings.ts'
import { join, judgeFiles, judgeOptions } from './judges.ts'
import type { Judgement, Program, ProgramTable } from './program-table.ts'

type Front = {
  readonly rest: readonly ShellWord[]
  readonly alarms: readonly Alarm[]
  /** The aliases that `-c alias.x=…` defines, each with the text that it stands for. */
  readonly aliases?: ReadonlyMap<string, string>
  readonly problem?: string
}

/** Reads the options before the subcommand (git(1)). */
function readFront(args: readonly ShellWord[]): Front {
  const alarms: Alarm[] = []
  const aliases = new Map<string, string>()
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at]
    const text = staticText(word)
    if (text === undefined)
      return {
        rest: args.slice(at),
        alarms,
        problem: `the value of ${word?.text ?? ''} is known only when the command runs`,
      }
    if (!text.startsWith('-')) break
    const next = staticText(args[at + 1])
    if (text === '-C') {
      if (next === undefined || !/^\.?\/*$/.test(next)) alarms.push(elsewhere(`-C ${args[at + 1]?.text ?? ''}`))
      at++
    } else if (text === '-c' || text.startsWith('--config-env')) {
      const setting = text === '-c' ? (next ?? '') : ''
      const alias = /^alias\.([^=]*)=/i.exec(setting)
      if (alias?.[1] !== undefined) aliases.set(alias[1].toLowerCase(), setting.slice(alias[0].length))
      if (!isTameSetting(setting)) {
        alarms.push({
          kind: 'environment',
          reason: `git ${text} ${args[at + 1]?.text ?? ''} can make git run other programs`,
        })
      }
      if (!text.includes('=')) at++
    } else if (/^--(?:git-dir|work-tree|namespace|super-prefix|attr-source)(?:=|$)/.test(text)) {
      alarms.push(elsewhere(text))
      if (!text.includes('=')) at++
    } else if (/^--exec-path=/.test(text)) {
      alarms.push({ kind: 'environment', reason: `git ${text} makes git run other programs` })
    } else if (
      !/^(?:--no-pager|-P|--no-replace-objects|--no-lazy-fetch|--no-optional-locks|--no-advice|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--bare|--version|--help|-v)$/.test(
        text,
      )
    ) {
      return { rest: args.slice(at), alarms, problem: `git ${text} is not known to be harmless` }
    } else if (text === '--help' && args.length > 1)
      return { rest: args.slice(at), alarms, problem: 'git --help opens a manual in a pager or a browser' }
    else if (text === '--bare') alarms.push(elsewhere(text))
    else if (text === '--help' && args.length === 1) return { rest: [literal('version')], alarms }
    else if (/^(?:--version|-v)$/.test(text))
      return { rest: [{ kind: 'static', text: 'version' }, ...args.slice(at + 1)], alarms }
  }
  return { rest: args.slice(at), alarms, aliases }
}

/** What an alias that is defined on the command line stands for: a git command, or a shell script. */
function expandAlias(words: readonly ShellWord[], text: string): readonly ShellWord[] | { readonly script: string } {
  if (text.startsWith('!')) return { script: text.slice(1) }
  // Git has its own rules for quotes in an alias, so an alias with quotes is judged as a shell script.
  if (/['"\\]/.test(text)) return { script: text }
  return [
    ...text
      .split(/\s+/)
      .filter((one) => one !== '')
      .map(literal),
    ...words.slice(1),
  ]
}

function elsewhere(option: string): Alarm {
  return {
    kind: 'other-repository',
    reason: `git ${option} works on another repository, whose configuration can run programs`,
  }
}

function judgeGit(args: readonly ShellWord[]): Judgement {
  const { rest, alarms, aliases, problem } = readFront(args)
  if (problem !== undefined) return { facts: [unknown(problem)], alarms, bare: rest, opaque: problem }
  const name = staticText(rest[0])
  if (name === undefined)
    return { facts: [unknown('the git command is known only when the line runs')], alarms, bare: rest }
  const alias = aliases?.get(name.toLowerCase())
  if (alias === undefined) return { ...judgeVerb(name, rest.slice(1), alarms), bare: rest }
  const expanded = expandAlias(rest, alias)
  const reason = `git ${name} is an alias that this command line defines`
  if ('script' in expanded) {
    return {
      facts: [unknown(reason)],
      alarms,
      bare: rest,
      opaque: reason,
      runs: [{ kind: 'script', text: expanded.script, shell: 'sh' }],
    }
  }
  return {
    facts: [unknown(reason)],
    alarms,
    bare: rest,
    runs: [{ kind: 'command', words: [literal('git'), ...expanded] }],
  }
}

function judgeVerb(verb: string, args: readonly ShellWord[], alarms: readonly Alarm[]): Judgement {
  const change = gitChange(verb, args)
  if (change !== undefined) return { facts: change, alarms, runs: commandsGiven(verb, args) }
  const seconds = Object.hasOwn(gitSecondReaders, verb) ? gitSecondReaders[verb] : undefined
  const second = staticText(args[0])
  const isSecond = second !== undefined && second !== '' && seconds !== undefined && Object.hasOwn(seconds, second)
  const picked = seconds?.[isSecond ? second : '']
  const row: GitReader | undefined = picked ?? (Object.hasOwn(gitReaders, verb) ? gitReaders[verb] : undefined)
  if (
    (verb === 'config' && !setsNamed(args) && args.some(({ text }) => listing.test(text) || ownKeys.test(text))) ||
    (verb === 'var' && second === '-l')
  ) {
    return {
      facts: [readOnly],
      alarms: [...alarms, { kind: 'secret', reason: "git's configuration may contain tokens" }],
    }
  }
  const shown = showsAddresses(verb, args) ? [...alarms, addresses] : alarms
  if (verb === 'config' && !isSecond) return { facts: [judgeConfig(args)], alarms: shown }
  if (row === undefined)
    return {
      facts: [unknown(`git ${verb}${second === undefined ? '' : ` ${second}`} is not known to be read-only`)],
      alarms,
    }
  const facts = judgeReader(verb, row, isSecond ? args.slice(1) : args)
  return { ...facts, alarms: [...shown, ...(facts.alarms ?? [])] }
}

const addresses: Alarm = { kind: 'unsandboxed', reason: 'the URLs of remotes may contain a password' }

/** Whether a git query shows the URLs of remotes: git-remote(1), and the keys of git-config(1) that contain a URL. */
function showsAddresses(verb: string, args: readonly ShellWord[]): boolean {
  if (verb === 'remote') return args.length > 0
  return verb === 'config' && args.some(({ text }) => /\.(?:push)?url$|^branch\..*remote$|proxy$/i.test(text))
}

function judgeReader(verb: string, row: GitReader, args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, row.options, { letters: 'getopt', numbers: row.numbers === true })
  if (!parsed.ok) return { facts: [unknown(`git ${verb}: ${parsed.reason}`)] }
  const released = row.operandsNeed?.some((option) => parsed.options.some(({ name }) => name === option)) ?? false
  if (!released && parsed.operands.length > (row.most ?? Infinity)) {
    return { facts: [unknown(`git ${verb} ${parsed.operands.at(-1)?.text ?? ''} may change something`)] }
  }
  // git blame reads options even after `--`, and other subcommands may do so too. For the others, a word after `--` counts only if its literal text
  // looks like an option, not if it merely may expand to one.
  const end = args.findIndex(({ text }) => text === '--')
  const strict = verb === 'blame' || verb === 'annotate'
  const late = args.slice(end + 1).find((word) => end >= 0 && mayBeOption(word) && (strict || word.kind === 'static'))
  if (late !== undefined) return { facts: [unknown(`git ${verb}: ${late.text} after -- may be an option`)] }
  if (row.most !== undefined && !released && args.some(mayBeSeveral))
    return { facts: [unknown(`git ${verb}: one of its arguments may expand to several words`)] }
  const facts: Fact[] = [readOnly]
  if (parsed.options.some(({ name, value }) => name === '--diff-merges' && !plainMerges.test(staticText(value) ?? '')))
    facts.push(unknown('--diff-merges may make git perform a merge again'))
  const format = parsed.options.find(({ name, value }) => value !== undefined && !isPlainShape(name, staticText(value)))
  if (format !== undefined)
    facts.push(
      unknown(`${format.name} ${format.value?.text ?? ''} may show a URL, or verify signatures, which runs a program`),
    )
  const hasPattern = parsed.options.some(({ name }) => name === '-e' || name === '-f')
  // The operands may be files: given two paths, git diff reads them even outside of the repository, and `HEAD:.env` stands for the committed file.
  const paths = parsed.operands.flatMap((word, at) =>
    at === 0 && verb === 'grep' && !hasPattern ? [word] : pathsOf(word),
  )
  // In the value of `-L`, which shows a range of lines or a function, the file comes after the last colon.
  const ranges = parsed.options.flatMap(({ name, value }) => (name === '-L' && value !== undefined ? [value] : []))
  return join([
    { facts },
    judgeOptions(parsed.options),
    judgeFiles(ranges.flatMap(pathsOf)),
    judgeFiles(verb === 'grep' && !hasPattern ? paths.slice(1) : paths),
  ])
}

/** Harmless values of `--diff-merges`. `remerge` isn't among them, because it makes git perform the merge again. */
const plainMerges = /^(?:off|none|on|m|first-parent|1|separate|combined|c|dense-combined|cc)$/

/** Arguments of `git config` that show all settings, or settings with tokens. */
const listing =
  /^(?:-[a-km-zA-Z]*l[a-zA-Z]*|--list|list|--get-regexp|--regexp|--get-urlmatch|--url(?:=.*)?)$|extraheader|token|pass|secret|credential|cookie|url\./i
/** Keys under which tools store their own tokens. `user.signingKey` is excluded, because that setting contains only the name of a key. */
const ownKeys = /oauth|[^g]key$|\.auth$/i

const configReading = optionTable(
  '--get --get-all --get-regexp --get-urlmatch --list -l --add --replace-all --unset --unset-all --global --system --local --worktree --bool --int --type: -z --null --name-only --show-origin --show-scope --includes --no-includes --default:',
)

/** Whether `git config` gives a setting a value, or removes it, and so doesn't show any. */
function setsNamed(args: readonly ShellWord[]): boolean {
  const parsed = parseArguments(args, configReading, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok || args.some(mayBeSeveral)) return false
  const [first, second] = parsed.operands
  if (parsed.options.some(({ name }) => /^--(?:get|list|show)|^-[lz]/.test(name))) return false
  const isNamed = /^[\w-]+\..*[\w-]$/.test(staticText(first) ?? '') && second !== undefined
  return isNamed || (/^(?:set|unset)$/.test(staticText(first) ?? '') && second !== undefined)
}

/** Judges `git config`: `git config NAME` reads a setting, and a second operand sets it. */
function judgeConfig(args: readonly ShellWord[]): Fact {
  // The name of a setting is followed by its new value, even if that looks like an option.
  const parsed = parseArguments(args, configReading, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) return { class: 'writes', paths: ['.git/config'] }
  if (parsed.options.some(({ name }) => /^--(?:add|replace-all|unset)/.test(name)))
    return { class: 'writes', paths: ['.git/config'] }
  const reads = parsed.options.some(({ name }) => /^(?:--get|--list|-l)/.test(name))
  const [name] = parsed.operands
  const isName = parsed.operands.length === 1 && name?.kind === 'static' && /^[\w-]+\..*[\w-]$/.test(name.text)
  return reads || isName ? readOnly : { class: 'writes', paths: ['.git/config'] }
}

/** `git`, which takes options, a subcommand, and the subcommand's arguments. */
export const git: Readonly<Record<'git', Program>> & ProgramTable = {
  git: { source: 'git(1) and the pages of its subcommands', judge: judgeGit },
}
