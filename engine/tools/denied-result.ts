import type { Verdict } from '../../policies/index.ts'
import type { EventVerdict } from '../core/events.ts'
import type { ToolResult } from './tool-result.ts'

/** Renders a denial for the model: the reason, and the advice not to try the same thing in another way. */
export function denied(verdict: Verdict): ToolResult {
  return {
    ok: false,
    abort: verdict.decision === 'abort',
    refused: eventVerdict(verdict),
    output:
      `Refused by the Guardian (${verdict.decidedBy}): ${verdict.reason}\n` +
      'The goal is refused, not just this call: do not try to reach it another way. Continue with what is allowed, or say what you could ' +
      'not do.',
  }
}

/** Converts a verdict to the format of the event stream. */
export function eventVerdict(verdict: Verdict): EventVerdict {
  return {
    decision: verdict.decision,
    decided_by: verdict.decidedBy,
    reason: verdict.reason,
    ...(verdict.rule === undefined ? {} : { rule: verdict.rule }),
  }
}
