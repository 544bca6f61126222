import { describe, expect, test } from 'vitest'
import { decide } from './decisions.ts'

describe('a variable is known if it was certainly assigned before, in the same shell', () => {
  test.each([
    'n=a; find . -name $n',
    'n=a; n=b; find . -name $n',
    '[ -f x ] && n=a && find . -name $n',
    'n=a; [ -f x ] && n=b; find . -name $n',
    'if [ -f x ]; then n=a; else n=b; fi; find . -name $n',
    'if [ -f x ]; then n=a; elif [ -f y ]; then n=c; else n=b; fi; find . -name $n',
    'if [ -f x ]; then n=a; find . -name $n; fi',
    'case x in a) n=a ;; *) n=b ;; esac; find . -name $n',
    'for n in a b; do find . -name $n; done',
    'while read -r l; do n=a; find . -name $n; done < f',
    '(n=a; find . -name $n)',
    '{ n=a; }; find . -name $n',
    'n=a; (find . -name $n)',
    'n=a; find . -name $n | head',
    'f() { local n=a; find . -name $n; }; f',
    'n=a; f() { find . -name $n; }; f',
    'export n=a; find . -name $n',
    'i=$((i+1)); echo $i',
    'i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done; echo $i',
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
  })

  test.each([
    'n=a & find . -name $n',
    '{ n=a; } & find . -name $n',
    'n=a | find . -name $n',
    'n=a |& find . -name $n',
    '(n=a); find . -name $n',
    'echo $(n=a); find . -name $n',
    'cat <(n=a); find . -name $n',
    'f() { n=a; }; find . -name $n',
    'f() { n=a; }; f; find . -name $n',
    '[ -f x ] && n=a; find . -name $n',
    '[ -f x ] || n=a; find . -name $n',
    '[ -f x ] || n=a && find . -name $n',
    '[ -f x ] && n=a || find . -name $n',
    'if [ -f x ]; then n=a; fi; find . -name $n',
    'if [ -f x ]; then n=a; elif [ -f y ]; then n=c; fi; find . -name $n',
    'if [ -f x ]; then n=a; else m=b; fi; find . -name $n',
    'case x in a) n=a ;; b) n=b ;; esac; find . -name $n',
    'for n in *; do :; done; find . -name $n',
    'for x in *; do n=a; done; find . -name $n',
    'while false; do n=a; done; find . -name $n',
    'while n=a; false; do :; done; find . -name $n',
    'find . -name $n; n=a',
    'n=a > f/g; find . -name $n',
    '{ n=a; } < f; find . -name $n',
    'local n=a; find . -name $n',
    'echo ${x:-$((n=1))}; find . -name $n',
    '(( x && (n=1) )); find . -name $n',
    '_=-r; : -oq; sort $_ f',
    'PWD=a; cd d; sort "$PWD"',
    'N=1 & echo $((N+1))',
  ])('and not otherwise: %s', (line) => {
    expect(decide(line)).toBe('ask')
  })
})
