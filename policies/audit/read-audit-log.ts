import * as z from 'zod'
import type { Action, Verdict } from '../action.ts'
import type { ApprovalMode } from '../approval-mode.ts'
import { largestLog, readFile } from '../read-file.ts'
import { AuditError } from './audit-error.ts'
import type { AuditBasis } from './basis.ts'
import { parseJson } from './hash-chain.ts'

/** A record of an audit log: an action, and the verdict on it. */
export type AuditRecord = {
  readonly number: number
  readonly time: string
  readonly action: Action
  readonly mode: ApprovalMode
  readonly verdict: Verdict
  /**
   * The facts on which the verdict is based, except those in the other fields. Absent if the record was written by an earlier version, which
   * recorded fewer facts.
   */
  readonly basis?: AuditBasis
}

/** Creates the schema of a record. It is called when the first log is read rather than at startup, because most runs only write logs. */
function makeShape() {
  const sandbox = z.enum(['read-only', 'workspace-write', 'danger-full-access'])
  const strings = z.array(z.string())
  const grant = z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['read', 'write']), path: z.string() }),
    z.object({
      kind: z.literal('network'),
      host: z.string(),
      port: z.number().exactOptional(),
      private: z.literal(true).exactOptional(),
    }),
    z.object({ kind: z.literal('limit'), name: z.string(), value: z.number() }),
  ])
  const escalation = z.object({
    justification: z.string(),
    grants: z.array(grant).exactOptional(),
    prefixRule: strings.exactOptional(),
  })
  const change = z.object({
    path: z.string(),
    kind: z.enum(['add', 'update', 'delete']),
    movedFrom: z.string().exactOptional(),
  })

  const action = z.discriminatedUnion('type', [
    z.object({
      type: z.literal('exec'),
      argv: strings,
      cwd: z.string(),
      workspace: z.string().exactOptional(),
      sandbox,
      escalation: escalation.exactOptional(),
    }),
    z.object({
      type: z.literal('patch'),
      root: z.string(),
      sandbox,
      changes: z.array(change),
      instructs: z.literal(true).exactOptional(),
    }),
    z.object({ type: z.literal('read'), path: z.string() }),
    z.object({
      type: z.literal('network'),
      host: z.string(),
      port: z.number(),
      protocol: z.string(),
      sandboxed: z.boolean().exactOptional(),
    }),
    z.object({
      type: z.literal('search'),
      model: z.string(),
      domains: strings.exactOptional(),
      fits: z.boolean(),
      insisted: z.boolean().exactOptional(),
    }),
    z.object({
      type: z.literal('mcp'),
      server: z.string(),
      tool: z.string(),
      calledAs: z.string().exactOptional(),
      // Tool arguments that were undefined leave no field in the record.
      arguments: z.unknown().default(null),
      readOnlyHint: z.boolean().exactOptional(),
    }),
    z.object({ type: z.literal('plan'), plan: z.string(), requestedBy: z.enum(['user', 'model']).default('model') }),
    z.object({ type: z.literal('land'), losses: strings }),
  ])

  const facts = z.array(z.tuple([z.string(), z.string()])).exactOptional()

  return z.object({
    number: z.int().min(1),
    time: z.string(),
    action,
    mode: z.enum(['untrusted', 'on-failure', 'on-request', 'never', 'bypass']),
    verdict: z.object({
      decision: z.enum(['allow', 'deny', 'abort']),
      sandbox: z.enum(['as-requested', 'escalated']),
      holds: z.enum(['once', 'run']).exactOptional(),
      decidedBy: z.string(),
      reason: z.string(),
      rule: z.string().exactOptional(),
    }),
    basis: z
      .object({
        hook: z
          .object({ decision: z.enum(['ask', 'allow']), reason: z.string(), by: z.string().exactOptional() })
          .exactOptional(),
        byUser: z.string().exactOptional(),
        refused: z.literal(true).exactOptional(),
        learned: z.string().exactOptional(),
        onView: z.literal(true).exactOptional(),
        writableRoots: strings.exactOptional(),
        protects: facts,
        conceals: facts,
        hides: facts,
        links: facts,
      })
      .exactOptional(),
  })
}

let shape: ReturnType<typeof makeShape> | undefined

/**
 * Returns the records of an audit log, in order. An incomplete last line is left out. `verifyAuditLog` checks whether the log is complete. Throws
 * `AuditError` if the log can't be read, or if one of its lines isn't a record.
 *
 * @example
 * const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit: openAuditLog('audit.jsonl') })
 * await guardian.review({ type: 'exec', argv: ['ls'], cwd: '/', sandbox: 'read-only' })
 * for (const { action, verdict } of readAuditLog('audit.jsonl')) console.log(action.type, verdict.decision)
 */
export function readAuditLog(path: string): readonly AuditRecord[] {
  const record = (shape ??= makeShape())
  let text: string
  try {
    text = readFile(path, largestLog).toString()
  } catch (cause) {
    throw new AuditError('unreadable', path, `the audit log can't be read: ${String(cause)}`, { cause })
  }
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, at) => {
      const parsed = record.safeParse(parseJson(line))
      if (parsed.success) return parsed.data
      const [issue] = parsed.error.issues
      const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')}: ${issue.message})`
      throw new AuditError('broken', path, `line ${at + 1} is not a record of an audit log${where}`)
    })
}
