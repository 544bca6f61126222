import { reader } from './judges.ts'
import type { ProgramTable } from './program.ts'

export const readers: ProgramTable = {
  true: reader('true(1)', '', { operands: 'text' }),
  false: reader('false(1)', '', { operands: 'text' }),
  echo: reader('bash(1), echo', '-n -e -E', { operands: 'text', anyWord: true }),
  ls: reader('ls(1)', '-a -A -l -h -1 -R -t -r -S -d -F -i -s --all --color?', { anyWord: true }),
  cat: reader('cat(1)', '-A -b -e -E -n -s -t -T -u -v', { anyWord: true }),
  pwd: reader('bash(1), pwd', '-L -P', { operands: 'none' }),
  cd: reader('bash(1), cd', '-L -P'),
}
