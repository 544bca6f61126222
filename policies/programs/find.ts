import { readOnly, unknown, type Fact } from '../commands/facts.ts'
import { findSensitive } from '../commands/sensitive-paths.ts'
import { mayBeOption, staticText, type ShellWord } from '../commands/shell-word.ts'
import { globTest, originOfListed, regexTest } from '../commands/file-lists.ts'
import { secretSamples, targetsSecrets } from '../commands/secret-patterns.ts'
import { judgeFiles, judgeTexts, join } from './judges.ts'
import type { Inner, JudgeContext, Judgement, Program, ProgramTable } from './program-table.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Harmless parts of find's expression that take no argument (find(1)). */
const alone = words(
  '-print -print0 -ls -prune -quit -empty -readable -writable -executable -true -false -not -a -o -and -or -follow -depth -d -mount -xdev -noleaf -nouser -nogroup -daystart -warn -nowarn -ignore_readdir_race -noignore_readdir_race ( ) ! ,',
)
/** Harmless parts of find's expression that take one argument. */
const withArgument = words(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -used -newer -anewer -cnewer -newermt -newerat -newerct -maxdepth -mindepth -user -group -uid -gid -perm -inum -links -lname -ilname -samefile -fstype -regextype -printf -flags -context',
)
/** Options that come before the starting points. */
const leadingOption = /^-(?:[HLPEs]|O[0-3])$/
const writing = words('-fprint -fprint0 -fls -fprintf')
const running = words('-exec -execdir -ok -okdir')
const naming = words('-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname')

/** Judges find by reading its expression from left to right. A part that isn't listed makes the command unknown. */
function judgeFind(args: readonly ShellWord[], { place }: JudgeContext): Judgement {
  const start = args.findIndex(
    ({ kind, text }) => kind === 'static' && /^(?:-|[(!,]$)/.test(text) && !leadingOption.test(text),
  )
  const leading = (start < 0 ? args : args.slice(0, start)).filter(({ text }) => !leadingOption.test(text))
  const roots = leading.length === 0 ? [{ kind: 'static', text: '.' } as const] : leading
  const facts: Fact[] = [readOnly]
  const found: Inner[] = []
  const within = roots.every((root) => place.owns(root))
  const [root] = roots
  // The assumed beginning of the paths that replace `{}`: the starting point if there is only one and it is below the working folder, else `./`.
  const below =
    roots.length === 1 && within && root?.kind === 'static' && /^\w/.test(root.text)
      ? `${root.text.replace(/\/$/, '')}/`
      : './'
  let filtered = false
  let deletes = false
  for (const root of leading) {
    if (root.kind !== 'static' && mayBeOption(root))
      facts.push(unknown(`${root.text} may turn out to be a part of the expression`))
  }
  const rest = start < 0 ? [] : args.slice(start)
  const patterns = rest.flatMap(({ text }, at) =>
    naming.has(rest[at - 1]?.text ?? '') ? [patternTest(rest[at - 1]?.text ?? '', text)] : [],
  )
  const named = rest.filter((_, at) => naming.has(rest[at - 1]?.text ?? ''))
  const sensitive = patterns.some(targetsSecrets) || named.some(({ text }) => findSensitive(text, true) !== undefined)
  const isPlain = !rest.some(({ text }) => /^(?:-o|-or|,|!|-not)$/.test(text))
  for (let at = 0; at < rest.length; at++) {
    const part = staticText(rest[at])
    if (part === undefined)
      return { facts: [unknown(`${rest[at]?.text ?? ''} may turn out to be any part of find's expression`)] }
    if (alone.has(part)) continue
    const argument = rest[at + 1]
    if (withArgument.has(part) && argument !== undefined) {
      if (mayBeExpression(argument))
        return { facts: [unknown(`${argument.text} may turn out to be additional parts of find's expression`)] }
      filtered ||= naming.has(part) && isPlain && !secretSamples.some(patternTest(part, argument.text))
      at++
    } else if (writing.has(part)) {
      facts.push({ class: 'writes', paths: [argument?.text ?? ''] })
      at += part === '-fprintf' ? 2 : 1
    } else if (part === '-delete') deletes = true
    else if (running.has(part)) {
      const end = rest.findIndex(
        (arg, index) => index > at && (arg.text === ';' || (arg.text === '+' && rest[index - 1]?.text === '{}')),
      )
      if (end < 0) return { facts: [unknown(`the command after ${part} has no end`)], opaque: `${part} has no end` }
      const open = rest.slice(at + 1, end).find(mayBeExpression)
      if (open !== undefined)
        return {
          facts: [unknown(`${open.text} may turn out to end the command after ${part}`)],
          opaque: `${open.text} may end the command after ${part}`,
        }
      const list = within && !sensitive ? { dotted: true, filtered } : undefined
      const origin = originOfListed(list, rest[at + 1]?.text)
      const command = rest.slice(at + 1, end).map((word) => fill(word, origin, below))
      found.push({ kind: 'command', words: command })
      // The command of `-execdir` runs in the folder of each file, so its program may come from that folder.
      if (part !== '-exec')
        facts.push(
          unknown(
            part === '-execdir'
              ? '-execdir runs a command in the folder of each file'
              : `${part} asks at the terminal before each command`,
          ),
        )
      at = end
    } else return { facts: [unknown(`${part} is a part of find's expression that is not known to be harmless`)] }
  }
  if (deletes) {
    const isOutside = roots.some((root) => place.isWide(root) && !(within && filtered))
    facts.push({
      class: 'destructive',
      reason: 'find -delete deletes what it finds',
      extent: isOutside ? 'wide' : 'named',
    })
  }
  // find reads only names and metadata of files (`names`). The only files whose paths are known here are the starting points.
  return {
    ...join([
      { facts, runs: found, names: leading },
      judgeTexts([...leading, ...rest]),
      judgeFiles(leading.filter(({ kind }) => kind !== 'dynamic')),
    ]),
  }
}

const harmful = [...writing, ...running, '-delete', '-files0-from', ';', '+']

/** Whether a word may expand to several words, one of which is a part of the expression that changes or runs something. */
function mayBeExpression(word: ShellWord): boolean {
  if (word.kind === 'dynamic') return !word.single
  return word.kind === 'glob' && harmful.some(globTest(word.text))
}

/** Converts the pattern of a test such as `-name` or `-regex` into a predicate on names. */
function patternTest(part: string, pattern: string): (name: string) => boolean {
  return /regex$/.test(part) ? regexTest(`^(?:${pattern})$`) : globTest(pattern)
}

/** Replaces `{}` with the path of a file below the starting points. */
function fill(word: ShellWord, from: 'workspace' | 'commands', below: string): ShellWord {
  if (word.kind !== 'static' || !word.text.includes('{}')) return word
  const prefix = word.text.slice(0, word.text.indexOf('{}'))
  // If the text before `{}` is anything but a folder, the result isn't the name of the file that was found.
  const isOther = !/^(?:|.*\/)$/.test(prefix)
  return {
    kind: 'dynamic',
    text: word.text,
    prefix: prefix === '' ? below : prefix,
    single: false,
    whole: true,
    from: isOther ? 'commands' : from,
  }
}

/** `find`, which takes an expression as its arguments. */
export const find: Readonly<Record<'find', Program>> & ProgramTable = {
  find: { source: 'find(1)', judge: judgeFind },
}
