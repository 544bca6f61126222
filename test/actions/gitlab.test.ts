import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { call, freeform, say, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { faultsInCodeQuality, faultsInJunit } from '../support/report-schemas.ts'
import { tempDir } from '../support/temp-dir.ts'

type Input = { readonly default?: string }
type GitLabJob = {
  readonly script: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly artifacts: {
    readonly when: string
    readonly paths: readonly string[]
    readonly reports: Readonly<Record<string, string>>
  }
}

const folder = new URL('../../fixtures/examples/ci/gitlab/templates/', import.meta.url)

/** Reads a GitLab component, with the given inputs filled in as GitLab does. */
function component(name: string, given: Readonly<Record<string, string>>) {
  const [head = '', body = ''] = readFileSync(new URL(name, folder), 'utf8').split(/^---$/m)
  const { inputs } = (parse(head) as { readonly spec: { readonly inputs: Readonly<Record<string, Input | null>> } })
    .spec
  const filled = body.replaceAll(
    /\$\[\[ inputs\.([\w-]+) \]\]/g,
    (_, input: string) => given[input] ?? inputs[input]?.default ?? '',
  )
  const [job] = Object.values(parse(filled) as Readonly<Record<string, GitLabJob>>)
  return { inputs, body, job: job ?? expect.fail('no job') }
}

/** Runs a job's script as GitLab's runner does: line by line in one shell that ends at the first failure. */
async function runJob(job: GitLabJob, replies: readonly Reply[], more: Readonly<Record<string, string>>, cwd: string) {
  const mock = await startMockOpenAI({ replies })
  onTestFinished(() => mock.close())
  const program = new URL('../../dist/bin/agent.js', import.meta.url).pathname
  // The archive of a release is replaced by one that starts the built program, and curl by a program that copies it.
  const folder = tempDir({
    'portcullis/bin/agent': `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`,
    'bin/curl': `#!/bin/sh\nfor last; do :; done\nwhile [ "$1" != --output ]; do shift; done\ncp "$last" "$2"\n`,
  })
  for (const name of ['portcullis/bin/agent', 'bin/curl']) chmodSync(join(folder, name), 0o755)
  const url = join(folder, 'archive')
  execFileSync('tar', ['-czf', url, '-C', folder, 'portcullis'])
  const digest = createHash('sha256').update(readFileSync(url)).digest('hex')
  const script = ['set -eo pipefail', ...job.script].join('\n')
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: tempDir(),
      OPENAI_API_KEY: 'sk-test-key',
      OPENAI_BASE_URL: mock.baseUrl,
      ...job.variables,
      PORTCULLIS_URL: url,
      PORTCULLIS_SHA256: digest,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [log, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  const read = (file: string): string => readFileSync(join(cwd, file), 'utf8')
  return { code, log: log + errors, read, prompt: JSON.stringify(mock.requests[0]?.body) }
}

/** Creates a merge request's checkout with two commits: the base and the change. */
function mergeRequest(): { readonly cwd: string; readonly base: string } {
  const cwd = tempDir({ 'a.txt': 'one\n' })
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', cwd, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
      .toString()
      .trim()
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '-qm', 'first')
  const base = git('rev-parse', 'HEAD')
  writeFileSync(join(cwd, 'a.txt'), 'two\n')
  git('commit', '-qam', 'theirs')
  return { cwd, base }
}

const finding = {
  ...{ path: 'a.txt', start_line: 1, end_line: 1, severity: 'high', category: 'bug', confidence: 0.8 },
  ...{ title: 'Says two "<b>', body: 'It has to say one.', suggestion: null },
}
const reported = [[call('report_findings', { summary: 'One thing.', findings: [finding] })]]
const given = {
  image: 'x',
  url: '$(touch pwned)',
  sha256: '0'.repeat(64),
  prompt: '$(touch pwned) `touch pwned` "go',
  focus: '$(touch pwned)',
}

describe.each(['run.yml', 'review.yml'])('the GitLab component %s', (name) => {
  test('consists of two documents: its inputs, and one job that uses all of them', () => {
    const { inputs, body, job } = component(name, given)
    const used = [...body.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map((match) => match[1] ?? '')
    expect(Object.keys(inputs).toSorted()).toEqual([...new Set(used)].toSorted())
    // The inputs come from whoever includes the component, and must not become part of a script.
    const scripts = parse(body) as Readonly<Record<string, GitLabJob>>
    for (const { script } of Object.values(scripts)) expect(script.join('\n')).not.toContain('inputs.')
    expect(job.artifacts).toMatchObject({
      when: 'always',
      reports: { junit: 'junit.xml', codequality: 'gl-code-quality-report.json' },
    })
  })
})

describe.skipIf(needsBubblewrap())('in a shell as GitLab gives it', () => {
  test('a merge request is reviewed, its findings are a code quality report, and a bad one fails the job if that was requested', async () => {
    const { cwd, base } = mergeRequest()
    const variables = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base }
    const told = await runJob(component('review.yml', given).job, reported, variables, cwd)
    expect(told.code, told.log).toBe(0)
    expect(told.prompt).toContain('$(touch pwned)')
    const quality = told.read('gl-code-quality-report.json')
    expect(faultsInCodeQuality(quality)).toEqual([])
    expect(JSON.parse(quality)).toMatchObject([{ severity: 'major', location: { path: 'a.txt', lines: { begin: 1 } } }])
    expect(await faultsInJunit(told.read('junit.xml'))).toEqual([])
    expect(told.read('portcullis.html')).toContain('Says two')
    const strict = component('review.yml', { ...given, 'fail-on': 'high' }).job
    expect((await runJob(strict, reported, variables, cwd)).code).toBe(1)
    expect(execFileSync('git', ['-C', cwd, 'status', '--porcelain']).toString()).not.toContain('pwned')
  })

  test('an archive with another hash than the given one is not unpacked, and nothing is run', async () => {
    const { cwd } = mergeRequest()
    const told = await runJob(component('run.yml', given).job, reported, { PORTCULLIS_SHA256: '0'.repeat(64) }, cwd)
    expect(told).toMatchObject({ code: 1, log: expect.stringMatching(/archive: FAILED/) })
    expect(told.prompt).toBe(undefined)
  })

  test('a task is done, and its changes are a patch', async () => {
    const { cwd } = mergeRequest()
    const patch =
      '*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+three\n*** Add File: b.txt\n+new\n*** End Patch\n'
    // `--max-cost` is enforced on the basis of the usage that the provider reports.
    const usage = { input: 10, output: 5 }
    const replies = [
      { say: [freeform('apply_patch', patch)], usage },
      { say: [say('Done.')], usage },
    ]
    const told = await runJob(component('run.yml', given).job, replies, {}, cwd)
    expect(told.code, told.log).toBe(0)
    expect(told.prompt).toContain('touch pwned')
    expect(told.read('portcullis.patch')).toMatch(/-two\n\+three[^]*\+new/)
    expect(faultsInCodeQuality(told.read('gl-code-quality-report.json'))).toEqual([])
    expect(execFileSync('git', ['-C', cwd, 'status', '--porcelain']).toString()).not.toContain('pwned')
  })
})
