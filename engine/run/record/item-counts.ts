import type { Item, RunSummary, Verified } from '../../core/events.ts'
import type { Refusal } from '../denial-circuit-breaker.ts'
import { isJudged, isLookUp, subject, verifiedBy } from '../summarize.ts'
import { CommandsSeen } from './commands-seen.ts'

/** Counts what the completed items of a run did. */
export class ItemCounts {
  /** The files that patches changed: how each was changed first and last. */
  readonly patched = new Map<string, { readonly first: string; readonly last: string }>()
  readonly denied: RunSummary['denied'][number][] = []
  /** The run's own calls that were refused, not those of its agents. */
  readonly refusals: Refusal[] = []
  readonly patchNotes: string[] = []
  /** The last result of each `--verify` command. */
  readonly verified = new Map<string, Verified>()
  readonly commands = { run: 0, failed: 0 }
  /** The commands that tested or pushed something. */
  readonly seen = new CommandsSeen()

  see(item: Item): void {
    this.seen.see(item)
    if (isJudged(item) && item.verdict !== undefined && item.verdict.decision !== 'allow') {
      this.denied.push({ what: subject(item), reason: item.verdict.reason })
      if (item.agent_id === undefined) this.refusals.push({ what: subject(item), isLookUp: isLookUp(item) })
    }
    if (item.type === 'command_execution' && item.status !== 'declined') {
      this.commands.run++
      if (item.status === 'failed') this.commands.failed++
    }
    if (item.type === 'verification') this.verified.set(item.command, verifiedBy(item))
    if (item.type === 'file_change' && item.status === 'completed') {
      this.patchNotes.push(...(item.notes ?? []))
      for (const { path, kind } of item.changes) {
        this.patched.set(path, { first: this.patched.get(path)?.first ?? kind, last: kind })
      }
    }
  }
}
