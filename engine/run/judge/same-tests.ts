import { isPassing, type TestResult, type TestResults } from './test-results.ts'
import { isCaseOf, textOfTest, withoutLayout } from './test-text.ts'

/** Reads a file of tests before and after the run, by the path that commands see; undefined if there is none. */
export type TestFiles = {
  readonly before: (path: string) => string | undefined
  readonly after: (path: string) => string | undefined
  /** The changed files with tests, for tests whose runner doesn't report a file. */
  readonly changed: readonly string[]
  /** Other changed files, in which such tests may be, too. */
  readonly sources: readonly string[]
}

/**
 * Finds, for tests that no longer have a result of their own, the new tests that they have become: the same name in another file or group, another name
 * with the same text, or as many cases as before of a test with several cases.
 *
 * @param lost the tests that passed before, and have no result after the run
 * @returns the ids of the new tests by those of the old ones
 */
export function findSameTests(
  lost: readonly TestResult[],
  { before, after, files }: { readonly before: TestResults; readonly after: TestResults; readonly files: TestFiles },
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const added = new Map([...after].filter(([id, result]) => !before.has(id) && isPassing(result)))
  const take = (old: TestResult, isSame: (now: TestResult) => boolean): void => {
    if (found.has(old.id)) return
    const now = [...added.values()].find(isSame)
    if (now === undefined) return
    found.set(old.id, now.id)
    added.delete(now.id)
  }
  for (const old of lost) take(old, (now) => pathOf(now) === pathOf(old) && now.file !== old.file)
  for (const old of lost) take(old, (now) => now.name === old.name && now.file === old.file)
  const bodies = new Map<string, string>()
  const bodyIn = (test: TestResult, read: TestFiles['before']): string => {
    const key = `${read === files.before} ${test.id}`
    const found =
      bodies.get(key) ??
      filesOf(test, files)
        .map((path) => textOfTest(read(path) ?? '', ownName(test))?.body ?? '')
        .find((body) => body !== '')
    bodies.set(key, found ?? '')
    return found ?? ''
  }
  for (const isSame of [
    (old: string, now: string) => withoutLayout(old) === withoutLayout(now),
    // The cases of a table contain what the tests that it replaces did.
    (old: string, now: string, { file }: TestResult) => isCaseOf(old, now, files.after(file ?? '') ?? ''),
  ])
    for (const old of lost) {
      const body = bodyIn(old, files.before)
      if (body !== '') take(old, (now) => isSame(body, bodyIn(now, files.after), now))
    }
  for (const [group, cases] of Map.groupBy(lost, groupOf)) {
    const isCase = cases.length > 0 && cases.every((test) => isGenerated(test, files))
    const now = [...added.values()].filter((test) => groupOf(test) === group)
    // The cases of a test are told apart only by what they contain, so a corrected case has a new name.
    if (isCase && now.length >= cases.length) cases.forEach((old, index) => take(old, (test) => test === now[index]))
  }
  return found
}

/** The files in which the text of a test may be. */
export function filesOf({ file }: TestResult, { changed, sources }: TestFiles): readonly string[] {
  return file === undefined ? [...changed, ...sources] : [file]
}

/** The name that a test has in the text: without the names of its cases. */
export function ownName({ name }: TestResult): string {
  return name.split('/')[0]?.split('::').at(-1)?.split(' - ')[0] ?? name
}

/** The id without the file. */
function pathOf({ id, file }: TestResult): string {
  return file !== undefined && id.startsWith(`${file} > `) ? id.slice(file.length + 3) : id
}

/** What the cases of one test have in common: the id up to where the cases differ. */
function groupOf(test: TestResult): string {
  const bracket = test.id.lastIndexOf('[')
  if (bracket > 0 && test.id.endsWith(']')) return test.id.slice(0, bracket)
  const slash = test.name.indexOf('/')
  if (test.file === undefined && slash > 0) return test.id.slice(0, test.id.length - test.name.length + slash)
  return test.id.slice(0, Math.max(0, test.id.lastIndexOf(' > ')))
}

/** Whether a test's name isn't in the text, because it is made when the tests run. */
function isGenerated(test: TestResult, files: TestFiles): boolean {
  const [path, group] = [pathOf(test), groupOf(test)]
  if (group !== '' && !group.endsWith(path) && test.id.slice(group.length).startsWith('[')) return true
  if (test.file === undefined) return test.name.includes('/')
  return textOfTest(files.before(test.file) ?? '', test.name) === undefined
}
