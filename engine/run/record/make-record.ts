import { relative } from 'node:path'
import type { RunRecord, RunSummary } from '../../core/events.ts'
import type { FileChange } from '../../core/changes/compose.ts'
import { oneLine } from '../../core/text/one-line.ts'
import type { CommandsSeen } from './commands-seen.ts'

const mostFiles = 100
const mostRefused = 50

/** What a record is made from. */
type Facts = Pick<RunSummary, 'filesChanged' | 'changes' | 'denied'> & {
  readonly seen: CommandsSeen
  readonly verified: RunRecord['verified']
  readonly commits: RunRecord['commits']
  /** The directory in which the run began; undefined if it never began. */
  readonly workspace: string | undefined
}

/** Makes the record of a run. */
export function makeRecord({ seen, filesChanged, changes, denied, verified, commits, workspace }: Facts): RunRecord {
  const { notCounted } = changes ?? {}
  const of = (kind: string | undefined): string[] => namesOf(filesChanged, kind, workspace).slice(0, mostFiles)
  return {
    ...seen.told(workspace),
    verified,
    commits,
    files: {
      created: of('add'),
      changed: of('update'),
      deleted: of('delete'),
      tests: namesOf(filesChanged, undefined, workspace).filter(isTest).slice(0, mostFiles),
      ...(notCounted === undefined ? {} : { not_counted: notCounted }),
    },
    refused: denied.slice(0, mostRefused).map(({ what, reason }) => ({ what: oneLine(what), reason })),
  }
}

const testFolders: ReadonlySet<string> = new Set(['test', 'tests', 'spec', 'specs', '__tests__', 'e2e', 't', 'testing'])
const testName = /^test_|^conftest\.py$|[._-](?:test|spec)s?\.[a-z]+$|(?:Tests?|Spec)\.[a-z]+$/

/** Whether a path is that of a test, judged by the names by which programs find tests. */
export function isTest(path: string): boolean {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  return testName.test(name) || folders.some((each) => testFolders.has(each))
}

function namesOf(files: readonly FileChange[], kind: string | undefined, workspace: string | undefined): string[] {
  return files
    .filter((each) => kind === undefined || each.kind === kind)
    .map(({ path }) => (workspace !== undefined && path.startsWith(`${workspace}/`) ? relative(workspace, path) : path))
}
