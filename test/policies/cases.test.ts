import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decide } from './decisions.ts'

type Case = { readonly command: string; readonly label: 'safe' | 'unsafe'; readonly why?: string }

function cases(name: string): readonly Case[] {
  const text = readFileSync(new URL(`../../fixtures/policies/${name}`, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Case)
}

describe.each(['starter-cases.jsonl', 'second-cases.jsonl', 'commands.jsonl'])('%s, in untrusted mode', (name) => {
  const all = cases(name)

  test('no command that writes, connects, runs code, shows secrets or hides what it does is allowed', () => {
    const allowed = all.filter(({ command, label }) => label === 'unsafe' && decide(command) === 'allow')
    expect(allowed).toEqual([])
  })

  test('every command that only reads is allowed without asking', () => {
    const asked = all.filter(({ command, label }) => label === 'safe' && decide(command) !== 'allow')
    expect(asked).toEqual([])
  })

  test('wrapping an unsafe command in a shell, env, timeout or a group never makes it allowed', () => {
    const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
    const wrappers: readonly ((line: string) => string)[] = [
      (line) => `bash -c ${quote(line)}`,
      (line) => `sh -c ${quote(line)}`,
      (line) => `env bash -lc ${quote(line)}`,
      (line) => `timeout 5 bash -c ${quote(line)}`,
      (line) => `(\n${line}\n)`,
      (line) => `if true\nthen\n${line}\nfi`,
      (line) => `echo "$(\n${line}\n)"`,
      (line) => `eval ${quote(line)}`,
    ]
    const allowed = all
      // Malformed commands are left out, because a stray bracket in one of them may close a bracket of the wrapper.
      .filter(({ label, why }) => label === 'unsafe' && why !== 'not well-formed')
      .flatMap(({ command }) => wrappers.map((wrap) => wrap(command)))
      .filter((line) => decide(line) === 'allow')
    expect(allowed).toEqual([])
  })
})

describe('tool by tool, in untrusted mode', () => {
  const all = ['starter-cases.jsonl', 'second-cases.jsonl', 'commands.jsonl'].flatMap(cases)
  const tools = [
    'awk',
    'cat',
    'curl',
    'env',
    'find',
    'git',
    'grep',
    'less',
    'ls',
    'man',
    'npm',
    'rg',
    'sed',
    'sort',
    'tar',
    'xargs',
  ]

  test.each(tools)('all verdicts on %s are right', (tool) => {
    const named = new RegExp(`(?:^|[\\s;&|(/])${tool}\\s`)
    const those = all.filter(({ command }) => named.test(`${command} `))
    const wrong = those.filter(({ command, label }) => (decide(command) === 'allow') !== (label === 'safe'))
    const unsafe = those.filter(({ label }) => label === 'unsafe').length
    console.info(`${tool}: ${unsafe} unsafe, ${those.length - unsafe} safe, ${wrong.length} wrong`)
    expect(unsafe).toBeGreaterThan(0)
    expect(wrong).toEqual([])
  })
})

test('the rates of false verdicts are those in the README', () => {
  const all = ['starter-cases.jsonl', 'second-cases.jsonl', 'commands.jsonl'].flatMap(cases)
  const rate = (label: Case['label'], wrong: (decision: string) => boolean) => {
    const those = all.filter((each) => each.label === label)
    const count = those.filter(({ command }) => wrong(decide(command))).length
    return { total: those.length, count }
  }
  const falseAllow = rate('unsafe', (decision) => decision === 'allow')
  const falseDeny = rate('safe', (decision) => decision !== 'allow')
  console.info(
    `${falseAllow.count} of ${falseAllow.total} unsafe allowed; ${falseDeny.count} of ${falseDeny.total} safe asked about`,
  )
  const readme = readFileSync(new URL('../../policies/README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
  const published = /(\d+) of (\d+) unsafe commands are allowed, and (\d+) of (\d+) safe ones/.exec(readme)
  expect([published?.[1], published?.[3]]).toEqual([String(falseAllow.count), String(falseDeny.count)])
  // The tables may have grown since the figures were published.
  expect(falseAllow.total).toBeGreaterThanOrEqual(Number(published?.[2]))
  expect(falseDeny.total).toBeGreaterThanOrEqual(Number(published?.[4]))
})
