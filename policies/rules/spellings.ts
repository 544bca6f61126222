import type { ShellWord } from '../commands/shell-word.ts'
import type { PrefixRule } from './rule.ts'

/** npm's commands, each with its aliases (`npm help`). npm also accepts unambiguous abbreviations of these names. */
const npmNames: ReadonlyMap<string, string> = new Map(
  [
    'run run-script rum urn',
    'exec x',
    'install i in ins inst insta instal isnt isnta isntal add',
    'install-test it',
    'ci clean-install ic install-clean isntall-clean',
    'install-ci-test cit clean-install-test sit',
    'uninstall un unlink remove rm r',
    'update up upgrade udpate',
    'test t tst',
    'link ln',
    'list ls ll la',
    'search s se find',
    'view v info show',
    'config c',
    'version verison',
    'access author adduser',
    'owner',
    'unpublish',
  ].flatMap((line) => {
    const [name = '', ...others] = line.split(' ')
    return [name, ...others].map((one): readonly [string, string] => [one, name])
  }),
)

/** Programs such as make, whose operands are all names of build targets, in any order. */
const makers = /^(?:g?make|ninja|just|task|rake|gradlew?|mvnw?|ant|invoke|nox|doit|grunt|gulp)$/

/** Whether all operands of a program are targets. If so, a target counts at any position. */
export function makesAll(program: string): boolean {
  return makers.test(program)
}

/** Whether two words mean the same subcommand of a program. */
export function isSameVerb(program: string, text: string, verb: string): boolean {
  if (text === verb) return true
  if (program !== 'npm') return false
  const known = npmNames.get(text)
  if (known !== undefined) return known === (npmNames.get(verb) ?? verb)
  return text.length > 1 && verb.startsWith(text)
}

/** For programs that can destroy a lot of data: the spellings of their options, each with the one letter to which it is reduced. */
const letters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rm: { R: 'r', '--recursive': 'r', '--force': 'f', '--dir': 'd' },
  chmod: { '--recursive': 'R' },
  chown: { '--recursive': 'R' },
  chgrp: { '--recursive': 'R' },
  cp: { r: 'R', a: 'R', '--recursive': 'R', '--force': 'f' },
  git: { '--force': 'f', '--delete': 'd' },
  mv: { '--force': 'f' },
}

/** Reduces an option to the usual letters: for `rm`, `-Rf` becomes `-rf`, and `--recursive` becomes `-r`. */
export function plainOption(program: string, text: string): string {
  const table = Object.hasOwn(letters, program) ? letters[program] : undefined
  if (table === undefined) return text
  if (!text.startsWith('--'))
    return /^-[A-Za-z]+$/.test(text) ? text.replace(/[A-Za-z]/g, (one) => table[one] ?? one) : text
  const full = text.length > 3 ? Object.keys(table).find((one) => one.startsWith(text)) : undefined
  return full === undefined ? text : `-${table[full] ?? ''}`
}

/** Programs for which `X run a` and `X a` mean the same. */
const leavingOutRun = /^(?:yarn|yarnpkg|pnpm|bun)$/

/** Whether a program assumes the subcommand `run` if it is left out. */
export function leavesOutRun(program: string): boolean {
  return leavingOutRun.test(program)
}

/** Returns a rule's pattern, and other patterns that mean the same to the program. */
export function patternsOf({ pattern, origin }: PrefixRule, program: string): readonly PrefixRule['pattern'][] {
  const [names, verb, ...rest] = pattern
  if (names === undefined || verb === undefined || origin.layer === 'default') return [pattern]
  if (engines.test(program) && rest.length > 0 && verb.some((text) => /^(?:container|image)$/.test(text)))
    return [pattern, [names, ...rest]]
  if (leavingOutRun.test(program))
    return [pattern, verb.includes('run') ? [names, ...rest] : [names, ['run'], verb, ...rest]]
  const script = rest[0]?.some((text) => /^(?:test|start|stop|restart)$/.test(text)) === true
  return program === 'npm' && verb.some((text) => npmNames.get(text) === 'run') && script
    ? [pattern, [names, ...rest]]
    : [pattern]
}

/** Git's internal commands, each with the subcommand for which git runs it. */
const plumbing: Readonly<Record<string, string>> = {
  'send-pack': 'push',
  'http-push': 'push',
  'fetch-pack': 'fetch',
  'http-fetch': 'fetch',
}

/** Returns a command as written, and its equivalents. For example, `git-push` is equivalent to `git push`, and so is `git send-pack`, which git runs for it. */
export function formsOf(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const [program, ...args] = words
  if (program?.kind !== 'static') return [words]
  const base = program.text.slice(program.text.lastIndexOf('/') + 1).toLowerCase()
  const verb = /^git-([\w-]+)$/.exec(base)?.[1]
  if (verb !== undefined) return [words, ...formsOf([named('git'), named(verb), ...args])]
  const [first, ...rest] = args
  const versioned = /^(pip)[\d.]+$/.exec(base)?.[1]
  if (versioned !== undefined) return [words, [named(versioned), ...args]]
  // The programs that rustup provides accept a toolchain as their first argument.
  if (first?.kind === 'static' && /^\+./.test(first.text) && /^(?:cargo|rustc)$/.test(base))
    return [words, [program, ...rest]]
  const short = shortOf(base, args)
  if (short !== undefined) return [words, [program, ...short]]
  const meant =
    base === 'git' && first?.kind === 'static' && Object.hasOwn(plumbing, first.text) ? plumbing[first.text] : undefined
  return meant === undefined ? [words] : [words, [program, named(meant), ...rest]]
}

const engines = /^(?:docker|podman|nerdctl)$/
/** Programs that install packages if they are called without a subcommand (yarn(1), bundle(1)). */
const installing = /^(?:yarn|yarnpkg|bundle|bundler)$/
/** Docker's image commands, and what they are called without the word `image` if the name differs. */
const ofImages: Readonly<Record<string, string>> = { ls: 'images', list: 'images', rm: 'rmi', remove: 'rmi' }

/**
 * Returns the arguments of an equivalent command: in its shorter form (`docker run` for `docker container run`), or with the default subcommand. Undefined if
 * there is none.
 */
function shortOf(program: string, args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  if (installing.test(program) && args.every(({ kind, text }) => kind === 'static' && text.startsWith('-')))
    return [named('install'), ...args]
  if (!engines.test(program)) return undefined
  const at = args.findIndex(({ kind, text }) => kind === 'static' && /^(?:container|image)$/.test(text))
  const verb = args[at + 1]
  if (at < 0 || verb?.kind !== 'static') return undefined
  const isImage = args[at]?.text === 'image'
  const other = isImage && Object.hasOwn(ofImages, verb.text) ? ofImages[verb.text] : undefined
  return [...args.slice(0, at), other === undefined ? verb : named(other), ...args.slice(at + 2)]
}

function named(text: string): ShellWord {
  return { kind: 'static', text }
}

/** Options whose value is the next word, even if that begins with a dash (git-push(1)). */
const takesAny = /^(?:-[a-z]*o|--(?:push-option|repo|receive-pack|exec))$/

/** Whether a command only tells what it would do. */
export function isDryRun(words: readonly ShellWord[]): boolean {
  const end = words.findIndex(({ text }) => text === '--')
  const options = end < 0 ? words : words.slice(0, end)
  if (options.some(({ text }) => /^--(?:no-dry-run|dry-run=)/.test(text))) return false
  const at = options.findIndex(({ kind, text }) => kind === 'static' && text === '--dry-run')
  return at > 0 && !takesAny.test(options[at - 1]?.text ?? '') && options[at + 1]?.text !== 'false'
}
