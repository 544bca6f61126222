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

describe.each(['starter-cases.jsonl', 'commands.jsonl'])('%s, in untrusted mode', (name) => {
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
      // A stray bracket may be what a wrapper lacks.
      .filter(({ label, why }) => label === 'unsafe' && why !== 'not well-formed')
      .flatMap(({ command }) => wrappers.map((wrap) => wrap(command)))
      .filter((line) => decide(line) === 'allow')
    expect(allowed).toEqual([])
  })
})
