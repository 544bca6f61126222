import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

const rules = [
  '# What this team does by hand.',
  'prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Ask Ann.")',
  'prefix_rule(pattern = ["npm", "test"], decision = "allow")\n',
].join('\n')

/** Commands, the names of the files in `fixtures/policies/explained/` that contain the expected output, and the exit codes of `check`. */
const printed: readonly (readonly [name: string, command: string, code: number])[] = [
  ['reads', 'git status --short | head', 0],
  ['rule-deep-inside', `cd app && bash -lc 'FOO=1 git -C . push | tee log'`, 3],
  ['rule-allows', 'npm test && rm -rf build', 1],
  ['option-not-known', 'cat names.txt | sort -o names.txt', 1],
  ['not-readable', 'x=rm; $x -rf "$dir"; echo "', 1],
]

describe.each(['check', 'explain'])('agent policy %s prints', (verb) => {
  test.each(printed)('%s', async (name, command, checked) => {
    const cwd = tempDir({ 'team.rules': rules })
    const args = ['policy', verb, '--ask-for-approval', 'untrusted', '-s', 'workspace-write', '--rules', 'team.rules']
    const { code, stdout, stderr } = await agent([...args, '--', command], { cwd, home: tempDir() })
    expect({ code, stderr }).toEqual({ code: verb === 'check' ? checked : 0, stderr: '' })
    const golden = new URL(`../../../fixtures/policies/explained/${name}.${verb}.txt`, import.meta.url)
    expect(stdout).toBe(readFileSync(golden, 'utf8'))
  })
})
