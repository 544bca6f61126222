import * as z from 'zod'
import { makePolicySchema, type ParsedPolicy, type PolicyInput } from './policy-schema.ts'
import { SandboxError } from './sandbox-error.ts'
import { usualPolicy } from './usual-policy.ts'

/**
 * The schema of a sandbox policy, which says what commands may do. A list that is given, even an empty one, replaces the default list.
 * It is made when it is first used, because that takes longer than confining a command, and `parsePolicy` rarely needs it.
 *
 * @example const { success } = SandboxPolicy.safeParse({ mode: 'read-only', workspace: 'relative' }) // false
 */
export const SandboxPolicy = /* @__PURE__ */ z.lazy(makePolicySchema)

/** A policy that has been parsed: all defaults are filled in, and paths that began with `~/` are absolute. */
export type SandboxPolicy = ParsedPolicy

/** A policy as a user writes it: everything except `mode` and `workspace` may be left out. */
export type SandboxPolicyInput = PolicyInput

/**
 * Checks a policy and fills in its defaults. Throws `SandboxError` `invalid-policy`, which names every wrong key.
 *
 * @example const policy = parsePolicy({ mode: 'read-only', workspace: process.cwd(), limits: { wallTimeMs: 10_000 } })
 */
export function parsePolicy(input: unknown): SandboxPolicy {
  const usual = usualPolicy(input)
  if (usual !== undefined) return usual
  // Compiling a parser takes more time than it saves for a single policy.
  const parsed = SandboxPolicy.safeParse(input, { jitless: true })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => ({ key: issue.path.join('.'), expected: issue.message }))
  throw new SandboxError('invalid-policy', { problems }, { cause: parsed.error })
}
