import { spawn } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const jobs = new URL('../../node_modules/.cache/jobs/', import.meta.url).pathname

/** How a step ended, as GitHub's runner sees it. */
export type Step = {
  readonly code: number | null
  readonly log: string
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
  /** The step's changes to the job's environment and path, and the state that it saves. */
  readonly environment: string
  /** The workflow commands in the log, which the runner would execute. */
  readonly commands: readonly string[]
}

/** A job: its folders and its secrets, as the runner lays them out. */
export type Job = {
  readonly workspace: string
  readonly temp: string
  readonly home: string
  /** Secrets that no command may see, each in a place where a real job has one. */
  readonly canaries: readonly string[]
  step(
    action: 'run' | 'apply',
    inputs: Readonly<Record<string, string>>,
    env?: Readonly<Record<string, string>>,
    /** The program that starts the action, and that program's first arguments. It can, for example, hide something from the action. */
    startedBy?: readonly string[],
  ): Promise<Step>
}

/** Makes a job whose workspace is a checked-out commit of these files. */
export function startJob(
  files: Readonly<Record<string, string>>,
  event: { readonly name?: string; readonly payload?: object } = {},
): Job {
  // The job's directory is not in the system's temporary directory, because commands see a private directory in place of that one.
  mkdirSync(jobs, { recursive: true })
  const root = mkdtempSync(join(jobs, 'job-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [workspace, temp, home, runnerFiles] = [
    'work/repo/repo',
    'work/_temp',
    'home',
    'work/_temp/_runner_file_commands',
  ].map((name) => join(root, name)) as [string, string, string, string]
  for (const folder of [workspace, home, runnerFiles]) mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(workspace, name, '..'), { recursive: true })
    writeFileSync(join(workspace, name), content)
  }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', workspace, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
      .toString()
      .trim()
  git('init', '--quiet', '-b', 'main')
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
  const canary = (name: string): string => `canary-${name}-${randomBytes(8).toString('hex')}`
  const [token, runtime, idToken, checkout, eventSecret] = ['ghs', 'runtime', 'id-token', 'checkout', 'event'].map(
    canary,
  ) as [string, string, string, string, string]
  // actions/checkout leaves its token like this.
  git('config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${checkout}`)
  const eventFile = join(temp, '_github_workflow/event.json')
  mkdirSync(join(eventFile, '..'), { recursive: true })
  writeFileSync(join(temp, 'credentials.config'), checkout)
  writeFileSync(
    eventFile,
    JSON.stringify({ sender: { login: 'octocat', id: 1, type: 'User' }, secret: eventSecret, ...event.payload }),
  )
  const sha = git('rev-parse', 'HEAD')
  return {
    ...{ workspace, temp, home, canaries: [token, runtime, idToken, checkout, eventSecret] },
    step: async (action, inputs, more = {}, startedBy = []) => {
      const paths = ['OUTPUT', 'ENV', 'PATH', 'STATE', 'STEP_SUMMARY'].map((name) => {
        const path = join(runnerFiles, `${name.toLowerCase()}_${randomBytes(4).toString('hex')}`)
        writeFileSync(path, '')
        return [`GITHUB_${name}`, path] as const
      })
      const files = Object.fromEntries(paths)
      const env = {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: workspace,
        GITHUB_REPOSITORY: 'owner/repo',
        GITHUB_API_URL: 'http://127.0.0.1:1',
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_RUN_ID: '77',
        GITHUB_EVENT_NAME: event.name ?? 'push',
        GITHUB_EVENT_PATH: eventFile,
        GITHUB_SHA: sha,
        RUNNER_TEMP: temp,
        RUNNER_OS: 'Linux',
        GITHUB_TOKEN: token,
        ACTIONS_RUNTIME_TOKEN: runtime,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: idToken,
        ACTIONS_ID_TOKEN_REQUEST_URL: `https://token.example/${idToken}`,
        ACTIONS_RESULTS_URL: `https://results.example/${runtime}`,
        ACTIONS_CACHE_URL: `https://cache.example/${runtime}`,
        ...files,
        ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
        ...more,
      }
      const program = new URL(`../../.github/actions/${action}/dist/index.js`, import.meta.url).pathname
      const [started = process.execPath, ...words] = [...startedBy, process.execPath, program]
      const child = spawn(started, words, { cwd: workspace, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const [log, errors, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve) => child.on('close', resolve)),
      ])
      const read = (name: string): string => readFileSync(files[`GITHUB_${name}`] ?? '', 'utf8')
      return {
        code,
        log: log + errors,
        outputs: parseOutputs(read('OUTPUT')),
        summary: read('STEP_SUMMARY'),
        environment: read('ENV') + read('PATH') + read('STATE'),
        commands: obeyed(log),
      }
    },
  }
}

/** Parses `GITHUB_OUTPUT` as the runner does. Accepts only `NAME<<DELIMITER`, not `NAME=VALUE`. Throws for all else. */
export function parseOutputs(text: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {}
  const lines = text.split('\n')
  while (lines.length > 0) {
    const line = lines.shift() ?? ''
    if (line === '') continue
    const [, name, delimiter] = /^([^=<]+)<<(.+)$/.exec(line) ?? []
    if (name === undefined || delimiter === undefined) throw new Error(`not an output: ${line}`)
    const end = lines.indexOf(delimiter)
    if (end === -1) throw new Error(`an output without its end: ${name}`)
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join('\n')
  }
  return outputs
}

/** The commands in a log that the runner executes: all except those between `stop-commands` and its token. */
function obeyed(log: string): readonly string[] {
  let stopped: string | undefined
  return log.split('\n').filter((line) => {
    if (stopped !== undefined) {
      if (line.trim() === `::${stopped}::`) stopped = undefined
      return false
    }
    const stop = /^::stop-commands::(.+)$/.exec(line.trim())
    if (stop !== null) stopped = stop[1]
    return stop === null && (/^\s*::[\w-]+/.test(line) || /##\[\w+/.test(line))
  })
}

/** A request that the fake GitHub API has received. */
export type Asked = { readonly method: string; readonly path: string; readonly token: string; readonly body: unknown }

/** Starts a fake GitHub API on loopback. `answers` returns the body of the response to a request, or its status if there is no body (default 404). */
export async function startGitHub(
  answers: (asked: Asked) => object | number | undefined,
): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = {
        method: request.method ?? '',
        path: (request.url ?? '').replace('/repos/owner/repo', ''),
        token: request.headers.authorization ?? '',
        body: body === '' ? undefined : (JSON.parse(body) as unknown),
      }
      asked.push(one)
      const answer = answers(one) ?? 404
      response.statusCode = typeof answer === 'number' ? answer : 200
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(typeof answer === 'number' ? {} : answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
