import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { call, freeform, say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const steps = 6
const kills = 20

/** What a request says about a call: nothing, the output of the call, or that it is unknown whether the call ran. */
function outcome(body: unknown, id: string): string | undefined {
  const { input } = body as { input: readonly { readonly call_id?: string; readonly output?: string }[] }
  return input.find((item) => item.call_id === id && item.output !== undefined)?.output
}

const isUnknown = (output: string): boolean => output.includes('interrupted before this call had a result')

/**
 * A careful model, which performs six steps in order, each of them only once. If it is told that it is unknown whether a step was done, it checks,
 * and repeats the step only if it was not done.
 */
function careful({ body }: { readonly body: unknown }): Reply {
  for (let step = 0; step < steps; step++) {
    for (let attempt = 0; ; attempt++) {
      const id = `do-${step}-${attempt}`
      const done = outcome(body, id)
      if (done === undefined) return [act(step, id)]
      if (!isUnknown(done)) break
      let look = 0
      while (isUnknown(outcome(body, `look-${step}-${attempt}-${look}`) ?? '')) look++
      const seen = outcome(body, `look-${step}-${attempt}-${look}`)
      if (seen === undefined) return [check(step, `look-${step}-${attempt}-${look}`)]
      if (seen.includes('it is there')) break
    }
  }
  return [say('all steps done')]
}

/**
 * Returns the call that performs a step. The tree shows what went wrong: a command that ran twice has added two lines to the log, and a patch that
 * was applied only in part has not created all of its files.
 */
function act(step: number, id: string): ReturnType<typeof call> {
  if (step % 2 === 0) return call('exec_command', { cmd: `echo step ${step} >> log; sleep 0.05` }, id)
  const files = ['a', 'b', 'c'].map((name) => `*** Add File: ${name}-${step}.txt\n+made by step ${step}\n`)
  return freeform('apply_patch', `*** Begin Patch\n${files.join('')}*** End Patch\n`, id)
}

function check(step: number, id: string): ReturnType<typeof call> {
  const test = step % 2 === 0 ? `grep -qx 'step ${step}' log` : `test -f a-${step}.txt`
  return call('exec_command', { cmd: `${test} && echo it is there || echo it is not` }, id)
}

/** The contents of all files in a tree, by path. Git's own files are left out. */
function treeOf(root: string): Readonly<Record<string, string>> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = paths.filter((path) => !path.startsWith('.git') && statSync(join(root, path)).isFile())
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

test.skipIf(needsBubblewrap())(
  `a run that is killed at any of ${kills} moments goes on to the very tree of one that was left alone`,
  { timeout: 300_000 },
  async () => {
    const mock = await startMockOpenAI({ replies: careful })
    onTestFinished(() => mock.close())
    const env = { OPENAI_API_KEY: 'sk-test-key' }
    const flags = ['-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`, '--json']

    const alone = repository()
    let began = 0
    const undisturbed = await agent(['exec', ...flags, 'do the steps'], {
      cwd: alone,
      home: tempDir(),
      env,
      onStart: (child) => child.stdout?.once('data', () => (began = performance.now())),
    })
    expect(undisturbed.code).toBe(0)
    const events = eventsOf(undisturbed.stdout).length
    const gap = (performance.now() - began) / events
    const expected = treeOf(alone)
    expect(Object.keys(expected)).toHaveLength(1 + 3 * 3)

    const killed: (NodeJS.Signals | null)[] = []
    for (let at = 0; at < kills; at++) {
      const cwd = repository()
      const home = tempDir()
      // The run is killed at a random time between one of its events and the next. A fixed time wouldn't do, because the duration varies from run to
      // run.
      const after = Math.floor((events * at) / kills)
      const delay = gap * Math.random()
      const moment = `killed ${delay} ms after event ${after}`
      const first = await agent(['exec', ...flags, 'do the steps'], {
        cwd,
        home,
        env,
        onStart: (child) => {
          let seen = 0
          child.stdout?.on('data', (text: string) => {
            const before = seen
            seen += text.split('\n').length - 1
            if (before <= after && seen > after) setTimeout(() => child.kill('SIGKILL'), delay)
          })
        },
      })
      killed.push(first.signal)
      // Up to the kill, the output consists of complete events, except perhaps the last.
      expect(eventsOf(first.stdout.slice(0, first.stdout.lastIndexOf('\n') + 1)).length).toBeGreaterThan(0)
      const thread = threadOf(first)
      const second = await agent(['exec', ...flags, 'resume', thread, 'go on'], { cwd, home, env })
      const resumed = { code: second.code, thread: threadOf(second) }
      expect(resumed, `${moment}: ${second.stderr}`).toEqual({ code: 0, thread })
      expect(treeOf(cwd), moment).toEqual(expected)
    }
    // Most runs were killed before their end. A few of the last ones may have finished.
    expect(killed.filter((signal) => signal === 'SIGKILL').length).toBeGreaterThan(kills / 2)
  },
)

function threadOf({ stdout }: Ended): string {
  return (JSON.parse(stdout.split('\n')[0] ?? '') as { thread_id: string }).thread_id
}
