import type { KnownPlaces } from '../known-places.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { SandboxError, type SandboxErrorCode, type SandboxErrorData } from '../sandbox-error.ts'
import type { Command, Denial, Sandbox, SandboxProcess } from '../sandbox.ts'
import { shownPath, shownText, sourcePath, type View } from './view-paths.ts'

/** What paths have meant, by the paths where their files lie. */
export function placesAtSources({ places, denied }: KnownPlaces, views: readonly View[]): KnownPlaces {
  return { places: new Map([...places].map(([path, place]) => [sourcePath(path, views), place])), denied }
}

/**
 * A sandbox as its callers know it: they name paths as commands see them, and are told of none of those where views are kept.
 *
 * @param asked the policy in these paths
 * @param inner the sandbox that was opened for the same policy with the paths where the files lie
 */
export function withViews(asked: SandboxPolicy, inner: Sandbox): Sandbox {
  const { views } = asked
  const shown = (denials: readonly Denial[]): readonly Denial[] => denials.map((each) => denialAsShown(each, views))
  const { known } = inner
  return {
    ...inner,
    policy: asked,
    ...(known === undefined ? {} : { known: () => placesAsShown(known(), views) }),
    spawn: (command: Command): SandboxProcess => {
      const started = start(inner, command, views)
      const result = started.result.then(
        (ended) => ({ ...ended, denials: shown(ended.denials) }),
        (error: unknown) => Promise.reject(errorAsShown(error, views)),
      )
      // Whoever awaits the result gets the rejection; a caller that only kills must not die of it.
      result.catch(() => undefined)
      return { ...started, result }
    },
    inspect: async () => shown(await inner.inspect()),
  }
}

function start(inner: Sandbox, command: Command, views: readonly View[]): SandboxProcess {
  try {
    return inner.spawn({ ...command, cwd: sourcePath(command.cwd, views) })
  } catch (error) {
    throw errorAsShown(error, views)
  }
}

function errorAsShown(error: unknown, views: readonly View[]): unknown {
  if (!(error instanceof SandboxError)) return error
  const entries = Object.entries(error.data).map(([key, value]) => [
    key,
    typeof value === 'string' ? shownText(value, views) : value,
  ])
  // The same fields with the same types: only texts are others.
  const data = Object.fromEntries(entries) as SandboxErrorData[SandboxErrorCode]
  return new SandboxError(error.code as SandboxErrorCode, data, { cause: error })
}

function placesAsShown({ places, denied }: KnownPlaces, views: readonly View[]): KnownPlaces {
  return { places: new Map([...places].map(([path, place]) => [shownPath(path, views), place])), denied }
}

function denialAsShown(denial: Denial, views: readonly View[]): Denial {
  const { remedy } = denial
  return {
    ...denial,
    subject: shownText(denial.subject, views),
    rule: shownText(denial.rule, views),
    remedy:
      remedy.kind === 'otherwise'
        ? { ...remedy, advice: shownText(remedy.advice, views) }
        : 'path' in remedy
          ? { ...remedy, path: shownPath(remedy.path, views) }
          : remedy,
  }
}
