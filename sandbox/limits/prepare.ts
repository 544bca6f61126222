import process from 'node:process'
import { limitDenial } from '../denials/limit.ts'
import type { SandboxPolicy } from '../policy.ts'
import type { Backend } from '../backend.ts'
import type { Denial } from '../sandbox.ts'
import {
  findHierarchy,
  makeFirstGroup,
  makeGroup,
  type ControlGroup,
  type GroupCounts,
  type Hierarchy,
} from './groups.ts'
import { insideScript, launchScript, planLimits, type LimitPlan } from './plan-limits.ts'
import { inferExceededLimits, type EndedCommand } from './infer-exceeded-limits.ts'

/** Limits bound to one command. */
type LimitedCommand = {
  /** For `sh -c SCRIPT NAME PROGRAM ARGS…`, in place of starting the program itself. */
  readonly script: string
  /** To be put before the program's own words, inside the sandbox. */
  readonly inside: readonly string[]
  /** Called when nothing of the command is left: says which limits it hit. */
  end(ended: EndedCommand): readonly Denial[]
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
  // Groups are used again: making one is cheap, but the kernel frees it late. So the one that shows where they can be made is the first.
  const idle: ControlGroup[] = []
  const wanted = known === undefined ? planLimits(policy, { ...tools, groups: true }, backend).group : undefined
  if (wanted !== undefined && process.platform === 'linux') {
    const first = makeFirstGroup(wanted)
    known = { hierarchy: first?.hierarchy }
    if (first !== undefined) idle.push(first.group)
  }
  const hierarchy = hierarchyHere()
  const plan = planLimits(policy, { ...tools, groups: hierarchy !== undefined }, backend)
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
        end: (ended) => {
          const suspected = inferExceededLimits(plan, ended, group !== undefined)
          if (plan.group === undefined || group === undefined || before === undefined) return suspected
          idle.push(group)
          return [...provenLimits(plan.group, before, group.counts()), ...suspected]
        },
      }
    },
    close: () => idle.splice(0).forEach((group) => group.remove()),
  }
}

/** The limits that a group ran into between two counts of the kernel's. */
export function provenLimits(
  limits: NonNullable<LimitPlan['group']>,
  before: GroupCounts,
  after: GroupCounts,
): readonly Denial[] {
  return [
    ...(after.killedForMemory > before.killedForMemory
      ? [limitDenial('memoryBytes', limits.memoryBytes, 'proven')]
      : []),
    ...(after.forksRefused > before.forksRefused ? [limitDenial('processes', limits.processes, 'proven')] : []),
  ]
}
