import process from 'node:process'
import type { SandboxPolicy } from '../policy.ts'
import type { Backend, Denial } from '../sandbox.ts'
import { findHierarchy, makeGroup, type ControlGroup, type GroupCounts, type Hierarchy } from './groups.ts'
import { insideScript, launchScript, planLimits } from './plan.ts'

/** Limits bound to one command. */
type LimitedCommand = {
  /** For `sh -c SCRIPT NAME PROGRAM ARGS…`, in place of starting the program itself. */
  readonly script: string
  /** To be put before the program's own words, inside the sandbox. */
  readonly inside: readonly string[]
  /** Called when nothing of the command is left: says which limits it hit. */
  end(): readonly Denial[]
}

/** The limits of an opened sandbox. */
type PreparedLimits = {
  readonly unenforced: readonly string[]
  start(): LimitedCommand
  close(): void
}

let known: { readonly hierarchy: Hierarchy | undefined } | undefined

/** The place for control groups, looked for once in a process. */
export function hierarchyHere(): Hierarchy | undefined {
  known ??= { hierarchy: process.platform === 'linux' ? findHierarchy() : undefined }
  return known.hierarchy
}

/** Plans the policy's limits with what there is here. Throws `unavailable` for one that was asked for and can't be enforced. */
export function prepareLimits(
  policy: SandboxPolicy,
  tools: { readonly processLimit: boolean },
  backend: Backend,
): PreparedLimits {
  const hierarchy = hierarchyHere()
  const plan = planLimits(policy, { ...tools, groups: hierarchy !== undefined }, backend)
  // Groups are used again: making one is cheap, but the kernel frees it late.
  const idle: ControlGroup[] = []
  const takeGroup = (): ControlGroup | undefined =>
    plan.group === undefined || hierarchy === undefined ? undefined : (idle.pop() ?? makeGroup(hierarchy, plan.group))
  return {
    unenforced: plan.unenforced,
    start: () => {
      const group = takeGroup()
      const before = group?.counts()
      return {
        script: launchScript(plan, group?.joinFiles ?? []),
        inside: plan.processes === undefined ? [] : ['/bin/sh', '-c', insideScript(plan.processes), 'sh'],
        end: () => {
          if (group === undefined || before === undefined) return []
          idle.push(group)
          return explain(before, group.counts())
        },
      }
    },
    close: () => idle.splice(0).forEach((group) => group.remove()),
  }
}

function explain(before: GroupCounts, after: GroupCounts): readonly Denial[] {
  const denial = (subject: string, rule: string): Denial => ({
    kind: 'limit',
    subject,
    rule,
    certainty: 'proven',
    howToAllow: `use less at a time, or raise ${rule}`,
  })
  return [
    ...(after.killedForMemory > before.killedForMemory
      ? [denial('more memory: the kernel killed a process for it', 'limits.memoryBytes')]
      : []),
    ...(after.forksRefused > before.forksRefused
      ? [denial('more processes: the kernel refused to start one', 'limits.processes')]
      : []),
  ]
}
