import { extname } from 'node:path/posix'
import { filesOf, ownName, type TestFiles } from './same-tests.ts'
import type { TestResult } from './test-results.ts'
import { textOfTest } from './test-text.ts'

/** The words with which languages whose tests have results here begin a definition, and what CommonJS puts before it. */
const defining: ReadonlySet<string> = new Set(
  'function def class func fn struct enum trait type interface const let var exports'.split(' '),
)

/**
 * Returns a function that finds what a test has called that the run has removed: a changed source defined it, and no code names it any more. If such a test is gone,
 * that says something about the change, and not about the tests.
 *
 * @param sources the changed sources
 * @param all all files of the base and the run, without what was installed
 */
export function openGoneSubjects(
  files: TestFiles,
  sources: readonly string[],
  all: () => readonly string[],
): (test: TestResult) => string | undefined {
  let removed: ReadonlySet<string> | undefined
  return (test) => {
    removed ??= removedFrom(files, sources, all)
    const text = filesOf(test, files)
      .map((path) => textOfTest(files.before(path) ?? '', ownName(test)))
      .find((each) => each !== undefined)
    const called = (text?.body.match(/[\w$]+\(?/g) ?? []).filter((word) => word.endsWith('('))
    return called.map((word) => word.slice(0, -1)).find((name) => removed?.has(name))
  }
}

function removedFrom(
  { before, after, changed }: TestFiles,
  sources: readonly string[],
  all: () => readonly string[],
): ReadonlySet<string> {
  const names = new Set<string>()
  // Documentation may go on to name what is gone.
  const endings = new Set(changed.map((path) => extname(path)))
  for (const path of sources) {
    const left = new Set(wordsIn(after(path)))
    const lost = definedIn(before(path)).filter((name) => !left.has(name))
    for (const name of lost) names.add(name)
    if (lost.length > 0) endings.add(extname(path))
  }
  for (const path of names.size === 0 ? [] : all())
    if (endings.has(extname(path))) for (const word of wordsIn(after(path))) names.delete(word)
  return names
}

/** The names that a text defines. */
function definedIn(text: string | undefined): readonly string[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const words = wordsIn(line)
    return words.filter((_, at) => at > 0 && defining.has(words[at - 1] ?? ''))
  })
}

function wordsIn(text: string | undefined): readonly string[] {
  return text?.match(/[\w$]+/g) ?? []
}
