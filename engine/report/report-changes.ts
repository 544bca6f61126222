import { truncateMiddle } from '../core/text/truncate.ts'
import { fieldsOf, listOf, textOf } from './fields.ts'
import type { ChangedFile, Step } from './report-types.ts'
import { ownText } from './own-text.ts'
import { splitDiff } from './split-diff.ts'

type Collected = {
  kind: string
  byCommand: boolean
  added: number
  removed: number
  diffs: { step: number; diff: string }[]
  omittedDiffs: number
}

/** The maximum number of characters of all diffs together, and of one diff. Beyond the former, each diff still keeps 400 characters. */
const [mostText, longestDiff] = [300_000, 40_000]
const [mostFiles, mostDiffs] = [1000, 500]

/** Collects changes by file, from patches and from the list of changed files that a run reports at its end. */
export class ReportChanges {
  readonly #files = new Map<string, Collected>()
  #text = 0
  #diffs = 0

  /** Adds the changes of a step, if the step succeeded. Only steps that apply patches have changes. */
  see({ number, status, files, parts }: Step): void {
    if (status !== 'ok') return
    const diffs = parts.filter(({ format }) => format === 'diff').flatMap(({ text }) => splitDiff(text))
    for (const { path, kind } of files) {
      const file = this.#at(path, kind)
      if (file === undefined) return
      file.byCommand = false
      for (const diff of diffs.filter((each) => isSame(path, each.path))) {
        file.added += diff.added
        file.removed += diff.removed
        // Each diff takes some space, however short it is, so the number of diffs is limited too.
        if (this.#diffs++ >= mostDiffs) {
          file.omittedDiffs++
          continue
        }
        const remaining = Math.max(400, Math.min(longestDiff, mostText - this.#text))
        const { text } = truncateMiddle(diff.text, remaining)
        this.#text += text.length
        file.diffs.push({ step: number, diff: ownText(text) })
      }
    }
  }

  /** Adds the list of changed files that a run reports at its end. */
  list(value: unknown, workspace: string | undefined): void {
    for (const each of listOf(value).map(fieldsOf)) {
      const named = textOf(each['path'])
      if (named === undefined) continue
      const path = relativeTo(workspace, named)
      const file = this.#at(path, textOf(each['kind']) ?? 'update')
      if (file === undefined) return
      file.kind = textOf(each['kind']) ?? file.kind
    }
  }

  /** Returns the changed files, with the diffs and counts collected so far. */
  files(): readonly ChangedFile[] {
    return [...this.#files].map(([path, file]) => ({ path, ...file }))
  }

  #at(path: string, kind: string): Collected | undefined {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    if (this.#files.size >= mostFiles) return undefined
    const file = { kind, byCommand: true, added: 0, removed: 0, diffs: [], omittedDiffs: 0 }
    this.#files.set(path, file)
    return file
  }
}

/** Whether two paths name the same file. A diff names a file relative to the workspace, so `named` may be only the end of `path`. */
function isSame(path: string, named: string): boolean {
  return path === named || path.endsWith(`/${named}`)
}

/** Makes a path relative to the workspace. Paths outside it stay unchanged. */
export function relativeTo(workspace: string | undefined, path: string): string {
  return workspace !== undefined && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}
