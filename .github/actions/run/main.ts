import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { execFileSync } from 'node:child_process'
import { openGitHub } from '../shared/github.ts'
import {
  ActionError,
  addSummary,
  asCode,
  command,
  input,
  lines,
  readEvent,
  runAction,
  setOutput,
  variable,
} from '../shared/runner.ts'
import { allowBubblewrap } from './allow-bubblewrap.ts'
import { engineEnvironment, runEngine, verify, type Outcome } from './engine.ts'
import { headOf, patchSince } from './git.ts'
import { isProposal, requireActor, requireOwnCheckout } from './who-may-run.ts'

/** GitHub cuts an output beyond a mebibyte; all of them together have one. */
const longestOutput = 200_000

/** Runs the engine on the checked-out repository, and tells the workflow what came of it. Gives the step's exit code. */
async function main(): Promise<number> {
  const workspace = realpathSync(variable('GITHUB_WORKSPACE'))
  const eventName = variable('GITHUB_EVENT_NAME')
  const apiKey = input('api-key')
  if (apiKey !== '') command('add-mask', apiKey)
  const base = headOf(workspace)
  const token = input('github-token')
  await requireActor(eventName, readEvent(), lines('allow-actors'), token === '' ? undefined : openGitHub(token))
  requireOwnCheckout(eventName, base, variable('GITHUB_SHA'))
  const bundle = mkdtempSync(join(variable('RUNNER_TEMP'), 'portcullis-'))
  const more = moreArguments(isProposal(eventName))
  const hidden = runnerPlaces()
  const sandbox = input('sandbox') || 'workspace-write'
  if (sandbox !== 'danger-full-access' && process.platform === 'linux') allowBubblewrap(machine)
  const outcome = await runEngine(
    [
      ...['exec', '--json'],
      ...(isProposal(eventName) ? ['--isolated'] : []),
      ...[
        '-C',
        workspace,
        '-s',
        sandbox,
        '--report',
        join(bundle, 'report.html'),
        '--report',
        join(bundle, 'report.md'),
      ],
      ...['-c', `sandbox_read.deny=${JSON.stringify(hidden)}`],
      ...option('-m', input('model')),
      ...option('--max-cost', input('max-cost')),
      ...option('--timeout', input('timeout')),
      ...allowedHosts(),
      ...outputSchema(workspace, bundle),
      ...more,
      '-',
    ],
    { cwd: workspace, env: engineEnvironment(apiKey), prompt: promptOf(workspace) },
  )
  const check = input('verify')
  const isVerified =
    outcome.exitCode !== 0 ||
    check === '' ||
    verify(check, { cwd: workspace, args: ['-s', sandbox, ...hidden.flatMap((path) => ['--deny-read', path])] }) === 0
  const scratch = mkdtempSync(join(variable('RUNNER_TEMP'), 'portcullis-git-'))
  const { patch, files } = patchSince(workspace, base, scratch)
  rmSync(scratch, { recursive: true, force: true })
  return tell(outcome, { isVerified, bundle, base, patch, files })
}

/** Everything that the next step or job reads, and what a person does. */
function tell(
  outcome: Outcome,
  made: {
    readonly isVerified: boolean
    readonly bundle: string
    readonly base: string
    readonly patch: Buffer
    readonly files: readonly string[]
  },
): number {
  const { ending, sessionId, finalMessage } = outcome
  const { isVerified, bundle, base, patch, files } = made
  // Whatever the engine said, a run whose end nobody saw is none.
  const exitCode = ending === undefined && outcome.exitCode === 0 ? 1 : isVerified ? outcome.exitCode : 1
  const result = isVerified ? (ending?.result ?? 'failed') : 'failed'
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
    structured: input('output-schema') !== '' && exitCode === 0 ? structured(finalMessage) : '',
    patch: patchFile,
    'patch-sha256': hash,
    'base-sha': base,
    'changed-files': bounded(JSON.stringify(files)),
    'cost-usd': ending?.cost_usd === undefined ? '' : String(ending.cost_usd),
    tokens: usage === undefined ? '' : String(usage.input_tokens + usage.output_tokens),
    denials: String(ending?.denied ?? 0),
    'session-id': sessionId,
    'audit-head': ending?.audit_head ?? '',
    bundle,
  }
  for (const [name, value] of Object.entries(outputs)) setOutput(name, value)
  const report = join(bundle, 'report.md')
  addSummary(
    existsSync(report)
      ? readFileSync(report, 'utf8').slice(0, 900_000)
      : summary(result, exitCode, ending?.error?.message, finalMessage),
  )
  if (!isVerified)
    command('error', 'The run came to its end, but the command of `verify` failed: see the log.', 'Portcullis')
  else if (exitCode !== 0)
    command('error', `${result}: ${ending?.error?.message ?? 'the run did not come to an end'}`, 'Portcullis')
  if ((ending?.denied ?? 0) > 0)
    command(
      'warning',
      `${ending?.denied ?? 0} actions were denied: the summary says which, and how to allow them.`,
      'Portcullis',
    )
  return exitCode
}

function summary(result: string, exitCode: number, error: string | undefined, finalMessage: string): string {
  return `## Portcullis: ${result} (exit code ${exitCode})\n\n${asCode([error, finalMessage].filter((text) => text !== undefined && text !== '').join('\n\n'))}\n`
}

function promptOf(workspace: string): string {
  const [prompt, file] = [input('prompt'), input('prompt-file')]
  if ((prompt === '') === (file === '')) throw new ActionError("Give one of the inputs 'prompt' and 'prompt-file'.")
  if (prompt !== '') return prompt
  const path = resolve(workspace, file)
  if (!existsSync(path)) throw new ActionError(`The input 'prompt-file' names ${path}, which is not there.`)
  return readFileSync(path, 'utf8')
}

/** `args`: words for `agent exec`, never a text that somebody splits. */
function moreArguments(isOfProposal: boolean): readonly string[] {
  const text = input('args') || '[]'
  let words: unknown
  try {
    words = JSON.parse(text)
  } catch {
    words = undefined
  }
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) {
    throw new ActionError(`The input 'args' must be a JSON array of strings, such as ["-c", "web_search=live"].`)
  }
  if (isOfProposal && words.some((word) => /^--trust(?:=|$)/.test(word))) {
    throw new ActionError(
      "'--trust' would let a pull request configure the run that judges it, so it isn't taken here.",
    )
  }
  return words
}

function allowedHosts(): readonly string[] {
  const hosts = lines('allowed-hosts')
  return hosts.length === 0 ? [] : ['-c', `sandbox_workspace_write.allowed_hosts=${JSON.stringify(hosts)}`]
}

/** A schema is a file of the repository, or JSON in the workflow itself. */
function outputSchema(workspace: string, bundle: string): readonly string[] {
  const text = input('output-schema')
  if (text === '') return []
  if (!text.startsWith('{')) return ['--output-schema', resolve(workspace, text)]
  const file = join(bundle, 'schema.json')
  writeFileSync(file, text)
  return ['--output-schema', file]
}

function option(name: string, value: string): readonly string[] {
  return value === '' ? [] : [name, value]
}

/** What the runner keeps its tokens in: no command sees it. */
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
      `The structured result is longer than an output may be (${longestOutput} characters): it is in the bundle.`,
    )
  return finalMessage
}

function bounded(text: string): string {
  return text.length <= longestOutput ? text : `${text.slice(0, longestOutput)}… (cut; the bundle has all of it)`
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
