import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  createGuardian,
  defaultRules,
  loadRules,
  nobody,
  RuleError,
  shippedRules,
  withoutAuditLog,
} from '../../policies/index.ts'
import { decide } from './decisions.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))

function load(text: string): ReturnType<typeof loadRules> {
  return loadRules([{ path: 'x.rules', layer: 'user', text }])
}

function errorOf(text: string): string {
  try {
    load(text)
  } catch (error) {
    if (error instanceof RuleError) return `${error.line}:${error.column}: ${error.message} | ${error.expected}`
    throw error
  }
  return 'loaded'
}

describe('a rule file', () => {
  test('may contain prefix rules with alternatives, constants, comments, both kinds of quotes and trailing commas', () => {
    const rules = load(`
# what may be done with git
READS = ["status", 'diff'] + ["log"]
prefix_rule(
    pattern = ["git", READS],  # any of them
    decision = "allow",
    justification = "reading " + "is fine",
    match = ["git status -s", ["git", "log"]],
    not_match = ["git push", "hub status"],
)
prefix_rule(pattern=["rm"], decision="forbidden", justification=r"no\\d", match=["rm -rf x"],)
prefix_rule(pattern=["make"])
`)
    expect(
      rules.prefixRules.map(({ pattern, decision, justification, origin }) => [
        pattern,
        decision,
        justification,
        origin.line,
      ]),
    ).toEqual([
      [[['git'], ['status', 'diff', 'log']], 'allow', 'reading is fine', 4],
      [[['rm']], 'forbidden', 'no\\d', 11],
      [[['make']], 'allow', undefined, 12],
    ])
  })

  test('may contain network rules and host executables', () => {
    const rules = load(`
network_rule(host = "Registry.Example.com", protocol = "https", decision = "allow")
host_executable(name = "git", paths = ["/usr/bin/git", "~/bin/git"])
`)
    expect(rules.networkRules).toMatchObject([{ host: 'registry.example.com', protocol: 'https', decision: 'allow' }])
    expect(rules.hostExecutables).toMatchObject([{ name: 'git', paths: ['/usr/bin/git', '~/bin/git'] }])
  })

  test('may give arguments by position or by name, and in brackets', () => {
    const rules = load(`"""What may be done."""
WORDS = "other"
WORDS = ["git"]
WORDS += ["push"]
pass
prefix_rule((WORDS), "pro" + "mpt", ["git push x"], [], "why")
host_executable("git", ["/usr/bin/git"])
network_rule("a.example", "https", "deny", "why not")
`)
    expect(rules.prefixRules).toMatchObject([
      { pattern: [['git'], ['push']], decision: 'prompt', justification: 'why', origin: { line: 6 } },
    ])
    expect(rules.hostExecutables).toMatchObject([{ name: 'git', paths: ['/usr/bin/git'] }])
    expect(rules.networkRules).toMatchObject([{ host: 'a.example', decision: 'deny', justification: 'why not' }])
  })

  test.each(['\\x70ush', '\\u0070ush', '\\U00000070ush', '\\160ush', 'p\\\nush', '\\160\\165sh'])(
    'decodes the escapes of Starlark: %s',
    (word) => {
      const rules = `prefix_rule(pattern = ["git", "${word}"], decision = "forbidden")`
      expect(decide('git push', { rules, mode: 'never' })).toBe('deny')
    },
  )

  test('uses the last location that is given for a program', () => {
    const rules = `
host_executable(name = "foo", paths = ["/usr/bin/foo"])
host_executable(name = "foo", paths = ["/opt/foo"])
prefix_rule(pattern = ["foo"], decision = "allow")
`
    expect(decide('/opt/foo', { rules })).toBe('allow')
    expect(decide('/usr/bin/foo', { rules })).toBe('ask')
  })

  test.each([
    ['a.example:8443', { host: 'a.example', port: 8443 }],
    ['A.Example.', { host: 'a.example' }],
    ['[::1]', { host: '::1' }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['::1', { host: '::1' }],
    [' a.b ', { host: 'a.b' }],
  ])('reads the host %s', (host, expected) => {
    expect(
      load(`network_rule(host = "${host}", protocol = "https_connect", decision = "allow")`).networkRules,
    ).toMatchObject([{ ...expected, protocol: 'https' }])
  })

  test('an allow with a port covers that port, but a restriction covers all ports', () => {
    const at = (decision: string, port: number): string => {
      const rules = load(`network_rule(host = "a.example:8443", protocol = "https", decision = "${decision}")`)
      const options = { approvalMode: 'untrusted', rules, reviewer: nobody, audit: withoutAuditLog() } as const
      return createGuardian(options).assess({ type: 'network', host: 'a.example', port, protocol: 'https' }).decision
    }
    expect([at('allow', 8443), at('allow', 443), at('deny', 8443), at('deny', 443)]).toEqual([
      ...['allow', 'ask', 'deny', 'deny'],
    ])
  })

  test('may be empty, or contain only comments', () => {
    expect(errorOf('')).toBe('loaded')
    expect(errorOf('# nothing\n\n')).toBe('loaded')
  })

  test.each([
    ['prefix_rule(pattern = ["a"], decision = "maybe")', /^1:41: "maybe" is not among/],
    ['prefix_rule(pattern = [])', /^1:23: the pattern is empty/],
    ['prefix_rule(pattern = [[]])', /^1:24: a list of alternatives is empty/],
    ['prefix_rule(pattern = "git")', /^1:23: this is not a list/],
    ['prefix_rule(decision = "allow")', /^1:1: prefix_rule lacks pattern/],
    ['prefix_rule(pattern = ["a"], patern = ["b"])', /^1:30: prefix_rule has no argument patern/],
    ['prefix_rule(pattern = ["a"], pattern = ["b"])', /^1:30: pattern is given twice/],
    ['prefix_rule(pattern = ["a"], "prompt")', /^1:30: a positional argument follows a named one/],
    ['prefix_rule(["a"], "prompt", [], [], "j", "x")', /^1:43: prefix_rule takes at most 5 arguments/],
    ['prefix_rule(["a"], pattern = ["b"])', /^1:20: pattern is given twice/],
    ['prefix_rule(["\\x7"])', /^1:14: an escape in this string does not stand for a character/],
    ['prefix_rule(["\\U00110000"])', /does not stand for a character/],
    ['prefix_rule(["a"] * 2)', /^1:19: "\*" is repetition/],
    ['prefix_rule(["%s" % "a"])', /^1:19: "%" is formatting/],
    ['prefix_rule(["{}".format("a")])', /"\." is a method/],
    ['prefix_rule([f"a"])', /an f-string/],
    ['prefix_rule([A[0]])', /"\[" is an index/],
    ['A = {"a": "b"}', /"\{" is a dictionary/],
    ['if True:\n  pass', /"if" is a part of Starlark/],
    ['f = lambda x: x', /"lambda" is a part of Starlark/],
    ['A += ["x"]', /^1:1: A has no value/],
    ['\n\nprefix_rule(pattern = ["git", "push"], match = ["git pull"])', /^3:49: the rule does not match its example/],
    ['prefix_rule(pattern = ["git"], not_match = ["git pull"])', /^1:45: the rule matches "git pull"/],
    ['def f():\n  return 1', /^1:1: "def" is a part of Starlark that is not supported here/],
    ['X = [a for a in ["b"]]', /^1:8: "for" is a part of Starlark/],
    ['load("x", "y")', /^1:1: "load" is a part of Starlark/],
    ['allow_everything()', /^1:1: allow_everything is not a kind of rule/],
    ['prefix_rule(pattern = ["a]', /^1:24: a string is not closed/],
    ['prefix_rule(pattern = ["a"]', /the file ends in the middle of a rule/],
    ['prefix_rule(pattern = [A])', /^1:24: A has no value/],
    ['A = ["x"] + "y"', /a string and a list can't be joined with/],
    ['network_rule(host = "https://x.y", protocol = "https", decision = "allow")', /^1:21: .* is not a single host/],
    ['network_rule(host = "*.x.y", protocol = "https", decision = "allow")', /is not a single host/],
    ['host_executable(name = "git", paths = ["bin/git"])', /^1:40: "bin\/git" is not an absolute path/],
    ['host_executable(name = "git", paths = ["/usr/bin/hub"])', /is not a path to git/],
    ['A = 5', /^1:5: "5" is not allowed here/],
    ['prefix_rule(pattern = ["a", 💥])', /"💥" is not allowed here/],
    ['prefix_rule(pattern = ["a"], decision = None)', /^1:41: "None" is a part of Starlark/],
    ['prefix_rule(pattern = ["a"], justification = "  ")', /this is empty/],
  ])('with a fault is refused with place and reason: %s', (text, message) => {
    expect(errorOf(text)).toMatch(message)
  })

  test('that doubles a list repeatedly is refused instead of hanging', () => {
    const doubling = Array.from({ length: 60 }, (_, at) => `A${at + 1} = A${at} + A${at}`).join('\n')
    expect(errorOf(`A0 = ["x", "y"]\n${doubling}`)).toMatch(/creates too many values/)
  })

  test('with ten thousand brackets is refused instead of exhausting the parser', () => {
    expect(errorOf(`A = ${'['.repeat(10_000)}`)).toMatch(/nested too deeply/)
  })

  test('that is missing or not UTF-8 stops the run', () => {
    expect(() => loadRules([{ path: join(folder, 'none.rules'), layer: 'user' }])).toThrow(RuleError)
    const latin = join(folder, 'latin.rules')
    writeFileSync(latin, Buffer.from([0x23, 0xe9, 0x0a]))
    expect(() => loadRules([{ path: latin, layer: 'user' }])).toThrow(/not UTF-8/)
  })
})

describe('several rules', () => {
  test('the strictest rule wins in any order of files and lines', () => {
    const rules = 'prefix_rule(pattern=["git","push"], decision="forbidden")\nprefix_rule(pattern=["git"])'
    expect(decide('git push', { rules })).toBe('deny')
    expect(decide('git commit', { rules })).toBe('allow')
    const reversed = rules.split('\n').toReversed().join('\n')
    expect(decide('git push', { rules: reversed })).toBe('deny')
  })

  test('prompt asks even if the mode would allow', () => {
    const rules = 'prefix_rule(pattern=["ls"], decision="prompt")'
    expect(decide('ls', { rules, mode: 'on-request' })).toBe('ask')
    expect(decide('ls', { rules, mode: 'bypass' })).toBe('ask')
  })
})

test('the default rules that are bundled as data match their text', () => {
  const read = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])
  expect(loadRules([shippedRules()])).toEqual(read)
  expect(loadRules([JSON.parse(JSON.stringify(shippedRules())) as ReturnType<typeof shippedRules>])).toEqual(read)
})
