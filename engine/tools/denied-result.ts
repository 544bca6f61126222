import type { Verdict } from '../../policies/index.ts'
import type { EventVerdict } from '../core/events.ts'
import type { ToolResult } from './tool-result.ts'

/** A denial for the model: the reason, and that another spelling of the same aim is denied too. */
export function denied(verdict: Verdict): ToolResult {
  return {
    ok: false,
    abort: verdict.decision === 'abort',
    refused: eventVerdict(verdict),
    output:
      `Refused by the Guardian (${verdict.decidedBy}): ${verdict.reason}\n` +
      'The aim is refused, not the spelling: do not try to reach it another way. Go on with what is allowed, or say what is missing.',
  }
}

/** A verdict in the words of the event stream. */
export function eventVerdict(verdict: Verdict): EventVerdict {
  return {
    decision: verdict.decision,
    decided_by: verdict.decidedBy,
    reason: verdict.reason,
    ...(verdict.rule === undefined ? {} : { rule: verdict.rule }),
  }
}
