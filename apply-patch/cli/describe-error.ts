import { PatchError } from '../patch-error.ts'
import { CommitError, PathError, ReadError } from '../files/index.ts'
import { renderFailure } from '../render/render-failure.ts'

/** Returns the fields that describe an error in a JSON report. */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  const message = renderFailure(error)
  if (error instanceof PatchError) {
    const { code, failures, complete } = error
    return { code, failures, complete, tree: 'unchanged', message }
  }
  if (error instanceof CommitError) {
    const { cause: _, ...facts } = error.facts
    return { code: error.code, ...facts, tree: error.tree, message }
  }
  if (error instanceof PathError || error instanceof ReadError)
    return { code: error.code, path: error.path, tree: 'unchanged', message }
  return { code: 'unexpected', message }
}
