import type { KnownPlaces } from '../known-places.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { SandboxError, type SandboxErrorCode, type SandboxErrorData } from '../sandbox-error.ts'
import type { Command, Denial, Sandbox, SandboxProcess } from '../sandbox.ts'
import { shownPath, shownText, sourcePath, type View } from './view-paths.ts'

/** Changes the keys of the known entries from the paths that commands see to the paths at which the files are stored. */
export function placesAtSources({ places, denied }: KnownPlaces, views: readonly View[]): KnownPlaces {
  return { places: new Map([...places].map(([path, place]) => [sourcePath(path, views), place])), denied }
}

/**
 * A sandbox whose callers use the paths that commands see, and never get the paths at which views are stored.
 *
 * @param asked the policy with the paths that commands see
 * @param inner the sandbox that was opened for the same policy, but with the paths at which the files are stored
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
      // The rejection reaches the caller that awaits the result. A caller that only kills the command must not crash because of it.
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
  // The data has the same fields with the same types; only texts have changed.
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
