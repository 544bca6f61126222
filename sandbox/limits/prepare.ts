import process from 'node:process'
import { limitDenial } from '../denials/limit.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
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

/** The means to start one command under its limits, and to find out afterwards which limits it exceeded. */
type LimitedCommand = {
  /** The script with which the command is started: `sh -c SCRIPT NAME PROGRAM ARGS…` is run in place of the program. */
  readonly script: string
  /** Arguments to put before the command's own arguments, inside the sandbox. */
  readonly inside: readonly string[]
  /** Returns a denial for each limit that the command exceeded. Call this when no process of the command is left. */
  end(ended: EndedCommand): readonly Denial[]
}

/** Starts the commands of an opened sandbox under the policy's limits. */
type PreparedLimits = {
  readonly unenforced: readonly string[]
  start(): LimitedCommand
  close(): void
}

let known: { readonly hierarchy: Hierarchy | undefined } | undefined

/** Where control groups can be created; undefined if they can't. This is determined once per process. */
export function hierarchyHere(): Hierarchy | undefined {
  known ??= { hierarchy: process.platform === 'linux' ? findHierarchy() : undefined }
  return known.hierarchy
}

/** Plans how this machine enforces the policy's limits. Throws `unavailable` if the user set a limit that can't be enforced. */
export function prepareLimits(
  policy: SandboxPolicy,
  tools: { readonly processLimit: boolean },
  backend: Backend,
): PreparedLimits {
  // Groups are reused: creating one is cheap, but freeing one takes the kernel a long time. The first group is the one that was created to find the
  // hierarchy.
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

/** Returns a denial for each limit that a group exceeded between two readings of the kernel's counts. */
function provenLimits(
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

/** Returns a denial for each limit that the command reached, according to the kernel's counts; undefined if the counts aren't known. */
export function provenBetween(
  { group }: LimitPlan,
  before: GroupCounts | undefined,
  after: GroupCounts | undefined,
): readonly Denial[] | undefined {
  return group === undefined || before === undefined || after === undefined
    ? undefined
    : provenLimits(group, before, after)
}
