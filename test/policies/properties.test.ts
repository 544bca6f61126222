import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkCommand } from '../../policies/index.ts'
import { decide } from './decisions.ts'
import { tries } from '../support/tries.ts'

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const double = (text: string): string => `"${text.replace(/["\\$`]/g, '\\$&')}"`

/** Ways to embed a command in a longer command line that still runs the command. */
const wrappers: Readonly<Record<string, (line: string) => string>> = {
  'sh -c': (line) => `sh -c ${single(line)}`,
  'bash -lc, double quotes': (line) => `bash -lc ${double(line)}`,
  'bash -euo pipefail -c': (line) => `bash -euo pipefail -c ${single(line)}`,
  substitution: (line) => `echo "$(${line}\n)"`,
  backticks: (line) => (/[`\\]/.test(line) ? `echo $(${line}\n)` : `echo \`${line}\n\``),
  'process substitution': (line) => `cat <(${line}\n)`,
  default: (line) => `echo "\${unset_one:-$(${line}\n)}"`,
  subshell: (line) => `(${line}\n)`,
  group: (line) => `{ ${line}\n}`,
  'after another': (line) => `ls && ${line}`,
  'before another': (line) => `${line}\nls`,
  'in the background': (line) => `{ ${line}\n} & wait`,
  piped: (line) => `ls | { ${line}\n} | head`,
  redirected: (line) => `{ ${line}\n} > /dev/null 2>&1`,
  condition: (line) => `if ${line}\nthen ls; fi`,
  'else branch': (line) => `if false; then ls; else ${line}\nfi`,
  loop: (line) => `for i in 1 2; do ${line}\ndone`,
  'while loop': (line) => `while ${line}\ndo break; done`,
  case: (line) => `case a in *) ${line}\n;; esac`,
  function: (line) => `f() { ${line}\n}; f`,
  negated: (line) => `! { ${line}\n}`,
  timed: (line) => `time { ${line}\n}`,
  'env in front of a shell': (line) => `env LC_ALL=C bash -c ${single(line)}`,
  'timeout, nice, nohup': (line) => `timeout 9 nice -n 3 nohup bash -c ${single(line)}`,
  'heredoc to a shell': (line) => `bash <<'END_OF_TEXT'\n${line}\nEND_OF_TEXT`,
  'here-string to a shell': (line) => `bash <<< ${single(line)}`,
  'pipe to a shell': (line) => `printf '%s\\n' ${single(line)} | bash`,
  'heredoc that expands': (line) => `cat <<END_OF_TEXT\n$(${line}\n)\nEND_OF_TEXT`,
  eval: (line) => `eval ${single(line)}`,
  trap: (line) => `trap ${single(line)} EXIT`,
  xargs: (line) => `echo | xargs bash -c ${single(line)}`,
  'find -exec': (line) => `find . -maxdepth 0 -exec bash -c ${single(line)} \\;`,
  'harmless assignment': (line) => `x=1; ${line}`,
  comment: (line) => `# nothing to see\n${line}`,
  'odd spaces around': (line) => `: "\u2003\u3000"; ${line}`,
}

/** Spellings of `git push`. */
const spellings = [
  ...[
    'git push',
    'g\\it pu""sh',
    "'git' push",
    '"git" "push"',
    'git \\\n push',
    '/usr/bin/git push',
    'command git push',
  ],
  ...['env git push', 'X=1 git push', 'git -C . push', 'git --no-pager push', 'git -c a.b=1 push', "$'git' push"],
  ...[
    'c=git; $c push',
    'git push > /dev/null',
    'exec git push',
    'nohup git push',
    'git\tpush',
    'builtin command git push',
  ],
]

/** Ways in which bash allows one letter to be written. */
const letter = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    text,
    text,
    `\\${text}`,
    `'${text}'`,
    `"${text}"`,
    `""${text}`,
    `$'${text}'`,
    `$'\\x${text.charCodeAt(0).toString(16)}'`,
    `\\\n${text}`,
  )

/** `git push` with each letter written in one of these ways, and with various things before, between and after the words. */
const spelt: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', 'A=1 ', 'A="x y" ', '< /dev/null ', 'command ', 'env ', '! ', 'time ', '\t', '\\\n'),
    fc.tuple(...[...'git'].map(letter)),
    fc.constantFrom(' ', '\t', '  ', ' \\\n', '\\\n ', ' 2>&1 ', ' </dev/null '),
    fc.tuple(...[...'push'].map(letter)),
    fc.constantFrom('', ' origin', '>/dev/null', ' # comment', ';', ' &', ' | cat', ' \u2003'),
  )
  .map(([before, program, between, verb, behind]) => `${before}${program.join('')}${between}${verb.join('')}${behind}`)

const wrapped = (lines: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...lines), fc.array(fc.constantFrom(...Object.keys(wrappers)), { maxLength: 3 }))
    .map(([line, names]) => names.reduce((inner, name) => wrappers[name]?.(inner) ?? inner, line))

describe('a command in any wrapper', () => {
  test('is not allowed in any reviewing mode if a rule forbids it', () => {
    const rules = 'prefix_rule(pattern=["git", "push"], decision="forbidden")'
    fc.assert(
      fc.property(wrapped(spellings), (line) => {
        for (const mode of ['never', 'on-request', 'untrusted', 'bypass'] as const) {
          expect([mode, decide(line, { rules, mode })]).not.toEqual([mode, 'allow'])
        }
      }),
      { numRuns: tries(1_500) },
    )
  })

  test('is not allowed however its letters are quoted, continued or spaced', () => {
    const rules = 'prefix_rule(pattern=["git", "push"], decision="forbidden")'
    fc.assert(
      fc.property(spelt, fc.constantFrom(...Object.keys(wrappers)), (line, name) => {
        for (const text of [line, wrappers[name]?.(line) ?? line])
          expect(decide(text, { rules, mode: 'never' })).not.toBe('allow')
      }),
      { numRuns: tries(3_000) },
    )
  })

  test('is not allowed without a question in untrusted mode if it writes', () => {
    const writing = [
      'touch pwned',
      't""ouch pwned',
      'echo x > pwned',
      'tee pwned',
      'cp a pwned',
      ': > pwned',
      'sed -i s/a/b/ a',
    ]
    fc.assert(
      fc.property(wrapped(writing), (line) => {
        expect(decide(line)).not.toBe('allow')
      }),
      { numRuns: tries(1_500) },
    )
  })

  test('gives the same decision again if it only reads', () => {
    fc.assert(
      fc.property(wrapped(['ls -la', 'git status', 'cat a | head']), (line) => {
        expect(decide(line)).toBe(decide(line))
      }),
      { numRuns: 200 },
    )
  })
})

/** Fragments of command lines. Shells split combinations of them in surprising ways. */
const pieces = [
  ...['echo ', 'ls ', 'cat a ', 'true', 'touch pwned', 'touch pwned', '> pwned', ' ', ' ', ';', '&&', '|', '&', '\n'],
  ...["'", "'", '"', '"', '\\', '`', '$(', ')', '{ ', '}', '; }', '<<E\n', '\nE\n', "<<'E'\n", '#', "$'", "\\'", '$"'],
  ...[
    '((',
    '))',
    '[[ ',
    ' ]]',
    'case x in ',
    'x) ',
    ';;',
    ' esac',
    'for x in a b; do ',
    '; done',
    'if true; then ',
    '; fi',
  ],
  ...[
    'x=',
    'y=touch',
    '$x',
    '$y pwned',
    '${x:-',
    '${x@P}',
    '~',
    '*',
    '! ',
    'f() ',
    'f',
    '$((',
    '1',
    '<(',
    'eval ',
    '\\\n',
  ],
  ...[
    'sh -c ',
    'command ',
    'env ',
    'find . -exec ',
    '\\;',
    '{touch,pwned}',
    '2>&1',
    '<<< ',
    'test -v ',
    'printf %s ',
    '\t',
  ],
]

describe.each(['bash', 'dash'])('against a real %s', (shell) => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'portcullis-shell-'))
    writeFileSync(join(folder, 'a'), 'x\n')
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const missing = spawnSync(shell, ['-c', 'true']).error !== undefined
  if (missing) console.warn(`skipped: ${shell} is not on this machine`)

  test.skipIf(missing && process.env['CI'] !== 'true')('an allowed text changes nothing when it runs', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 12 }), (parts) => {
        const text = parts.join('')
        if (!/touch|pwned|>/.test(text)) return
        if (
          checkCommand([shell, '-c', text], { approvalMode: 'untrusted', sandbox: 'workspace-write' }).decision !==
          'allow'
        )
          return
        spawnSync(shell, ['-c', text], { cwd: folder, timeout: 5_000, stdio: 'ignore' })
        expect(readdirSync(folder)).toEqual(['a'])
      }),
      { numRuns: tries(5_000) },
    )
  })
})

test('any text gets a decision, and none causes an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(['allow', 'ask']).toContain(decide(text))
    }),
    { numRuns: tries(3_000) },
  )
})

test('a program whose name is nested braces is refused', () => {
  expect(checkCommand('{a,'.repeat(10_000), { approvalMode: 'untrusted', sandbox: 'read-only' }).decision).toBe('ask')
})

test.each([
  ['a megabyte', 'a'.repeat(1_000_000)],
  ['deep substitutions', 'echo $('.repeat(8_000)],
  ['deep groups', '('.repeat(60_000)],
  ['many commands', 'ls;'.repeat(20_000)],
  ['nested shells', "sh -c '".repeat(8_000)],
  ['many words', `export ${'a=b '.repeat(15_000)}`],
  ['arithmetic of many operators', `echo $((${'1+'.repeat(30_000)}1))`],
  ['many commands of find', `find . ${'-exec ls {} \\; '.repeat(3_500)}`],
  ['reserved words', 'if '.repeat(20_000)],
  ['stacked wrappers', `${'env '.repeat(15_000)}ls`],
  ['arithmetic of old, nested', '$['.repeat(16_000) + ']'.repeat(16_000)],
  ['heredocs that have no end, where a tokenizer gives up early', `echo $[1]; cat ${'<<E '.repeat(15_000)}\n`],
  ['expansions that have no end', 'echo ' + '"${x:-'.repeat(10_000)],
  ['variables of twice the one before', `a0=x;${doubled(60)};bash -c "$a60"`],
  ['a script that is run again and again', `a='#${'x'.repeat(15_000)}';${'bash -c "$a";'.repeat(480)}`],
])('%s is refused as unknown', (_, line) => {
  expect(checkCommand(line, { approvalMode: 'untrusted', sandbox: 'read-only' })).toMatchObject({
    decision: 'ask',
    class: 'unknown',
  })
})

test.each([
  [
    'more directories than the analysis can follow',
    `${Array.from({ length: 1_000 }, (_, at) => `cd a${at}`).join(';')};cat b`,
  ],
  ['long folders, and many reads', `${`cd ${'a/'.repeat(1_500)};`.repeat(4)}cat ${'b '.repeat(2_000)}`],
  ['a name of many accents', `cat a${'\u0300\u0316'.repeat(30_000)}`],
  ['a path of many folders up', `cat ${'../'.repeat(20_000)}a`],
  [
    'a variable of many values, in many words',
    `${Array.from({ length: 16 }, (_, at) => `a=${at}`).join(';')};cat ${'$a '.repeat(15_000)}`,
  ],
])('%s are asked about, without delay', (_, line) => {
  expect(decide(line)).toBe('ask')
})

/** Assignments to variables. The value of each variable is that of the previous one, twice. */
function doubled(times: number): string {
  return Array.from({ length: times }, (_, at) => `a${at + 1}="$a${at}$a${at}"`).join(';')
}
