import { basename, dirname } from 'node:path/posix'
import { isDeepStrictEqual } from 'node:util'
import type { RunChange } from '../../transaction/change-record.ts'
import { manifests, type JudgePart } from './judge-parts.ts'
import { textIn } from './judge-tree.ts'
import { programOf, type NamingText } from './files-in-text.ts'
import type { RunText } from './judged-apart.ts'
import { isTest } from '../record/make-record.ts'
import { changedSettings, entriesIn, settingsIn } from './merge-manifest.ts'
import { wordsOf, type Reached } from './reach-command.ts'
import type { TestResults } from './test-results.ts'
import { textOfTest } from './test-text.ts'

/** The changed files that decide what the command does, apart from what it runs. */
export function changedConfiguration(
  changes: readonly RunChange[],
  part: (path: string) => JudgePart,
  { files }: Reached,
  [base = '', own = '']: readonly string[],
): readonly string[] {
  return changes.flatMap(({ path }) => {
    const what = part(path)
    if (what === 'config') return files.includes(path) ? [] : [path]
    if (what !== 'manifest') return []
    const [before, after] = [textIn(base, path), textIn(own, path)]
    if (before === undefined) return []
    return changedSettings(basename(path), before, after ?? '')?.length === 0 ? [] : [path]
  })
}

/**
 * Whether a run changed the functions by which a file of fixtures takes part in pytest itself. Such a function decides what becomes of all tests, so it is
 * configuration; a fixture is a part of the tests that name it.
 */
export function changesHooks(
  path: string,
  ...[before, after]: readonly ((path: string) => string | undefined)[]
): boolean {
  if (basename(path) !== 'conftest.py') return false
  const [old, now] = [before?.(path) ?? '', after?.(path) ?? '']
  const names = new Set(`${old}\n${now}`.match(/\bpytest_\w+/g))
  return [...names].some((name) => !isDeepStrictEqual(textOfTest(old, name), textOfTest(now, name)))
}

/** The settings, as texts, of programs that a command may run: files beside the manifest, and those parts of manifests that a program it names reads. */
export function settingsTexts(
  files: readonly string[],
  root: string,
  cwd: string,
  reached: string,
): readonly RunText[] {
  const words = new Set(wordsOf(reached))
  return files.flatMap((path) => {
    const [name, folder] = [basename(path), dirname(path) === '.' ? '' : dirname(path)]
    // The directory of a tool is hidden, as `.cargo`. Its files elsewhere bear its name, as `vitest.config.ts`.
    const tool = (folder.startsWith('.') ? folder.slice(1) : name).split(/[./]/)[0] ?? ''
    const isNear = folder === '' || folder === cwd || name === 'conftest.py' || words.has(tool)
    const text = isNear && !name.endsWith('ignore') ? settingsText(root, path) : undefined
    if (text === undefined) return []
    const settings = manifests.has(name) ? settingsIn(name, text) : undefined
    if (settings === undefined) return isTest(path) && name !== 'conftest.py' ? [] : [{ folder, text, file: path }]
    return [{ folder, file: path, text: JSON.stringify(Object.entries(settings).filter(([key]) => words.has(key))) }]
  })
}

/** Where the packages of a tree begin, as their manifests say. */
export function entryTexts(files: readonly string[], root: string): readonly NamingText[] {
  return files.flatMap((path) => {
    if (!manifests.has(basename(path))) return []
    const text = entriesIn(basename(path), textIn(root, path) ?? '')
    return text === '' ? [] : [{ folder: dirname(path) === '.' ? '' : dirname(path), text }]
  })
}

/** Longer files, and those with a byte that no text has, are data. */
const largestSettings = 256 * 1024

/** Reads a file that may say what is run; undefined if there is none, or if it is data. */
export function settingsText(root: string, path: string): string | undefined {
  const text = textIn(root, path)
  return text !== undefined && text.length <= largestSettings && !text.includes('\0') ? text : undefined
}

/** Where tests have no ids, the configuration of a program that the command starts counts as a part of the command. */
export function startedBy(
  settings: readonly string[],
  { text }: Reached,
  tests: TestResults,
): readonly { file: string; what: string }[] {
  if (tests.size > 0) return []
  const words = new Set(wordsOf(text))
  return settings.flatMap((file) => {
    const program = programOf(file)
    return words.has(program) ? [{ file, what: `${file}, which ${program} reads, was changed` }] : []
  })
}

export function manifestsIn(changes: readonly RunChange[]): readonly string[] {
  return changes
    .map(({ path }) => path)
    .filter((path) => basename(path) === 'package.json' && !path.includes('node_modules/'))
}
