import * as z from 'zod'
import { commitWords } from './commit-words.ts'
import { credentialCounts, describeUse } from './credential-counts.ts'
import { namedService, serviceInside } from './named-services.ts'
import { oneLine } from './text/one-line.ts'
import { counted } from './text/counted.ts'

/**
 * Something that the comparison with the base's judge found. `command`: what the command runs was changed. `vanished`, `failed`, `disabled`: a test that
 * passed before has no result, fails although the command succeeds, or is skipped or expected to fail. `settings`: only a change of configuration, or of
 * nothing visible, explains why the run's own judge succeeds. `emptied`: a rewritten test checks less, and passes with and without the change.
 * `rewritten`: the test fails against the change as it was on the base. `edited`: the file was edited, without any effect on results. `note`: a fact
 * about the comparison.
 */
const judgeFinding = z.object({
  kind: z.enum(['command', 'vanished', 'failed', 'disabled', 'settings', 'emptied', 'rewritten', 'edited', 'note']),
  /** The path, relative to the root of the tree, or a test's id if its file isn't known. */
  subject: z.string(),
  /** The id of a test. Absent: the finding is about the subject as a whole. */
  test: z.string().optional(),
  detail: z.string().optional(),
})

export type JudgeFinding = z.infer<typeof judgeFinding>

/** The result of one run of a command under a judge: how many tests it reported as passed, and how it ended. */
const judgedRun = z.object({ passed: z.int(), exit_code: z.int().nullable(), duration_ms: z.number() })

/**
 * Not in Codex: a change judged with the tests and the configuration of its base. `kept`: all tests that passed before pass as they were. `revised`: tests
 * that the run rewrote fail as they were. `weakened`: tests vanished or were disabled, or what the command runs was changed.
 */
export const judgement = z.object({
  verdict: z.enum(['kept', 'revised', 'weakened']),
  /** What was compared: the results of tests, or only how the command ended. */
  by: z.enum(['tests', 'exit code only']),
  /** The hash of the base's judge: the paths and contents of its tests and its configuration. */
  judge_sha256: z.string(),
  /** The command on the base; `cached`: an earlier run did that. Absent: nothing was changed, so nothing was compared. */
  base: judgedRun.extend({ cached: z.boolean() }).optional(),
  /** The base's judge on the run's sources. Absent: the run changed no part of the judge, so this is the same as the run's own tree. */
  kept: judgedRun.optional(),
  findings: z.array(judgeFinding),
  /**
   * Where a command given with `--verify-red` was seen to fail without the change: on the base, or on the base with the run's tests. Null: nowhere. Absent:
   * that wasn't asked, or the verdict came first.
   */
  red_before: z.enum(['base', 'new tests']).nullable().optional(),
  /** Why a verdict other than `kept` counts as passed: an option of the user. */
  allowed_by: z.string().optional(),
})

export type Judgement = z.infer<typeof judgement>
export type JudgeVerdict = Judgement['verdict']

/** Not in Codex: the result of a `--verify` command's last run. */
export const verified = z.object({
  command: z.string(),
  passed: z.boolean(),
  /** The exit code; null if the command was killed or did not start. */
  exit_code: z.int().nullable(),
  duration_ms: z.number(),
  /** How many times the command ran. */
  attempts: z.int(),
  /** How the change was judged with the base's tests and configuration. Absent: the command failed, or the run's own tests were all there was. */
  judged: judgement.optional(),
})

export type Verified = z.infer<typeof verified>

/** Describes a judgement in a few words. */
export function judgementWords(judgement: Judgement): string {
  const { verdict, by, base, kept, findings, allowed_by: allowed, red_before: red } = judgement
  const time = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const ran = [
    ...(base === undefined ? [] : [base.cached ? 'the base is known' : `the base took ${time(base.duration_ms)}`]),
    ...(kept === undefined ? [] : [`its tests on the change ${time(kept.duration_ms)}`]),
  ]
  const against = findings.filter(({ kind }) => kind !== 'edited' && kind !== 'note').length
  const what =
    verdict !== 'kept'
      ? `${verdict}: ${counted(against, 'finding')}`
      : by === 'tests'
        ? `kept: the tests of the base pass${base === undefined ? '' : ` (${base.passed} before)`}`
        : 'kept, by the exit code only'
  const failed = red === undefined ? [] : [red === null ? 'succeeds without the change too' : redWords[red]]
  return [what, ...failed, ...(allowed === undefined ? [] : [`allowed by ${allowed}`]), ...ran].join(', ')
}

const redWords = { base: 'failed before', 'new tests': 'failed before, with the new tests' } as const

/**
 * Not in Codex: what a run did, made from its record alone, never from what a model said. Long lists are cut: of commands, the last 50 are kept, of files of
 * each kind the first 100, of commits the newest 50, of refusals the first 50.
 */
export const runRecord = z.object({
  /** The last outcome of each command that ran tests, in the order of these last runs. */
  tests: z.array(
    z.object({
      command: z.string(),
      /** The directory, if it wasn't the one in which the run began. */
      cwd: z.string().optional(),
      /**
       * `no-tests`: the command succeeded, but found no tests. `unknown`: neither the exit code nor the output says it, because the command is only a part of its
       * line, as in `npm test | tail`.
       */
      outcome: z.enum(['passed', 'failed', 'refused', 'no-tests', 'unknown']),
      /** The exit code of the whole line; null if it was refused, killed or didn't start. */
      exit_code: z.int().nullable(),
      /** How many tests failed and how many were skipped, according to the output. Absent: the output doesn't say. */
      failed: z.int().optional(),
      skipped: z.int().optional(),
      /** How many times the run executed this command. */
      runs: z.int(),
    }),
  ),
  /** The last result of each `--verify` command that ran. */
  verified: z.array(verified),
  /**
   * Each attempt to push or publish something, by a command or by a tool of an MCP server. `done`: it succeeded. `dry-run`: it only reported what it would do.
   * `unknown`: it pushed nothing new, or its result is unknown.
   */
  pushed: z.array(
    z.object({ command: z.string(), outcome: z.enum(['done', 'failed', 'refused', 'dry-run', 'unknown']) }),
  ),
  /** The commits that were made during the run and that a branch, a tag or `HEAD` reaches, newest first. Null: git could not be asked. */
  commits: z.array(z.object({ commit: z.string(), subject: z.string() })).nullable(),
  /**
   * The changed files, as `changes` counts them, relative to the workspace if they are in it. `tests`: those that are tests, judged by their names.
   * `not_counted`: why files that commands wrote are missing.
   */
  files: z.object({
    created: z.array(z.string()),
    changed: z.array(z.string()),
    deleted: z.array(z.string()),
    tests: z.array(z.string()),
    not_counted: z.string().optional(),
  }),
  /** The services to which there were connections, each with their number, how many failed, and the bytes that commands sent and received. Absent: none. */
  services: z
    .array(
      namedService.extend({
        connections: z.int(),
        failed: z.int(),
        bytes_sent: z.int(),
        bytes_received: z.int(),
      }),
    )
    .optional(),
  /** What credentials were used for. Absent: none was used. */
  credentials: z.array(credentialCounts).optional(),
  /** What was refused. */
  refused: z.array(z.object({ what: z.string(), reason: z.string() })),
})

export type RunRecord = z.infer<typeof runRecord>

/** Not in Codex: a fact that the model delivered for `--claims`, and what the record says instead. */
export const contradiction = z.object({
  about: z.enum(['tests', 'pushed', 'files']),
  claimed: z.string(),
  record: z.string(),
})

export type Contradiction = z.infer<typeof contradiction>

/** A line of a record for people. `isBad`: something failed or was refused. `isNone`: nothing of this kind happened. */
type RecordLine = {
  readonly name: 'tests' | 'commits' | 'pushed' | 'push' | 'service' | 'credential'
  readonly words: string
  readonly isBad: boolean
  readonly isNone?: boolean
}

/** Describes what a summary of a run doesn't show elsewhere: what was tested, committed and pushed, and which services and credentials were used. */
export function recordLines({
  tests,
  commits,
  pushed,
  services = [],
  credentials = [],
}: RunRecord): readonly RecordLine[] {
  const done = pushed.filter(({ outcome }) => outcome === 'done')
  const tried = pushed.filter(({ outcome }) => outcome !== 'done')
  return [
    ...(tests.length === 0
      ? [{ name: 'tests', words: 'none ran', isBad: false, isNone: true } as const]
      : tests.map(testLine)),
    { name: 'commits', words: commitWords(commits), isBad: false, isNone: commits?.length === 0 },
    ...(done.length === 0 ? [{ name: 'pushed', words: 'nothing', isBad: false, isNone: true } as const] : []),
    ...done.map(({ command }) => ({ name: 'pushed', words: oneLine(command), isBad: false }) as const),
    ...tried.map(
      ({ command, outcome }) =>
        ({ name: 'push', words: `${oneLine(command)}: ${pushWords[outcome]}`, isBad: outcome !== 'dry-run' }) as const,
    ),
    ...services.map(serviceLine),
    ...credentials.map((used) => ({ name: 'credential', ...describeUse(used) }) as const),
  ]
}

function serviceLine(service: NonNullable<RunRecord['services']>[number]): RecordLine {
  const { connections, failed, bytes_sent: sent, bytes_received: received } = service
  const words = [
    `${counted(connections, 'connection')}${failed === 0 ? '' : ` (${failed} failed)`}`,
    `${counted(sent, 'byte')} sent`,
    `${counted(received, 'byte')} received`,
  ]
  return { name: 'service', words: `${serviceInside(service)}: ${words.join(', ')}`, isBad: failed === connections }
}

const pushWords = {
  done: 'done',
  failed: 'failed',
  refused: 'refused',
  'dry-run': 'dry run',
  unknown: 'nothing new, or result unknown',
} as const

function testLine({
  command,
  cwd,
  outcome,
  exit_code: code,
  failed,
  skipped,
  runs,
}: RunRecord['tests'][number]): RecordLine {
  const said = [
    testWords[outcome],
    ...(outcome === 'failed' && code !== null ? [`exit ${code}`] : []),
    ...(failed === undefined || failed === 0 ? [] : [`${failed} failed`]),
    ...(skipped === undefined || skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(runs === 1 ? [] : [`last of ${runs}`]),
  ]
  const where = cwd === undefined ? '' : ` (in ${oneLine(cwd)})`
  return { name: 'tests', words: `${oneLine(command)}${where}: ${said.join(', ')}`, isBad: outcome !== 'passed' }
}

const testWords = {
  passed: 'passed',
  failed: 'failed',
  refused: 'refused',
  'no-tests': 'found no tests',
  unknown: 'result unknown',
} as const
