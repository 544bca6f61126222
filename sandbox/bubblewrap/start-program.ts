import type { Architecture } from '../machine-code/machine-instructions.ts'
import { formOf, layOut, words, type ProgramForm } from '../machine-code/make-program.ts'
import { keyOfSteps, layOutSteps, type Step } from '../mounting/step-layout.ts'
import { preparedStarts } from './prepared-starts.ts'
import type { WatchLimits } from './watch-limits.ts'
import { keyOfForm, sizeOfStartOffsets, startForm, type StartForm } from './start-form.ts'

/** The path of the first program inside the sandbox. It is in `/dev`, because each sandbox gets a `/dev` of its own, to which the program can be added. */
export const startPath = '/dev/portcullis-start'

/** What a sandbox's first program does after bwrap has started it and before the command starts. */
type Start = StartForm & {
  /** The steps that turn the host's file system, as the caller sees it, into the file system that the command sees. */
  readonly steps: readonly Step[]
  readonly identity: { readonly uid: number; readonly gid: number }
  /** The inotify limits; undefined if none can be set. */
  readonly watches: WatchLimits | undefined
  /** Whether the command's standard input is the sandbox's own null device, rather than the descriptor that the caller passed. */
  readonly nullInput: boolean
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
}

/** The encoded steps, and the address of the first step. The encoded form is valid only at the address where the program loads it. */
type Plan = { readonly content: Uint8Array; readonly answer: number }

/** A cache of the programs used so far, whether this process encoded them or the build contains them. Each has a cache of its recently used plans. */
const forms = new Map<string, ProgramForm & { readonly plans: Map<string, Plan> }>()
const mostForms = 64
const mostPlans = 8

/**
 * Creates the first program that runs inside a sandbox. It mounts what the command may see, gives up every capability by entering a user namespace of
 * its own, closes descriptors that the caller left open, installs the system call filter, and then replaces itself with the program in its arguments.
 * bwrap starts it as root of the user namespace that owns the mounts, so that it can mount from descriptors. bwrap itself can only mount from paths,
 * which is unsafe: it resolves each path twice, and other commands may rename parts of the path in between.
 */
export function startProgram(architecture: Architecture, start: Start): Uint8Array {
  const key = keyOfForm(architecture, start)
  const form = forms.get(key) ?? { ...findForm(key, architecture, start), plans: new Map<string, Plan>() }
  if (forms.size >= mostForms) forms.clear()
  forms.set(key, form)
  const planned = form.address + sizeOfStartOffsets
  const plan = planFor(form.plans, start.steps, planned)
  const { uid, gid } = start.identity
  const { instances = '', watches = '' } = start.watches ?? {}
  const texts = [`${uid} 0 1\n`, `${gid} 0 1\n`, `${instances}`, `${watches}`]
  const own = layOut(planned + plan.content.length, (memory) => {
    const directory = memory.bytes(`${start.cwd}\0`)
    const variables = Object.entries(start.variables).map(([name, value]) => memory.bytes(`${name}=${value}\0`))
    const written = texts.flatMap((text) => [memory.bytes(text), text.length])
    // These values are in the order of `startOffsets`.
    return words(plan.answer, directory, memory.bytes(words(...variables, 0)), ...written, start.nullInput ? 1 : 0)
  })
  return form.finish(own.answer, plan.content, own.content)
}

function findForm(key: string, architecture: Architecture, start: StartForm): ProgramForm {
  const prepared = preparedStarts()[key]
  return prepared === undefined ? startForm(architecture, start) : formOf(Buffer.from(prepared, 'base64'))
}

/** Returns a plan from the cache if possible: most commands in a run have the same plan. */
function planFor(plans: Map<string, Plan>, steps: readonly Step[], address: number): Plan {
  const key = keyOfSteps(steps)
  const plan = plans.get(key) ?? layOut(address, (memory) => layOutSteps(memory, steps))
  if (plans.size >= mostPlans && !plans.has(key)) plans.clear()
  plans.set(key, plan)
  return plan
}
