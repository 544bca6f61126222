import { expect, test } from 'vitest'
import { loadRules, type RuleError } from '../../policies/index.ts'

/**
 * Loads rules from a file with errors. Returns the rules that can still be used (prefix rules as their decision and pattern, all others as the name
 * of the host or program), and the locations of the errors.
 */
function salvaged(text: string): { readonly rules: readonly string[]; readonly faults: readonly string[] } {
  const faults: string[] = []
  const tolerate = ({ line, column }: RuleError): void => void faults.push(`${line}:${column}`)
  const { prefixRules, networkRules, hostExecutables } = loadRules([{ path: 'a.rules', layer: 'user', text, tolerate }])
  const rules = prefixRules.map(({ decision, pattern }) => `${decision} ${pattern.flat().join(' ')}`)
  const others = [...networkRules.map(({ host }) => host), ...hostExecutables.map(({ name }) => name)]
  return { rules: [...rules, ...others], faults }
}

test('rules that forbid or ask hold next to an unreadable rule, and each fault is reported with its location', () => {
  const text = [
    'NAMES = ["git", "hg"]',
    'prefix_rule(pattern = [NAMES, "push"], decision = "forbidden")',
    'prefix_rule(pattern = 5)',
    'def helper(x):',
    '  return x',
    'prefix_rule(pattern = ["npm"], decision = "prompt")',
    'prefix_rule(pattern = ["make"',
    'network_rule(host = "evil.example", protocol = "https", decision = "deny")',
  ].join('\n')
  expect(salvaged(text)).toEqual({
    rules: ['forbidden git hg push', 'prompt npm', 'evil.example'],
    faults: ['3:23', '7:30'],
  })
})

test('no allow rule of a broken file counts, because it may be part of a text', () => {
  const text =
    'x = """\nprefix_rule(pattern = ["rm"], decision = "allow")\nhost_executable(name = "git", paths = ["/x/git"])\n"""\n5'
  expect(salvaged(text).rules).toEqual([])
  expect(salvaged(text).faults).not.toEqual([])
})

test('a valid file counts completely', () => {
  expect(salvaged('prefix_rule(pattern = ["ls"], decision = "allow")')).toEqual({ rules: ['allow ls'], faults: [] })
})

test('a long broken file is reported once and not searched further', () => {
  const rule = 'prefix_rule(pattern = ["a"], decision = "forbidden")\n'
  expect(salvaged(`${rule.repeat(600)}(`)).toEqual({ rules: [], faults: ['601:1'] })
  expect(salvaged(`${'\n'.repeat(100_000)}${rule}(`).faults).toHaveLength(1)
})
