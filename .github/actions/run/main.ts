import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { execFileSync } from 'node:child_process'
import { openGitHub } from '../shared/github.ts'
import {
  ActionError,
  addSummary,
  asCode,
  chosenInput,
  command,
  input,
  isGiven,
  isTrue,
  lines,
  readEvent,
  runAction,
  setOutput,
  variable,
} from '../shared/runner.ts'
import { chooseSandbox } from './choose-sandbox.ts'
import { annotate, engineEnvironment, runEngine, type Outcome } from './engine.ts'
import { evidenceKey, signEvidence } from './evidence.ts'
import { headOf, patchSince } from './git.ts'
import { exchangeIdentity } from './identity.ts'
import { allowedHosts, moreArguments, option, promptOf, reviewArguments, taskArguments } from './inputs.ts'
import { isProposal, requireActor, requireOwnCheckout } from './who-may-run.ts'

/**
 * The maximum length of an output, in characters. It leaves room for other outputs, because GitHub limits all outputs of a job together to 1 MB
 * (measured approximately, as UTF-16).
 */
const longestOutput = 200_000

/** The names of the report files that the bundle of a run contains. */
const reports = ['report.html', 'report.md', 'report.json', 'findings.sarif', 'junit.xml']

/** Runs the engine on the checked-out repository, and reports the result to the workflow. Returns the step's exit code. */
async function main(): Promise<number> {
  const workspace = realpathSync(variable('GITHUB_WORKSPACE'))
  const eventName = variable('GITHUB_EVENT_NAME')
  const apiKey = input('api-key')
  if (apiKey !== '') command('add-mask', apiKey)
  const signer = evidenceKey()
  const base = headOf(workspace)
  const event = readEvent()
  const token = input('github-token')
  await requireActor(eventName, event, lines('allow-actors'), token === '' ? undefined : openGitHub(token))
  requireOwnCheckout(eventName, base, variable('GITHUB_SHA'))
  const bundle = mkdtempSync(join(variable('RUNNER_TEMP'), 'portcullis-'))
  const sandbox = input('sandbox') || 'workspace-write'
  const isReview = isTrue('review')
  const task = isReview ? reviewArguments(event) : taskArguments(workspace, bundle, sandbox)
  const prompt = promptOf(workspace, isReview)
  const more = moreArguments(isProposal(eventName))
  const backend =
    sandbox !== 'danger-full-access' && process.platform === 'linux'
      ? chooseSandbox(machine, input('docker-image'))
      : []
  const key = await exchangeIdentity()
  const outcome = await runEngine(
    [
      ...task,
      ...['--json', '-C', workspace],
      ...(isProposal(eventName) ? ['--isolated'] : []),
      ...reports.flatMap((name) => ['--report', join(bundle, name)]),
      ...['-c', `sandbox_read.deny=${JSON.stringify(runnerPlaces())}`],
      ...backend,
      ...option('-m', input('model')),
      ...option('--max-cost', chosenInput('max-cost')),
      ...option('--timeout', chosenInput('timeout')),
      ...(isReview ? [] : allowedHosts()),
      ...more,
      ...(prompt === '' ? [] : ['-']),
    ],
    { cwd: workspace, env: engineEnvironment(apiKey, key), prompt },
  )
  const scratch = mkdtempSync(join(variable('RUNNER_TEMP'), 'portcullis-git-'))
  const { patch, files } = patchSince(workspace, base, scratch)
  rmSync(scratch, { recursive: true, force: true })
  const evidence = signEvidence(signer, outcome, bundle)
  return tell(outcome, { bundle, base, patch, files, evidence })
}

/** Reports the run's result: in outputs for later steps and jobs, and in messages and a summary for people. Returns the step's exit code. */
function tell(
  outcome: Outcome,
  made: {
    readonly bundle: string
    readonly base: string
    readonly patch: Buffer
    readonly files: readonly string[]
    readonly evidence: string
  },
): number {
  const { ending, sessionId, finalMessage } = outcome
  const { bundle, base, patch, files, evidence } = made
  // If the run's last event is missing, the run has no result and counts as failed, even if the engine exited with 0.
  const exitCode = ending === undefined && outcome.exitCode === 0 ? 1 : outcome.exitCode
  const result = ending?.result ?? 'failed'
  const patchFile = join(bundle, 'patch.diff')
  const hash = createHash('sha256').update(patch).digest('hex')
  const { usage } = ending ?? {}
  const manifest = {
    version: 1,
    base,
    patch_sha256: hash,
    files,
    result,
    session_id: sessionId,
    audit_head: ending?.audit_head,
  }
  writeFileSync(patchFile, patch)
  writeFileSync(join(bundle, 'events.jsonl'), outcome.events)
  writeFileSync(join(bundle, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  const outputs: Readonly<Record<string, string>> = {
    'exit-code': String(exitCode),
    result,
    'final-message': bounded(finalMessage),
    structured: isGiven('output-schema') && exitCode === 0 ? structured(finalMessage) : '',
    patch: patchFile,
    'patch-sha256': hash,
    'base-sha': base,
    'changed-files': bounded(JSON.stringify(files)),
    'cost-usd': ending?.cost_usd === undefined ? '' : String(ending.cost_usd),
    tokens: usage === undefined ? '' : String(usage.input_tokens + usage.output_tokens),
    denials: String(ending?.denied ?? 0),
    'session-id': sessionId,
    'audit-head': ending?.audit_head ?? '',
    findings: ending?.review === undefined ? '' : String(countOf(ending.review.findings)),
    sarif: join(bundle, 'findings.sarif'),
    evidence,
    bundle,
  }
  for (const [name, value] of Object.entries(outputs)) setOutput(name, value)
  const report = join(bundle, 'report.md')
  addSummary(
    existsSync(report)
      ? readFileSync(report, 'utf8').slice(0, 900_000)
      : summary(result, exitCode, ending?.error?.message, finalMessage),
  )
  if (ending?.review !== undefined) annotate(join(bundle, 'events.jsonl'))
  if (exitCode !== 0)
    command('error', `${result}: ${ending?.error?.message ?? 'the run stopped without reporting why'}`, 'Portcullis')
  if ((ending?.denied ?? 0) > 0)
    command(
      'warning',
      `Denied actions: ${ending?.denied ?? 0}. The summary lists them, and says how to allow them.`,
      'Portcullis',
    )
  return exitCode
}

function countOf(findings: Readonly<Record<string, number>>): number {
  return Object.values(findings).reduce((sum, each) => sum + each, 0)
}

function summary(result: string, exitCode: number, error: string | undefined, finalMessage: string): string {
  return `## Portcullis: ${result} (exit code ${exitCode})\n\n${asCode([error, finalMessage].filter((text) => text !== undefined && text !== '').join('\n\n'))}\n`
}

/**
 * Returns the directories that contain the runner's temporary files (including its tokens) and the files through which steps pass commands to the
 * runner. Commands of the run can't read these directories.
 */
function runnerPlaces(): readonly string[] {
  const files = [
    'GITHUB_ENV',
    'GITHUB_PATH',
    'GITHUB_OUTPUT',
    'GITHUB_STATE',
    'GITHUB_STEP_SUMMARY',
    'GITHUB_EVENT_PATH',
  ]
  const folders = files.flatMap((name) => (process.env[name] === undefined ? [] : [dirname(process.env[name])]))
  return [...new Set([variable('RUNNER_TEMP'), ...folders])].filter(existsSync).map((path) => realpathSync(path))
}

function structured(finalMessage: string): string {
  if (finalMessage.length > longestOutput)
    throw new ActionError(
      `The structured result is longer than the limit for outputs (${longestOutput} characters). The bundle contains it.`,
    )
  return finalMessage
}

function bounded(text: string): string {
  return text.length <= longestOutput
    ? text
    : `${text.slice(0, longestOutput)}… (truncated; the bundle contains the complete text)`
}

const machine = {
  read: (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  },
  run: (program: string, args: readonly string[], stdin?: string) => {
    try {
      execFileSync(program, args, {
        ...(stdin === undefined ? {} : { input: stdin }),
        stdio: 'pipe',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      })
      return true
    } catch {
      return false
    }
  },
}

await runAction(main)
