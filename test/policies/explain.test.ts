import { describe, expect, test } from 'vitest'
import { checkCommand, explainCommand, findIdleRules, loadRules, type CheckOptions } from '../../policies/index.ts'

const untrusted: CheckOptions = { approvalMode: 'untrusted', sandbox: 'workspace-write' }
const rulesOf = (text: string) => loadRules([{ path: 'r.rules', layer: 'user', text }])

/** The paragraphs of the explanation of a command. */
const explained = (command: string | readonly string[], options: Partial<CheckOptions> = {}): readonly string[] =>
  explainCommand(command, { ...untrusted, ...options })
    .trimEnd()
    .split('\n\n')

describe('an explanation', () => {
  test('has a paragraph for each command: what it does, what decides, how to allow it', () => {
    expect(explained('ls -la; npm test')).toEqual([
      'ls -la; npm test',
      'The line runs 2 commands. In approval mode untrusted with the sandbox workspace-write: it would need approval, and would be refused if nobody answers. `npm test`: npm runs code.',
      '1. `ls -la` only reads. It is allowed because of what it does.',
      '2. `npm test` runs unknown code: npm runs code. It needs approval because of what it does. ' +
        'To let it run without approval, put this into a rule file: prefix_rule(pattern = ["npm", "test"], decision = "allow"). ' +
        'Or have somebody answer (a person at the terminal, --approval-program, --approve-for-me).',
    ])
  })

  test('names the rule that decides, and where to change it', () => {
    const rules = rulesOf('prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Ask Ann.")')
    const [, whole, part] = explained('git -C . push', { rules })
    expect(whole).toContain('it would be refused. Ask Ann. (r.rules:1 forbidden git push)')
    expect(part).toContain('because of a rule (r.rules:1 forbidden git push).')
    expect(part).toContain('To change the decision, change the rule r.rules:1 forbidden git push.')
  })

  test.each(['python3 -c 1', 'touch a > b', 'cat ~/.aws/credentials', '$x y'])(
    'offers no rule for %s that would allow more, or less',
    (line) => {
      expect(explained(line)[2]).toContain('No rule should allow it permanently')
    },
  )

  test('says when the analysis is incomplete', () => {
    expect(explained('ls; if')[1]).toContain("The analysis can't determine everything that the line runs")
  })

  test.each(['', '  ', '# only a comment'])('of %j says that nothing runs, and so does a check', (line) => {
    expect(explained(line).at(-1)).toBe('The line contains no commands, so nothing runs.')
    expect(checkCommand(line, untrusted)).toMatchObject({
      decision: 'allow',
      commands: [],
      reason: 'The line contains no commands, so nothing runs.',
    })
  })

  test('can’t be overwritten on the terminal by the command', () => {
    expect(explainCommand("rm -r a; echo '\u001b[2K\u202e'", untrusted)).not.toMatch(/[\u001b\u202e]/)
  })

  test('of an argument vector uses its words unchanged', () => {
    expect(explained(['ls', '-la'])[2]).toBe('1. `ls -la` only reads. It is allowed because of what it does.')
  })
})

describe('a rule that no command can match is named', () => {
  test.each([
    ['prefix_rule(pattern = ["git push"], decision = "forbidden")', "no program's name contains white space"],
    [
      'prefix_rule(pattern = [["git push", "git pull"]], decision = "prompt")',
      "no program's name contains white space",
    ],
    ['prefix_rule(pattern = ["FOO=1", "make"], decision = "allow")', 'assignments do not count as words of a command'],
    ['prefix_rule(pattern = ["a", "&&", "b"], decision = "forbidden")', 'none of them contains the word &&'],
    ['prefix_rule(pattern = ["a", ">", "b"], decision = "allow")', 'none of them contains the word >'],
    ['prefix_rule(pattern = ["/usr/bin/git", "push"], decision = "allow")', 'list the path with host_executable'],
    ['host_executable(name = "git", paths = ["/usr/bin/git"])', 'no rule names git'],
  ])('%s', (text, words) => {
    expect(findIdleRules(rulesOf(text))).toMatchObject([
      { path: 'r.rules', line: 1, message: expect.stringContaining(words) },
    ])
  })

  test.each([
    'prefix_rule(pattern = ["git", "push"], decision = "forbidden")',
    'prefix_rule(pattern = ["/usr/bin/git", "push"], decision = "forbidden")',
    'prefix_rule(pattern = ["git", "log"], decision = "allow")\nhost_executable(name = "git", paths = ["/usr/bin/git"])',
    'prefix_rule(pattern = ["echo", [">", "x"]], decision = "allow")',
  ])('and one that can is not: %s', (text) => {
    expect(findIdleRules(rulesOf(text))).toEqual([])
  })
})
