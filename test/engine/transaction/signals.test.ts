import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { snapshot } from '../../apply-patch/files/tree-tools.ts'
import { agent, type Ended } from '../../support/agent.ts'
import { freeform, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { moments, signalsAt, type Moment } from '../../support/signals-at.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { agentAtTerminal } from '../../support/terminal.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { cmd, reportOf } from './overlay-runs.ts'

const { preparing, installing, cleaning, cleaningStill } = moments
/** While the view is removed, after everything has landed. */
const removingView: Moment = { call: 'unlinkSync', path: '/many/', nth: 1 }

const command = 'mkdir many; for i in $(seq 300); do echo $i > many/$i; done; echo new > a.txt; rm b.txt; rm -r c'

const olds = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c/c.txt': 'c\n' }

type Signals = readonly (readonly [NodeJS.Signals, Moment])[]

/** Makes a repository, and a run in it that makes many changes. */
async function changed(args: readonly string[], env: Record<string, string> = {}) {
  const [cwd, home] = [repository(olds), tempDir()]
  const before = snapshot(cwd)
  const ran = await exec([cmd(command), [say('done')]], ['--json', '--view=copy', ...args, 'x'], {
    cwd,
    home,
    env,
  })
  return { cwd, home, before, ran, id: reportOf(ran)?.run ?? '' }
}

/** `old` if a tree is as before, `new` if it has all changes of the run; otherwise the paths in it. */
function stateOf(cwd: string, before: ReturnType<typeof snapshot>): 'old' | 'new' | readonly string[] {
  const now = snapshot(cwd)
  if (JSON.stringify(now) === JSON.stringify(before)) return 'old'
  const names = readdirSync(cwd).toSorted()
  const isNew = names.join() === '.git,a.txt,many' && readdirSync(join(cwd, 'many')).length === 300
  return isNew ? 'new' : Object.keys(now)
}

const told = ({ stderr }: Ended, what: string): number =>
  stderr.split(`agent: Interrupted while the changes were ${what}.`).length - 1

const endOf = (ran: Exec) => {
  const end = ran.events.at(-1)
  return [ran.code, end?.type, end?.type === 'turn.failed' ? end.reason : undefined, reportOf(ran)?.outcome]
}

const early: readonly (readonly [string, number, string, Signals])[] = [
  ['one signal while the new content is written', 130, 'interrupted', [['SIGINT', preparing]]],
  [
    'two while files get their names',
    143,
    'terminated',
    [
      ['SIGTERM', installing],
      ['SIGINT', installing],
    ],
  ],
  [
    'one while files get their names, and two while they are taken back',
    130,
    'interrupted',
    [
      ['SIGINT', installing],
      ['SIGINT', cleaning],
      ['SIGHUP', cleaningStill],
    ],
  ],
]

const late: readonly (readonly [string, Signals])[] = [
  [
    'while the landing cleans up',
    [
      ['SIGINT', cleaning],
      ['SIGINT', cleaningStill],
      ['SIGTERM', cleaningStill],
    ],
  ],
  [
    'while the view is removed',
    [
      ['SIGINT', removingView],
      ['SIGINT', removingView],
      ['SIGHUP', removingView],
    ],
  ],
]

describe.skipIf(needsBubblewrap())('signals while changes land', () => {
  test.each(early)('%s: the run ends as interrupted, and nothing has landed', async (_, code, reason, signals) => {
    const { cwd, home, before, ran } = await changed([], signalsAt(...signals))
    expect(stateOf(cwd, before)).toBe('old')
    expect(endOf(ran)).toEqual([code, 'turn.failed', reason, 'kept'])
    expect([told(ran, 'landing'), ran.stderr]).toEqual([1, expect.stringContaining('Nothing was landed.')])
    const again = await agent(['apply', '--last'], { cwd, home })
    expect([again.code, stateOf(cwd, before)]).toEqual([0, 'new'])
  })

  test.each(late)('%s: the run ends as done, because everything has landed', async (_, signals) => {
    const { cwd, before, ran } = await changed([], signalsAt(...signals))
    expect(stateOf(cwd, before)).toBe('new')
    expect(endOf(ran)).toEqual([0, 'turn.completed', undefined, 'landed'])
  })

  test('do not stop the landing of an interrupted run with --land always', async () => {
    const [cwd, env] = [repository(olds), signalsAt(['SIGINT', preparing], ['SIGHUP', installing])]
    const before = snapshot(cwd)
    let interrupt = (): void => undefined
    const replies = (index: number): Reply => {
      if (index > 0) interrupt()
      return cmd(index === 0 ? command : 'sleep 60')
    }
    const ran = await exec(replies, ['--json', '--view=copy', '--land', 'always', 'x'], {
      ...{ cwd, env },
      onStart: (child) => (interrupt = () => void child.kill('SIGTERM')),
    })
    expect(stateOf(cwd, before)).toBe('new')
    expect([told(ran, 'landing'), ...endOf(ran)]).toEqual([1, 143, 'turn.failed', 'terminated', 'landed'])
  })
})

describe.skipIf(needsBubblewrap())('signals during agent apply', () => {
  test.each(early)('%s: nothing has landed', async (_, code, __, signals) => {
    const { cwd, home, before, id } = await changed(['--land', 'never'])
    const ended = await agent(['apply', id], { cwd, home, env: signalsAt(...signals) })
    expect([ended.code, stateOf(cwd, before), told(ended, 'landing')]).toEqual([code, 'old', 1])
    expect(ended.stderr).toContain('\nInterrupted. Nothing was landed: the tree is unchanged.\n')
    expect((await agent(['changes', id], { cwd, home })).stdout).toContain('  not landed\n')
  })

  test.each(late)('%s: everything has landed', async (_, signals) => {
    const { cwd, home, before, id } = await changed(['--land', 'never'])
    const ended = await agent(['apply', id], { cwd, home, env: signalsAt(...signals) })
    expect([ended.code, stateOf(cwd, before)]).toEqual([0, 'new'])
    expect(ended.stdout).toContain(' files landed; to revert this')
  })

  test('one at a prompt of agent apply -p: the command ends, and nothing has landed', async () => {
    const { cwd, home, before } = await changed(['--land', 'never'])
    const typed = [
      { after: 'y,n,q,a,d,?]? ', text: 'y\n' },
      { after: 'y,n,q,a,d,?]? ', text: '\u0003' },
    ]
    const { code } = await agentAtTerminal(['apply', '-p', '--last'], typed, { cwd, home })
    expect([code, stateOf(cwd, before)]).toEqual([130, 'old'])
  })
})

describe.skipIf(needsBubblewrap())('signals during agent undo', () => {
  const movingAside: Moment = { call: 'renameSync', path: '', nth: 150 }
  const cases: readonly (readonly [string, number, string, Signals])[] = [
    [
      'two while files are moved aside',
      130,
      'new',
      [
        ['SIGINT', movingAside],
        ['SIGINT', movingAside],
      ],
    ],
    [
      'two while it cleans up',
      0,
      'old',
      [
        ['SIGINT', cleaning],
        ['SIGTERM', cleaningStill],
      ],
    ],
  ]
  test.each(cases)('%s: all changes are in the tree, or none is', async (_, code, state, signals) => {
    const { cwd, home, before, id } = await changed([])
    const ended = await agent(['undo', id], { cwd, home, env: signalsAt(...signals) })
    expect([ended.code, stateOf(cwd, before)]).toEqual([code, state])
    if (code === 0) expect(ended.stdout).toMatch(/^Reverted\./)
    else {
      expect([told(ended, 'being reverted'), ended.stderr]).toEqual([
        1,
        expect.stringContaining('Nothing was reverted'),
      ])
      expect((await agent(['undo', id], { cwd, home })).code).toBe(0)
      expect(stateOf(cwd, before)).toBe('old')
    }
  })
})

describe.skipIf(needsBubblewrap())('two signals in a run without a transaction', () => {
  test('end the process after the patch that was being applied has been rolled back', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const before = snapshot(cwd)
    const files = Array.from({ length: 300 }, (_, index) => `*** Add File: many/${index}\n+${index}\n`)
    const patch = `*** Begin Patch\n${files.join('')}*** End Patch\n`
    const ended = await exec([[freeform('apply_patch', patch)], [say('done')]], ['--json', 'x'], {
      cwd,
      env: signalsAt(['SIGINT', preparing], ['SIGINT', preparing]),
    })
    expect([ended.code, snapshot(cwd), existsSync(join(cwd, 'many'))]).toEqual([130, before, false])
  })
})
