import { copyFileSync, existsSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { removeTree } from '../../../sandbox/index.ts'
import { judgement, verified } from '../../core/run-record.ts'
import { lockIfFree } from '../../session/session-lock.ts'
import { removeViews } from '../../transaction/remove-view.ts'
import { patchFile } from '../../transaction/change-record.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readEnd } from '../folder/files.ts'
import type { AttemptRecord } from '../folder/records.ts'
import { readWish } from '../folder/wish.ts'
import { outcomeOf, type Outcome } from '../outcome.ts'

/** The maximum number of bytes that are read from the end of a session's log. */
const readBytes = 4 * 1024 * 1024
const longestError = 2000

const usage = z.object({ input_tokens: z.int(), cached_input_tokens: z.int(), output_tokens: z.int() })
const ending = z.object({
  type: z.enum(['turn.completed', 'turn.failed']),
  exit_code: z.int().default(0),
  error: z.object({ message: z.string() }).optional(),
  usage,
  cost_usd: z.number().optional(),
  transaction: z.object({ files: z.int() }).optional(),
  verified: z.array(verified.pick({ command: true, passed: true, judged: true })).optional(),
})
const record = z.discriminatedUnion('type', [
  z.object({ type: z.literal('event'), event: z.unknown() }),
  z.object({ type: z.literal('spent'), turns: z.int(), tokens: z.int(), costUsd: z.number().optional() }),
])

/** The observed facts about the end of an attempt. */
type SeenEnd = {
  /**
   * The exit code; undefined if there is none, because the process was killed or never started; `unseen` if the end of the run was not observed,
   * because another process had started the run.
   */
  readonly exitCode: number | undefined | 'unseen'
  /** The outcome, if it is already known. Absent: the exit code determines the outcome. */
  readonly outcome?: Outcome
  readonly error?: string
  readonly started?: string
  readonly durationMs?: number
  readonly commit?: string
  /** When quota will be available again, in milliseconds since 1970. */
  readonly retryAt?: number
}

/**
 * Records how an attempt ended. If this process didn't observe the end, the exit code is read from the log of the run's session. The usage, the cost
 * and the number of changed files are always read from that log. The session and the patch are stored next to the record, and the attempt's private
 * view of the repository is removed.
 */
export async function finishAttempt(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  seen: SeenEnd,
): Promise<AttemptRecord> {
  const path = folder.attemptPath(trial, attempt)
  const session = await keepSession(path)
  const { end, spent } = readLog(session)
  const exitCode = seen.exitCode === 'unseen' ? end?.exit_code : seen.exitCode
  const outcome = seen.outcome ?? outcomeOf(exitCode, end !== undefined)
  const error = seen.error ?? end?.error?.message ?? (outcome === 'done' ? undefined : complaintOf(path, exitCode))
  const inFolder = (name: string): string => join('runs', trial, String(attempt), name)
  const reserved = outcome === 'lost' ? readWish(folder, trial, attempt)?.maxCost : undefined
  const cost = end === undefined ? spent?.costUsd : end.cost_usd
  const verdicts = new Set(end?.verified?.map(({ judged }) => judged?.verdict))
  const verdict = judgement.shape.verdict.options.findLast((each) => verdicts.has(each))
  const ended: AttemptRecord = {
    version: 1,
    trial,
    attempt,
    outcome,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(error === undefined ? {} : { error: error.slice(0, longestError) }),
    ...(cost === undefined ? {} : { cost_usd: cost }),
    ...(reserved === undefined ? {} : { reserved_usd: reserved }),
    ...(seen.retryAt === undefined ? {} : { retry_at: new Date(seen.retryAt).toISOString() }),
    tokens: {
      input: end?.usage.input_tokens ?? spent?.tokens ?? 0,
      cached: end?.usage.cached_input_tokens ?? 0,
      output: end?.usage.output_tokens ?? 0,
    },
    turns: spent?.turns ?? 0,
    files: end?.transaction?.files ?? 0,
    ...(end?.verified === undefined ? {} : { verified: end.verified.every(({ passed }) => passed) }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(seen.commit === undefined ? {} : { commit: seen.commit }),
    ...(existsSync(join(path, 'changes.patch')) ? { patch: inFolder('changes.patch') } : {}),
    ...(session === undefined ? {} : { session: inFolder('session') }),
    ...(seen.started === undefined ? {} : { started: seen.started }),
    ended: new Date().toISOString(),
    duration_ms: seen.durationMs ?? 0,
  }
  return folder.endAttempt(ended)
}

/**
 * Moves the session out of the run's state folder, copies its patch next to it, and removes the state folder.
 *
 * @returns the session's new path; undefined if there is no session
 */
async function keepSession(path: string): Promise<string | undefined> {
  const kept = join(path, 'session')
  const sessions = join(path, 'state/portcullis/sessions')
  const [name] = existsSync(sessions) ? readdirSync(sessions) : []
  if (!existsSync(kept) && name !== undefined) {
    // The lease decides whether a run counts as lost, even if its process is still alive. In that case, the view stays, because the process may use it.
    const lock = lockIfFree(join(sessions, name), 'prune')
    if (lock !== undefined) await removeViews(lock.directory).finally(lock.release)
    const patch = patchFile(join(sessions, name))
    if (existsSync(patch) && statSync(patch).size > 0) copyFileSync(patch, join(path, 'changes.patch'))
    renameSync(join(sessions, name), kept)
  }
  await removeTree(join(path, 'state'))
  return existsSync(kept) ? kept : undefined
}

type Log = {
  readonly end: z.infer<typeof ending> | undefined
  readonly spent: Extract<z.infer<typeof record>, { type: 'spent' }> | undefined
}

/**
 * Reads the last event of a run and its token usage from the session's log. If the run was killed, the log has no last event, but may have the usage.
 */
function readLog(session: string | undefined): Log {
  let end: Log['end']
  let spent: Log['spent']
  if (session === undefined) return { end, spent }
  const lines = readEnd(join(session, 'events.jsonl'), readBytes).split('\n').toReversed()
  for (const line of lines) {
    const read = record.safeParse(parseLine(line))
    if (!read.success) continue
    if (read.data.type === 'spent') {
      spent = read.data
      break
    }
    const event = ending.safeParse(read.data.event)
    if (event.success) end ??= event.data
  }
  return { end, spent }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The first line may be incomplete because only the end of the log is read, and the last one because the run was killed.
    return undefined
  }
}

function complaintOf(path: string, exitCode: number | undefined): string {
  const said = readEnd(join(path, 'stderr.txt'), longestError).trim().split('\n').at(-1) ?? ''
  // The program's name is removed, because `warn` adds it again if the batch ends with this error.
  if (said !== '') return said.replace(/^agent: /, '')
  return exitCode === undefined ? 'the process of this run was killed' : `the run ended with exit code ${exitCode}`
}
