import { join, normalize } from 'node:path/posix'

/** A part of what a command runs, such as a script of a manifest, with the file that contains it. */
type ReachedPart = { readonly file: string; readonly text: string }

/** What is known of what a command runs. */
export type Reached = {
  /** The parts, by names for people. */
  readonly parts: ReadonlyMap<string, ReachedPart>
  /** The command and the texts of all parts. */
  readonly text: string
  /** Scripts of a shell that the command runs, relative to the root of the tree. */
  readonly files: readonly string[]
}

/** How files of a tree are read. Paths are relative to the root of the tree. */
type ReadTree = {
  readonly read: (path: string) => string | undefined
  /** The directory in which the command runs; empty for the root. */
  readonly cwd: string
  /** The paths of the manifests whose scripts the command may reach. */
  readonly manifests: readonly string[]
}

/** How often a script is followed to the scripts that it names. */
const mostSteps = 20

/**
 * Finds what a command runs: scripts of manifests, rules of a makefile, and files with a shell's script. A script counts as reached if a word of what
 * is reached already is its name, so there may be too many parts, but a part is missing only if its name is put together when it runs.
 */
export function reachCommand(command: string, { read, cwd, manifests }: ReadTree): Reached {
  const parts = new Map<string, ReachedPart>()
  const scripts = manifests.flatMap((file) =>
    Object.entries(scriptsOf(read(file))).map(([name, text]) => ({ file, name, text })),
  )
  const makefile = ['GNUmakefile', 'makefile', 'Makefile']
    .map((name) => join(cwd, name))
    .find((path) => read(path) !== undefined)
  const rules = makefile === undefined ? [] : makeRules(read(makefile) ?? '')
  const files: string[] = []
  let text = command
  for (let step = 0; step < mostSteps; step++) {
    const before = parts.size
    const words = new Set(wordsOf(text))
    if (words.has('t') || words.has('tst')) words.add('test')
    const isNamed = (name: string): boolean =>
      [name, name.replace(/^(?:pre|post)/, '')].some((each) => words.has(each) || hasPattern(words, each))
    for (const { file, name, text: script } of scripts) {
      if (isNamed(name)) parts.set(`script ${name} of ${file}`, { file, text: script })
    }
    if (makefile !== undefined && (words.has('make') || words.has('gmake'))) {
      for (const [label, body] of reachedRules(rules, words))
        parts.set(`${label} of ${makefile}`, { file: makefile, text: body })
    }
    for (const word of scriptsIn(withoutOutputs(text))) {
      const path = normalize(join(cwd, word))
      const content = path.startsWith('..') ? undefined : read(path)
      if (content === undefined || !isShellScript(path, content) || files.includes(path)) continue
      files.push(path)
      parts.set(path, { file: path, text: content })
    }
    text = [command, ...[...parts.values()].map((part) => part.text)].join('\n')
    if (parts.size === before) break
  }
  return { parts, text, files }
}

/** Describes each part of what a command runs that is not the same in two trees. */
export function changesOfCommand(
  before: Reached,
  after: Reached,
): readonly { readonly file: string; readonly what: string }[] {
  return [...new Set([...before.parts.keys(), ...after.parts.keys()])].flatMap((label) => {
    const [old, now] = [before.parts.get(label), after.parts.get(label)]
    if (old?.text.trim() === now?.text.trim()) return []
    const how = now === undefined ? 'was removed' : old === undefined ? 'was added' : 'was changed'
    return [{ file: (now ?? old)?.file ?? '', what: `${label} ${how}` }]
  })
}

/** The scripts of a `package.json`. */
export function scriptsOf(text: string | undefined): Readonly<Record<string, string>> {
  try {
    const { scripts } = JSON.parse(text ?? '{}') as { readonly scripts?: unknown }
    if (typeof scripts !== 'object' || scripts === null) return {}
    return Object.fromEntries(
      Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return {}
  }
}

export function wordsOf(text: string): readonly string[] {
  return text.split(/[\s;&|()<>"'`$={}]+/).filter((word) => word !== '')
}

/**
 * A text without the scripts whose output it compares, as in `test "$(./add.sh 1 2)" = 3`, also with a shell before the script: these are what is tested. A script decides itself by its exit code if its
 * output is assigned to a variable, or only has to be empty or not.
 */
function withoutOutputs(text: string): string {
  return text.split('$(').reduce((kept, part) => {
    const before = kept.slice(-5).replace(/["']?\$?$/, '')
    const end = part.indexOf(')')
    const [first = ''] = part.split(/\s/, 1)
    const isScript = first.includes('/') || shells.includes(first)
    const isCompared = end !== -1 && isScript && !/(?:=|-[nz] )$/.test(before)
    return isCompared ? `${kept} ${part.slice(end + 1)}` : `${kept} ${part}`
  })
}

/** Whether one of the words is the beginning of a name, as in `npm-run-all test:*`. */
function hasPattern(words: ReadonlySet<string>, name: string): boolean {
  for (const word of words) if (word.endsWith('*') && name.startsWith(word.replace(/\*{1,2}$/, ''))) return true
  return false
}

/** The words that may name a script that a text runs. A name without a slash is that of a file only for a shell, or for a program that starts one. */
function scriptsIn(text: string): ReadonlySet<string> {
  const found = text.split('\n').flatMap((line) => {
    const words = wordsOf(line)
    return words.filter(
      (word, at) =>
        word.includes('/') ||
        (word.endsWith('.sh') && (at === 0 || words.slice(Math.max(0, at - 5), at).some((each) => starters.has(each)))),
    )
  })
  return new Set(found)
}

const shells: readonly string[] = ['sh', 'bash', 'dash', 'ksh', 'zsh', 'ash', 'busybox']
const starters: ReadonlySet<string> = new Set([...shells, 'source', '.', 'env', 'exec'])

function isShellScript(path: string, content: string): boolean {
  const [first = ''] = content.slice(0, 200).split('\n')
  return path.endsWith('.sh') || (first.startsWith('#!') && /sh$/.test(first.trimEnd().split(/[\s/]/).at(-1) ?? ''))
}

type MakeRule = { readonly targets: readonly string[]; readonly needs: readonly string[]; readonly text: string }

/** The rules of a makefile in their order. What belongs to no rule, such as variables, is a rule without targets. */
function makeRules(text: string): readonly MakeRule[] {
  const rules: { targets: readonly string[]; needs: readonly string[]; text: string }[] = [
    { targets: [], needs: [], text: '' },
  ]
  const [outside] = rules
  let now = outside
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const colon = line.indexOf(':')
    const isRecipe = line.startsWith('\t')
    if (!isRecipe && colon > 0 && line[colon + 1] !== '=' && !/[=#]/.test(line.slice(0, colon))) {
      now = { targets: wordsOf(line.slice(0, colon)), needs: wordsOf(line.slice(colon + 1)), text: '' }
      rules.push(now)
    } else if (!isRecipe) now = outside
    if (now !== undefined && line.trim() !== '' && !line.trimStart().startsWith('#')) now.text += `${line.trimEnd()}\n`
  }
  return rules
}

/** The rules that make runs for the targets among some words, or else for the first target. */
function reachedRules(rules: readonly MakeRule[], words: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const targets = rules.flatMap((rule) => rule.targets)
  const named = targets.filter((target) => words.has(target))
  const wanted = named.length > 0 ? named : targets.filter((target) => !target.startsWith('.')).slice(0, 1)
  const seen = new Set<string>()
  for (let target = wanted.pop(); target !== undefined; target = wanted.pop()) {
    if (seen.has(target)) continue
    seen.add(target)
    const all = rules.filter((rule) => rule.targets.includes(target) || rule.targets.includes(`.${target}`))
    found.set(`target ${target}`, all.map((rule) => rule.text).join(''))
    wanted.push(...all.flatMap((rule) => rule.needs))
  }
  const isOutside = ({ targets: all }: MakeRule): boolean => all.every((one) => one.startsWith('.') && one !== '.PHONY')
  const outside = rules.filter(isOutside).map((rule) => rule.text)
  return found.set('variables', outside.join(''))
}
