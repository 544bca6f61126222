import { viewsOf } from '../hooks/views-of-call.ts'
import type { CallHooks } from '../tools/hook-interface.ts'
import { readToolAllowlist, type ToolAllowlist } from './tool-allowlist.ts'

/** A filter that all calls of a run must pass. It can be made stricter during the run, but never looser. */
export type RestrictedCalls = {
  readonly calls: CallHooks
  /** Restricts the calls further: from now on, a call passes only if `allowed` and all earlier lists allow it. */
  readonly narrow: (allowed: readonly string[], source: string) => void
}

/**
 * Creates a filter that a call must pass before it reaches the hooks in `behind`. Calls that load a skill, or deliver the final answer or a review's findings, always pass.
 */
export function restrictedCalls(behind: CallHooks, cwd: () => string): RestrictedCalls {
  const narrowings: { readonly narrowing: ToolAllowlist; readonly source: string }[] = []
  return {
    narrow: (allowed, source) => void narrowings.push({ narrowing: readToolAllowlist(allowed, source), source }),
    calls: {
      before: async (call) => {
        const views = viewsOf({ ...call, input: call.input as Readonly<Record<string, unknown>> }, cwd())
        const shut = always.includes(call.tool)
          ? undefined
          : narrowings.find(({ narrowing }) => !narrowing.covers(views))
        if (shut !== undefined) {
          const { narrowing, source } = shut
          return { decision: 'block', reason: `${source} allows only ${narrowing.allowed.join(', ')}.` }
        }
        return behind.before(call)
      },
      after: (call, result, took) => behind.after(call, result, took),
    },
  }
}

const always: readonly string[] = ['skill', 'structured_output', 'report_findings']
