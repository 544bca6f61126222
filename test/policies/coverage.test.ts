import { describe, expect, test } from 'vitest'
import { analyseScript } from '../../policies/index.ts'
import { scanShell } from '../../policies/commands/tokens/scan-shell.ts'
import { decide } from './decisions.ts'

/** Checks that a line is asked about in `untrusted`, the mode that asks about unknown commands. */
const isAsked = (line: string): void => expect([line, decide(line)]).toEqual([line, 'ask'])

describe('every byte of a line belongs to something that was analysed', () => {
  test.each([
    'echo 1<(touch q)',
    'ls 2>(tee q)',
    '[[ 1<(touch q) ]]',
    'for i in 1<(touch q); do :; done',
    'echo {a}<(touch q)',
    'cat a<(touch q)b',
  ])('a process substitution is seen behind other characters: %j', isAsked)

  test.each(['echo <(true)#; touch q', 'true >(true)#;touch q', 'diff <(sort a)#b <(sort c); rm a c'])(
    'what follows a process substitution is no comment: %j',
    isAsked,
  )

  test.each(['a=($(touch q))x', 'a=(1)`touch q`', 'a=(1)"$(touch q)"', "x='b[$(touch q)]'; a+=([x]=1)"])(
    'what touches an array, and its subscripts, are not harmless: %j',
    isAsked,
  )

  test.each(['echo $\\\n${x//; touch q #}', 'echo "$x\\\ny"', 'echo ${x\\\n:-$(touch q)}', 'ls &\\\n& touch q'])(
    'a line that is continued within an expansion or an operator: %j',
    isAsked,
  )

  test.each([
    "bash <<-'A'\n\tcat <<'B'\n\tB\n\ttouch q\nB\n\tA\n",
    'bash <<EOF\necho "\\\\\\"; touch q #"\nEOF\n',
    "cat <<E\n${x:-'$(touch q)'}\nE\n",
    'cat <<E\n\\\nE\n$(touch q)\nE\n',
  ])('a heredoc is read as the shell reads it: %j', isAsked)

  test('the tokenizer and the syntax tree find the same words in a line with all kinds of syntax', () => {
    const line =
      'a=1 b=(x "y z") ; time -p ! { [[ -f "$a" && $b =~ ^(x|y)$ ]] || case $a in (1|2) ls ${a%.*} ;; *) (( a > 1 )) ;; esac; } 2>&1 | while read -r l; do echo "$(git log -1 | head) `date`" > /dev/null; done <<E # end\n$a $(ls)\nE\nf() { echo $((1 + 2)); }; f'
    expect(analyseScript(line).problems).toEqual([])
  })
})

test.each([
  ['sh', 'ls &> f'],
  ['sh', 'cat <(ls)'],
  ['sh', "echo $'a'"],
  ['sh', 'a=(1)'],
  ['sh', '[[ a ]]'],
  ['sh', 'echo ${x//a/b}'],
  ['bash', 'echo $[1]'],
  ['bash', 'echo $"a"'],
  ['bash', 'echo @(a|b)'],
  ['bash', 'coproc ls'],
  ['bash', 'cat <<"E$x"\nE$x\n'],
] as const)('what %s reads in its own way is refused: %j', (shell, text) => {
  expect(scanShell(text, shell)).toMatchObject({ ok: false })
})

describe('a function only affects commands that are proven to come after it', () => {
  test.each([
    'touch q; touch(){ :; }',
    'rm(){ :; }; env rm x',
    'touch(){ :; }; command touch q',
    '(rm(){ :; }); rm x',
    'false && rm(){ :; }; rm x',
    'f(){ f | f & }; f',
    'f; f(){ ls; }',
    'if true; then f(){ ls; }; fi; f',
    'f(){ ls; }; unset f; f',
    'f(){ ls; } & f',
  ])('%j', isAsked)

  test('a function without arguments that is called after its definition is judged by its commands', () => {
    expect(decide('count() { grep -c "$1" README.md; }; for f in a b; do count "$f"; done | sort')).toBe('allow')
    isAsked('make_it() { touch q; }; make_it')
  })
})

describe('a variable is assigned by its literal name, or the line is unknown', () => {
  test.each([
    'x=-r; n=x; declare $n=-oq; sort $x f',
    'x=-r; n=x; read $n <<< -oq; sort $x f',
    'x=-r; export {x,y}=-oq; sort $x f',
    "v='a PATH=.'; \\export x=$v; ls",
    "v='a PATH=.'; command export x=$v; ls",
    "v='a PATH=.'; builtin export x=$v; ls",
    'for PATH in .; do ls; done',
    '((PATH = 1)); ls',
    'read PATH <<< .; ls',
  ])('%j', isAsked)

  test.each(["OPTIND='a[$(touch q)]'", "RANDOM='a[$(touch q)]'", "for SECONDS in 'a[$(touch q)]'; do :; done"])(
    'an integer variable evaluates what it is given: %j',
    isAsked,
  )

  test('a number in one is harmless', () => expect(decide('OPTIND=1; SECONDS=0; ls')).toBe('allow'))
})

describe('names that come from the repository are split like in the shell', () => {
  test.each([
    'for f in src/*.txt; do sort $f; done',
    'for f in src/*.txt; do sed -n 1p $f; done',
    "find . -name '*.ts' | xargs sort",
    // Files such as secrets.txt match the pattern too.
    "find . -name '*.txt' -print0 | xargs -0 sort",
    "find . -name '*.ts' | xargs -I{} sed -n 1p {}",
    'cd build && find *',
    'sort a$(cat list)',
  ])('%j', isAsked)

  test.each([
    'for f in src/*.txt; do sort "$f"; done',
    'for f in src/*.txt; do wc -l $f; done',
    "find . -name '*.ts' -print0 | xargs -0 sort",
    'wc -l $(git ls-files)',
    'cat "$(git rev-parse --show-toplevel)/package.json"',
  ])('where nothing can come of it, it is allowed: %j', (line) => expect(decide(line)).toBe('allow'))
})

test('a pattern with exponential cost elsewhere is judged at once', () => {
  const pattern = `${'(.*)*'.repeat(20)}!`
  expect(decide(`find . | grep '${pattern}' | xargs cat`)).toBe('allow')
  isAsked(`find . | grep '${pattern.replace('!', '')}' | xargs cat`)
})

test('an expression of thousands of operators is unknown, and causes no error', () => {
  isAsked(`echo $((${'1+'.repeat(30_000)}1))`)
})
