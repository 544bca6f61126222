import { join } from 'node:path'
import { encodeText, type GitDirectories } from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { hasOwnObjects } from './copy-git.ts'
import { mayHaveStaged, refChanges } from './heads.ts'
import type { NestedGit } from './linked-git.ts'

/** Describes what a run changed in a repository of its view; undefined if it changed no ref, created no objects and staged nothing. */
export function changedRepository(
  directory: string,
  path: string,
  kept: string,
  git: GitDirectories | undefined,
  nested: readonly NestedGit[] = [],
): ChangeRecord['repositories'][number] | undefined {
  const refs = git && refChanges(directory, path, git, linkedOf(git, nested))
  const objects = git?.common ?? join(kept, '.git')
  if (refs !== undefined && refs.length > 0) return { path, kept, refs: refs.map((each) => ({ ...each })) }
  const isChanged = hasOwnObjects(encodeText(objects)) || (git !== undefined && mayHaveStaged(directory, path, git))
  return isChanged ? { path, kept, ...(refs && { refs: [] }) } : undefined
}

/** The linked work trees of a repository. */
function linkedOf({ common }: GitDirectories, nested: readonly NestedGit[]): readonly NestedGit[] {
  return nested.filter(({ kept }) => kept.common === common && kept.own !== common)
}
