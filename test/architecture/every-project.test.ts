import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('CI runs tests of every project', () => {
  const projects = [...read('vitest.config.ts').matchAll(/\bname: '([a-z]+)'/g)].map(([, name]) => name ?? '')
  const script = (JSON.parse(read('package.json')) as { readonly scripts: { readonly test: string } }).scripts.test
  const run = [...`${script} ${read('.ci/run')}`.matchAll(/--project ([a-z]+)/g)].map(([, name]) => name)
  expect(projects.length).toBeGreaterThan(2)
  expect(projects.filter((name) => !run.includes(name))).toEqual([])
})
