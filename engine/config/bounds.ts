import { isDeepStrictEqual } from 'node:util'
import type { Leaf } from './leaves.ts'
import { keyOf, leavesOf } from './leaves.ts'
import type { Settings } from './schema.ts'
import { approvalWithin, apart, hostsWithin, limitWithin, modeWithin, rootsWithin, type Reach } from './strictness.ts'

/** A setting that asks for more than a bound gives, and the bound's setting that says so. */
type Excess = { readonly path: readonly string[]; readonly limit: readonly string[] }

/**
 * The settings that go further than others have fixed. What a bound does not mention it leaves free; what it does mention may
 * be narrowed where a key has a narrower and a wider, and must otherwise be the same.
 *
 * @param preferences whether the bound also fixes what is a matter of taste (the model) and not of safety
 */
export function excessOver(bound: Settings, asked: object, preferences: boolean): readonly Excess[] {
  const limits = new Map(leavesOf(bound).map((leaf) => [keyOf(leaf.path), leaf]))
  return leavesOf(asked).flatMap((leaf) => {
    if (!preferences && tastes.has(leaf.path[0] ?? '')) return []
    const limit = limitFor(leaf, limits)
    if (limit === undefined || isWithin(leaf, asked, limit, bound)) return []
    return [{ path: leaf.path, limit: limit.path }]
  })
}

const tastes: ReadonlySet<string> = new Set([
  ...['model', 'fallback_models', 'model_reasoning_effort', 'tool_concurrency', 'tool_search'],
  ...['tool_output_token_limit', 'tool_output_line_limit'],
  ...['model_context_window', 'model_max_output_tokens', 'compact_at', 'model_auto_compact_token_limit'],
  ...['request_max_retries', 'stream_max_retries', 'stream_idle_timeout_ms'],
])

/** Ways to search the web, each reaching more than the one before. */
const searches: readonly NonNullable<Settings['web_search']>[] = ['disabled', 'cached', 'live']

/** What gives commands the network; the two keys are one setting. */
const networkKeys: ReadonlySet<string> = new Set([
  'sandbox_workspace_write.network_access',
  'sandbox_workspace_write.allowed_hosts',
])

/** Whether a key says what commands reach. A layer that names one of these keys has said all about it. */
export function isNetworkKey(key: string): boolean {
  return networkKeys.has(key)
}

function limitFor(leaf: Leaf, limits: ReadonlyMap<string, Leaf>): Leaf | undefined {
  const key = keyOf(leaf.path)
  const own = limits.get(key)
  if (own !== undefined) return own
  const first = (matches: (limit: string) => boolean): Leaf | undefined =>
    [...limits].find(([limit]) => matches(limit))?.[1]
  if (isNetworkKey(key)) return first(isNetworkKey)
  // What is fixed about the sandbox is fixed about there being one.
  if (key === 'sandbox_mode') return first((limit) => limit.startsWith('sandbox_'))
  // Whoever lists what may be written beside the workspace has said all about it.
  if (key === 'sandbox_caches') return limits.get('sandbox_workspace_write.writable_roots')
  // What shall not be read must not be shown.
  if (key === 'sandbox_read.allow') return limits.get('sandbox_read.deny')
  return undefined
}

function isWithin(leaf: Leaf, asked: Settings, limit: Leaf, bound: Settings): boolean {
  const key = keyOf(leaf.path)
  const { sandbox_workspace_write: mine = {}, sandbox_read: seen = {}, shell_environment_policy: names } = asked
  const { sandbox_workspace_write: theirs = {}, sandbox_read: hidden = {}, shell_environment_policy: fixed } = bound
  switch (key) {
    case 'sandbox_mode':
      return modeWithin(asked.sandbox_mode, bound.sandbox_mode ?? 'workspace-write')
    case 'approval_policy':
      return approvalWithin(asked.approval_policy, bound.approval_policy)
    case 'sandbox_workspace_write.network_access':
    case 'sandbox_workspace_write.allowed_hosts':
      return hostsWithin(reach(mine), reach(theirs))
    case 'sandbox_workspace_write.writable_roots':
      return rootsWithin(mine.writable_roots ?? [], theirs.writable_roots ?? [])
    case 'sandbox_caches':
      return (asked.sandbox_caches ?? []).every((name) => bound.sandbox_caches?.includes(name))
    case 'sandbox_read.allow':
      return (
        (hidden.allow === undefined || rootsWithin(seen.allow ?? [], hidden.allow)) &&
        apart(seen.allow ?? [], hidden.deny ?? [])
      )
    case 'sandbox_read.deny':
      return rootsWithin(hidden.deny ?? [], seen.deny ?? [])
    case 'web_search':
      return searches.indexOf(asked.web_search ?? 'disabled') <= searches.indexOf(bound.web_search ?? 'disabled')
    case 'shell_environment_policy.inherit':
      return names?.inherit === 'none' || fixed?.inherit === 'all' || names?.inherit === fixed?.inherit
    case 'shell_environment_policy.exclude':
      return (fixed?.exclude ?? []).every((pattern) => names?.exclude?.includes(pattern))
    case 'shell_environment_policy.include_only':
      return (names?.include_only ?? []).every((pattern) => fixed?.include_only?.includes(pattern))
    default:
      if (leaf.path[0] === 'sandbox_limits') return limitWithin(leaf.path[1] ?? '', leaf.value, limit.value)
      return isDeepStrictEqual(leaf.value, limit.value)
  }
}

/** The hosts that commands reach. */
function reach(table: NonNullable<Settings['sandbox_workspace_write']>): Reach {
  if (table.allowed_hosts === undefined) return table.network_access === true ? 'all' : []
  return table.allowed_hosts.map((entry) =>
    typeof entry === 'string' ? { host: entry, private: false } : { host: entry.host, private: entry.allow_private },
  )
}
