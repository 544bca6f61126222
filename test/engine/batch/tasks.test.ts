import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTasks } from '../../../engine/batch/tasks/read-tasks.ts'
import { selectTasks } from '../../../engine/batch/tasks/select-tasks.ts'
import { trialsOf } from '../../../engine/batch/trials.ts'
import { tempDir } from '../../support/temp-dir.ts'

const read = async (name: string, text: string, here?: string) => {
  const folder = tempDir({ [name]: text, 'one/.keep': '', 'two/.keep': '' })
  const tasks = await readTasks(join(folder, name), here)
  return tasks.map((task) => ({
    ...task,
    repository: { ...task.repository, source: task.repository.source.replace(folder, '') },
  }))
}

test('tasks are JSON lines with our names', async () => {
  const text =
    '{"id":"a","prompt":"do it","repo":"one","ref":"main","image":"node:26"}\n\n{"id":"b","prompt":"{{ this }}","repo":"./two"}\n'
  expect(await read('tasks.jsonl', text)).toEqual([
    { id: 'a', prompt: 'do it', repository: { source: '/one', ref: 'main' }, image: 'node:26', labels: [] },
    { id: 'b', prompt: '{{ this }}', repository: { source: '/two', ref: undefined }, image: undefined, labels: [] },
  ])
})

test('labels are a list of names or a string, for one task or for all', async () => {
  const text = `labels: [docker]
tasks:
  - { id: a, prompt: do it, repo: one }
  - { id: b, prompt: do it, repo: one, labels: [docker, big] }
  - { id: c, prompt: do it, repo: one, labels: "gpu, big" }
`
  const tasks = await read('tasks.yaml', text)
  expect(tasks.map(({ labels }) => labels)).toEqual([['docker'], ['big', 'docker'], ['big', 'gpu']])
  await expect(read('tasks.jsonl', '{"id":"a","prompt":"x","repo":"one","labels":["a b"]}')).rejects.toThrow(
    "tasks.jsonl:1: 'labels' is not a list of names",
  )
})

test('tasks are instances of SWE-bench, whose solution and tests no model sees', async () => {
  const instance = {
    instance_id: 'django__django-1',
    problem_statement: 'It is broken.',
    repo: 'django/django',
    base_commit: 'abc123',
    patch: 'the solution',
    test_patch: 'the tests',
    FAIL_TO_PASS: '["one"]',
  }
  expect(await read('tasks.json', JSON.stringify([instance]))).toEqual([
    {
      id: 'django__django-1',
      prompt: 'It is broken.',
      repository: { source: 'https://github.com/django/django.git', ref: 'abc123' },
      image: undefined,
      labels: [],
    },
  ])
})

test('tasks are a list of repositories with one prompt, which variables are filled into', async () => {
  const text = `prompt: "Update {{package}} of {{id}}"
variables: { package: zod }
repositories:
  - ./one
  - repo: ./two
    ref: next
    variables: { package: execa }
  - git@example.com:team/three.git#v1
`
  expect(await read('tasks.yaml', text)).toEqual([
    {
      id: 'one',
      prompt: 'Update zod of one',
      repository: { source: '/one', ref: undefined },
      image: undefined,
      labels: [],
    },
    {
      id: 'two',
      prompt: 'Update execa of two',
      repository: { source: '/two', ref: 'next' },
      image: undefined,
      labels: [],
    },
    {
      id: 'three',
      prompt: 'Update zod of three',
      repository: { source: 'git@example.com:team/three.git', ref: 'v1' },
      image: undefined,
      labels: [],
    },
  ])
})

test('tasks are rows of CSV, in which quoted cells may contain commas and line breaks', async () => {
  const text = 'id,prompt,repo\na,"one, ""two""\nthree",one\r\nb,four,two\n'
  expect((await read('tasks.csv', text)).map(({ id, prompt }) => [id, prompt])).toEqual([
    ['a', 'one, "two"\nthree'],
    ['b', 'four'],
  ])
})

test('a task that names no repository works in the one that the batch is started in', async () => {
  expect((await read('tasks.jsonl', '{"id":"a","prompt":"x"}', '/here'))[0]?.repository.source).toBe('/here')
})

test.each([
  [
    'tasks.jsonl',
    '{"id":"a","prompt":"x","repo":"one"}\n{"id":"b","promt":"x","repo":"one"}',
    ":2: 'promt' is not a field of a task. Did you mean 'prompt'?",
  ],
  [
    'tasks.jsonl',
    '{"id":"a","prompt":"x","repo":"one"}\n\n{"id":"a","prompt":"y","repo":"one"}',
    ":3: the id 'a' is already used on line 1",
  ],
  ['tasks.jsonl', '{"id":"a","prompt":"x","repo":"one"}\n{"id"', ':2: not valid JSON'],
  ['tasks.json', '[\n  {"id":"a","prompt":"x","repo":"one"},\n  {"prompt":"x"}\n]', ":3: the task has no 'repo'"],
  [
    'tasks.json',
    '{\n "tasks": [\n  {"id":"a","instance_id":"a"}]}',
    ":3: 'id' and 'instance_id' are names of the same field",
  ],
  [
    'tasks.yaml',
    'prompt: "{{what}}"\nrepositories:\n  - ./one\n  - ./two\n',
    ':4: the prompt uses {{what}}, which is not a variable of this task',
  ],
  ['tasks.yaml', 'prompt: x\ntasks:\n  - {id: a, repo: ./none}\n', ':3: there is no repository'],
  ['tasks.yaml', 'tasks: [\n', ':2: '],
  ['tasks.csv', 'id,prompt,repo\na,b\n', ':2: this record has 2 cells, but there are 3 columns'],
  [
    'tasks.csv',
    'id,prompt,repo\na,"b,one\n',
    ':2: a cell of this record begins with a double quote that is not closed',
  ],
  ['tasks.jsonl', '{"id":"a","repo":"one"}', ":1: the task has no 'prompt'"],
  ['tasks.jsonl', '{"id":"a","prompt":"x","repo":"--upload-pack=evil"}', ":1: '--upload-pack=evil' is no repository"],
  ['tasks.txt', 'a', ":1: the format is not clear from the file's name"],
])('what is wrong in %s is refused with its line (%#)', async (name, text, message) => {
  await expect(read(name, text)).rejects.toThrow(message)
})

test('tasks are chosen by id, order, slice and number', async () => {
  const lines = ['a-1', 'b-2', 'a-3', 'a-4'].map((id) => JSON.stringify({ id, prompt: 'x', repo: 'one' })).join('\n')
  const folder = tempDir({ 'tasks.jsonl': lines, 'one/.keep': '' })
  const all = await readTasks(join(folder, 'tasks.jsonl'), undefined)
  const ids = (selection: Parameters<typeof selectTasks>[1]) => selectTasks(all, selection).map(({ id }) => id)
  expect(ids({ filter: ['a-*'] })).toEqual(['a-1', 'a-3', 'a-4'])
  expect(ids({ filter: ['a-?'], slice: '-2:', limit: 1 })).toEqual(['a-3'])
  expect(ids({ shuffle: 7 })).toEqual(ids({ shuffle: 7 }))
  expect(ids({ shuffle: 7 }).toSorted()).toEqual(ids({}).toSorted())
  expect(() => ids({ slice: '1-2' })).toThrow('expected FROM:TO')
  expect(() => ids({ filter: ['c*'] })).toThrow('No task is left: --filter, --slice and --limit exclude all 4 tasks')
})

test('every trial has its own folder, whatever the names of ids and models', () => {
  const ids = ['a', 'a~r1', '../../etc/passwd', '.', '..', 'x'.repeat(300), `${'x'.repeat(300)}y`, 'ä/ö']
  const trials = trialsOf(
    ids.map((id) => ({ id })),
    { models: ['m', 'm/n'], repeat: 2 },
  )
  expect(new Set(trials.map(({ key }) => key)).size).toBe(ids.length * 4)
  for (const { key } of trials) expect(key).toMatch(/^[\w%~-][\w.%~-]{0,250}$/)
})
