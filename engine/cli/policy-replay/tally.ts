import type { ReplayedRecord } from '../../../policies/index.ts'

/** A decision that changed. */
export type Change = {
  readonly session: string
  /** The number of the decision's record in the session's log. */
  readonly record: number
  readonly time: string
  /** A description of the action in one line. */
  readonly action: string
  readonly kind: string
  readonly before: Side
  readonly after: Side
}

/** The earlier or the new decision about an action, with the stage that made it and the reason. */
type Side = {
  readonly decision: 'allow' | 'ask' | 'deny' | 'abort'
  readonly decidedBy: string
  readonly reason: string
  readonly rule?: string
}

/** A group of changed decisions that have the same old decision, the same new decision and the same cause. */
export type ChangeGroup = {
  readonly from: Side['decision']
  readonly to: Side['decision']
  /** The rule that decides now; if none does, `no longer` and the rule that decided before; if there was none either, the stage that decides now. */
  readonly cause: string
  readonly count: number
  readonly sessions: number
  readonly examples: readonly Change[]
}

/** The outcome of judging many sessions again. */
export type Tally = {
  readonly sessions: number
  readonly actions: number
  /** How many decisions stayed the same, even if the reason changed. */
  readonly unchanged: number
  /** How many of the decisions that stayed the same are now made by a different stage or rule. */
  readonly otherwiseDecided: number
  /** How many actions can't be judged exactly, because an earlier version of this program recorded them with fewer facts. */
  readonly withoutBasis: number
  readonly groups: readonly ChangeGroup[]
}

/** Counts changed decisions, and keeps examples. */
export class Tallying {
  readonly #groups = new Map<string, { changes: Change[]; count: number; sessions: Set<string> }>()
  readonly #mostExamples: number
  #sessions = 0
  #actions = 0
  #unchanged = 0
  #otherwiseDecided = 0
  #withoutBasis = 0

  constructor(mostExamples: number) {
    this.#mostExamples = mostExamples
  }

  /** Counts one more session. */
  begin(): void {
    this.#sessions++
  }

  /** Counts a record. Returns the change if the decision is different now, otherwise undefined. */
  add(session: string, { record, verdict: after }: ReplayedRecord): Change | undefined {
    this.#actions++
    if (record.basis === undefined) this.#withoutBasis++
    const before = record.verdict
    if (before.decision === after.decision) {
      this.#unchanged++
      if (before.decidedBy !== after.decidedBy || before.rule !== after.rule) this.#otherwiseDecided++
      return undefined
    }
    const change: Change = {
      session,
      record: record.number,
      time: record.time,
      action: describeAction(record.action),
      kind: record.action.type,
      before: sideOf(before),
      after: sideOf(after),
    }
    this.#group(change)
    return change
  }

  #group(change: Change): void {
    const key = JSON.stringify([change.before.decision, change.after.decision, causeOf(change)])
    const group = this.#groups.get(key) ?? { changes: [], count: 0, sessions: new Set() }
    this.#groups.set(key, group)
    group.count++
    group.sessions.add(change.session)
    // A command that occurs a hundred times is still only one example.
    const isNew = group.changes.every(({ action }) => action !== change.action)
    if (isNew && group.changes.length < this.#mostExamples) group.changes.push(change)
  }

  /** Returns the complete tally. Groups of decisions that changed to `allow` come first; apart from that, larger groups come before smaller ones. */
  result(): Tally {
    const groups = [...this.#groups.values()].flatMap(({ changes, count, sessions }): readonly ChangeGroup[] => {
      const [first] = changes
      if (first === undefined) return []
      const { before, after } = first
      const cause = causeOf(first)
      return [{ from: before.decision, to: after.decision, cause, count, sessions: sessions.size, examples: changes }]
    })
    return {
      sessions: this.#sessions,
      actions: this.#actions,
      unchanged: this.#unchanged,
      otherwiseDecided: this.#otherwiseDecided,
      withoutBasis: this.#withoutBasis,
      groups: groups.toSorted((a, b) => weight(b) - weight(a) || b.count - a.count),
    }
  }
}

function weight({ to }: ChangeGroup): number {
  return to === 'allow' ? 1 : 0
}

function sideOf({ decision, decidedBy, reason, rule }: Side): Side {
  return { decision, decidedBy, reason, ...(rule === undefined ? {} : { rule }) }
}

function causeOf({ before, after }: Change): string {
  if (after.rule !== undefined) return after.rule
  return before.rule === undefined ? after.decidedBy : `no longer ${before.rule}`
}

type Recorded = ReplayedRecord['record']['action']

/** Describes an action for human readers. */
function describeAction(action: Recorded): string {
  switch (action.type) {
    case 'exec': {
      const [shell = '', flag = '', script = ''] = action.argv
      const isScript = action.argv.length === 3 && /(?:^|\/)\w*sh$/.test(shell) && /^-l?c$/.test(flag)
      const line = isScript ? script : action.argv.join(' ')
      return action.escalation === undefined ? line : `${line} (requests access beyond the sandbox's policy)`
    }
    case 'patch':
      return action.changes.map(({ kind, path }) => `${kind} ${path}`).join(', ')
    case 'read':
      return `read ${action.path}`
    case 'network':
      return `connect to ${action.host}:${action.port}`
    case 'search':
      return `search the web with ${action.model}`
    case 'mcp':
      return `mcp__${action.server}__${action.tool}`
    case 'plan':
      return 'carry out the plan'
    case 'land':
      return 'land the changes'
    default:
      return action satisfies never
  }
}
