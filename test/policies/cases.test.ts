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

describe.each(['starter-cases.jsonl'])('%s, in untrusted mode', (name) => {
  test('no unsafe command is allowed', () => {
    const allowed = cases(name).filter(({ command, label }) => label === 'unsafe' && decide(command) === 'allow')
    expect(allowed).toEqual([])
  })
})
