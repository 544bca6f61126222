import { readOnly, unknown, type Alarm, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/options.ts'
import { staticText, type ShellWord } from '../commands/shell-word.ts'
import { gitChange } from './git-changes.ts'
import { gitReaders, gitSecondReaders, type GitReader } from './git-options.ts'
import { join, judgeFiles, judgeOptions } from './judges.ts'
import type { Judgement, Program, ProgramTable } from './program.ts'

/** Settings that `-c` may give for one call: none of them names a program or a file to run. */
const tameSetting =
  /^(?:color\.[\w.]+|advice\.\w+|core\.(?:quotepath|abbrev|autocrlf|eol|filemode|ignorecase|precomposeunicode|safecrlf|commentchar)|log\.(?:date|decorate|abbrevcommit|follow)|diff\.(?:renames|algorithm|noprefix|mnemonicprefix|context|statgraphwidth|wserrorhighlight)|column\.\w+|status\.\w+|user\.(?:name|email)|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|merge\.conflictstyle|pull\.(?:rebase|ff)|push\.default|fetch\.prune|safe\.directory|versionsort\.\w+|grep\.\w+|gc\.auto|rerere\.enabled)=/i

const settingOff =
  /^(?:core\.(?:fsmonitor|hookspath|pager)=(?:false|\/dev\/null|cat|)|commit\.gpgsign=false|core\.fsmonitor=)$/i

type Front = { readonly rest: readonly ShellWord[]; readonly alarms: readonly Alarm[]; readonly problem?: string }

/** Reads the options in front of the subcommand (git(1)). */
function readFront(args: readonly ShellWord[]): Front {
  const alarms: Alarm[] = []
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at]
    const text = staticText(word)
    if (text === undefined)
      return { rest: args.slice(at), alarms, problem: `${word?.text ?? ''} is known only when it runs` }
    if (!text.startsWith('-')) break
    const next = staticText(args[at + 1])
    if (text === '-C') {
      if (next === undefined || !/^\.?\/*$/.test(next)) alarms.push(elsewhere(`-C ${args[at + 1]?.text ?? ''}`))
      at++
    } else if (text === '-c' || text.startsWith('--config-env')) {
      const setting = text === '-c' ? (next ?? '') : ''
      if (!tameSetting.test(setting) && !settingOff.test(setting)) {
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
      !/^(?:--no-pager|-P|--no-replace-objects|--no-lazy-fetch|--no-optional-locks|--no-advice|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--bare|--version|-v)$/.test(
        text,
      )
    ) {
      return { rest: args.slice(at), alarms, problem: `git ${text} is not known to be harmless` }
    } else if (text === '--bare') alarms.push(elsewhere(text))
    else if (/^(?:--version|-v)$/.test(text))
      return { rest: [{ kind: 'static', text: 'version' }, ...args.slice(at + 1)], alarms }
  }
  return { rest: args.slice(at), alarms }
}

function elsewhere(option: string): Alarm {
  return {
    kind: 'other-repository',
    reason: `git ${option} works on another repository, whose configuration can run programs`,
  }
}

function judgeGit(args: readonly ShellWord[]): Judgement {
  const { rest, alarms, problem } = readFront(args)
  if (problem !== undefined) return { facts: [unknown(problem)], alarms, bare: rest, opaque: problem }
  const [verb, ...given] = rest
  const name = staticText(verb)
  if (name === undefined)
    return { facts: [unknown('which git command runs is known only when it runs')], alarms, bare: rest }
  return { ...judgeVerb(name, given, alarms), bare: rest }
}

function judgeVerb(verb: string, args: readonly ShellWord[], alarms: readonly Alarm[]): Judgement {
  const change = gitChange(verb, args)
  if (change !== undefined) return { facts: change, alarms }
  const seconds = Object.hasOwn(gitSecondReaders, verb) ? gitSecondReaders[verb] : undefined
  const second = staticText(args[0])
  const isSecond = second !== undefined && second !== '' && seconds !== undefined && Object.hasOwn(seconds, second)
  const picked = seconds?.[isSecond ? second : '']
  const row: GitReader | undefined = picked ?? (Object.hasOwn(gitReaders, verb) ? gitReaders[verb] : undefined)
  if ((verb === 'config' && args.some(({ text }) => listing.test(text))) || (verb === 'var' && second === '-l')) {
    return {
      facts: [readOnly],
      alarms: [...alarms, { kind: 'secret', reason: 'the configuration of git may hold tokens' }],
    }
  }
  if (verb === 'config' && !isSecond) return { facts: [judgeConfig(args)], alarms }
  if (row === undefined)
    return {
      facts: [unknown(`git ${verb}${second === undefined ? '' : ` ${second}`} is not known to only read`)],
      alarms,
    }
  const facts = judgeReader(verb, row, isSecond ? args.slice(1) : args)
  return { ...facts, alarms: [...alarms, ...(facts.alarms ?? [])] }
}

function judgeReader(verb: string, row: GitReader, args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, row.options, row.numbers === true ? { numbers: true } : {})
  if (!parsed.ok) return { facts: [unknown(`git ${verb}: ${parsed.reason}`)] }
  const released = row.operandsNeed?.some((option) => parsed.options.some(({ name }) => name === option)) ?? false
  if (!released && parsed.operands.length > (row.most ?? Infinity)) {
    return { facts: [unknown(`git ${verb} ${parsed.operands.at(-1)?.text ?? ''} may change something`)] }
  }
  const facts: Fact[] = [readOnly]
  const formats = parsed.options.filter(({ name }) => /^--(?:format|pretty)$/.test(name))
  // %G… verifies signatures, for which git runs the program that the repository's configuration names.
  if (
    formats.some(
      ({ value }) => value !== undefined && (value.kind !== 'static' || /%\(?\s*(?:G|signature)/i.test(value.text)),
    )
  ) {
    facts.push(unknown('the format verifies signatures, which runs a program'))
  }
  // Given two paths, git diff reads them wherever they are; `HEAD:.env` is what was once committed.
  const paths = parsed.operands.map((word) =>
    word.kind === 'static' ? { ...word, text: word.text.slice(word.text.indexOf(':') + 1) } : word,
  )
  return join([{ facts }, judgeOptions(parsed.options), judgeFiles(verb === 'grep' ? paths.slice(1) : paths)])
}

/** Words of `git config` that show all settings, or those that hold tokens. */
const listing = /^(?:-l|--list|list|--get-regexp|--regexp|--get-urlmatch)$|extraheader|token|passw|credential|url\./i

const configReading = optionTable(
  '--get --get-all --get-regexp --get-urlmatch --list -l --global --system --local --worktree --bool --int --type: -z --null --name-only --show-origin --show-scope --includes --no-includes --default:',
)

/** `git config NAME` reads; a second operand sets. */
function judgeConfig(args: readonly ShellWord[]): Fact {
  const parsed = parseArguments(args, configReading)
  if (!parsed.ok) return { class: 'writes', paths: ['.git/config'] }
  const reads = parsed.options.some(({ name }) => /^(?:--get|--list|-l)/.test(name))
  return reads || parsed.operands.length === 1 ? readOnly : { class: 'writes', paths: ['.git/config'] }
}

/** `git`, whose arguments are options, a subcommand and its arguments. */
export const git: Readonly<Record<'git', Program>> & ProgramTable = {
  git: { source: 'git(1) and the pages of its subcommands', judge: judgeGit },
}
