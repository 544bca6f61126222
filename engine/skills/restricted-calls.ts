import { viewsOf } from '../hooks/views-of-call.ts'
import type { CallHooks } from '../tools/hook-interface.ts'
import { readToolAllowlist, type ToolAllowlist } from './tool-allowlist.ts'

/** A gate before a run's calls that can be made narrower, and never wider again. */
export type RestrictedCalls = {
  readonly calls: CallHooks
  /** Lets only these through from now on, of those that came through before. */
  readonly narrow: (allowed: readonly string[], source: string) => void
}

/** Puts the gate before the hooks of a run. Asking for a skill, and giving the final answer, always comes through. */
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

const always: readonly string[] = ['skill', 'structured_output']
