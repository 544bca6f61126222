import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ApprovalMode } from '../../policies/index.ts'
import { homeDirectory, matchesName, type SandboxPolicy } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { knownLimits, readLimitValue } from '../core/limit-values.ts'

const modes = ['read-only', 'workspace-write', 'danger-full-access']

/** Whether a sandbox mode allows no more than another. */
export function modeWithin(
  asked: SandboxPolicy['mode'] | undefined,
  bound: SandboxPolicy['mode'] | undefined,
): boolean {
  return modes.indexOf(asked ?? '') <= modes.indexOf(bound ?? '')
}

/**
 * Whether everything that can happen under the requested approval policy could also happen under the policy that bounds it. For most pairs of policies, neither
 * is stricter: `never`, for example, grants nothing on request, but also asks less.
 */
export function approvalWithin(asked: ApprovalMode | undefined, bound: ApprovalMode | undefined): boolean {
  if (asked === bound || bound === 'bypass') return true
  return asked === 'untrusted' && (bound === 'on-request' || bound === 'on-failure')
}

/** The hosts or host patterns that commands can reach. `private`: the host may have a private address. `all`: commands can reach every host. */
export type Reach = readonly { readonly host: string; readonly private: boolean }[] | 'all'

/** Whether the bound permits every requested host. */
export function hostsWithin(asked: Reach, bound: Reach): boolean {
  if (bound === 'all') return true
  if (asked === 'all') return false
  return asked.every((one) =>
    bound.some((limit) => covers(limit.host.toLowerCase(), one.host.toLowerCase()) && (limit.private || !one.private)),
  )
}

function covers(pattern: string, host: string): boolean {
  return (
    pattern === host || (pattern.startsWith('*.') && host.length >= pattern.length && host.endsWith(pattern.slice(1)))
  )
}

/** Whether a value of `sandbox_limits` is no larger than another; false if either is invalid. */
export function limitWithin(key: string, asked: unknown, bound: unknown): boolean {
  const known = knownLimits[key.replaceAll('_', '-')]
  const numbers = [asked, bound].map((value) => known && readLimitValue(known, `${value}`))
  const [mine, theirs] = numbers.map((read) => (read !== undefined && 'value' in read ? read.value : NaN))
  return mine !== undefined && theirs !== undefined && mine <= theirs
}

/**
 * Whether two lists are disjoint, after following links: no path of one list equals, contains or is inside a path of the other list, and no path in
 * `some` matches a name in `others` (an entry without a slash).
 */
export function apart(some: readonly string[], others: readonly string[]): boolean {
  return some.every((path) =>
    others.every((other) => {
      if (!other.includes('/')) return ![path, realPath(path)].some((each) => matchesName(each, [`**/${other}`]))
      const [left, right] = [realPath(path), realPath(other)]
      return !isInside(left, right) && !isInside(right, left)
    }),
  )
}

/** Whether each requested directory is inside one of the directories that the bound permits, after following links. */
export function rootsWithin(asked: readonly string[], bound: readonly string[]): boolean {
  return asked.every((path) => bound.some((root) => isInside(realPath(path), realPath(root))))
}

function realPath(path: string): string {
  const whole = resolve(path === '~' || path.startsWith('~/') ? join(homeDirectory(), path.slice(1)) : path)
  try {
    return realpathSync(whole)
  } catch {
    // A path that doesn't exist stays as it is. For a root, this makes no difference, because the sandbox refuses a root that doesn't exist.
    return whole
  }
}
