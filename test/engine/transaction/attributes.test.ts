import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'
import { cmd, onOverlay, reportOf, whyNoOverlay } from './overlay-runs.ts'

const lines = (first: string, last: string, end = '\n'): string => [first, '2', '3', '4', '5', last, ''].join(end)

type Sides = {
  /** The content of `.gitattributes`, and a script that configures git. */
  readonly attributes: string
  readonly setup?: string
  /** The content of the file `a.txt` in the work tree before the run. */
  readonly file?: string
  readonly ours?: string
  /** What somebody does in the tree while the run works. */
  readonly theirs?: (cwd: string) => void
}

/** Performs a run in a repository with one file, which both the run and somebody else change. */
async function bothChange(
  how: 'copy' | 'overlay',
  {
    attributes,
    setup = 'true',
    file = lines('1', '6'),
    ours = 'sed -i s/1/one/ a.txt',
    theirs = (cwd) => writeFileSync(join(cwd, 'a.txt'), file.replace('6', 'six')),
  }: Sides,
) {
  const base = tempDir()
  const [cwd, home] = [join(base, 'tree'), join(base, 'home')]
  for (const directory of [cwd, home]) mkdirSync(directory)
  writeFileSync(join(cwd, 'a.txt'), file)
  if (attributes !== '') writeFileSync(join(cwd, '.gitattributes'), attributes)
  const script = `git init -q && ${setup} && touch -d 2020-01-01 a.txt .gitattributes && git add . && git -c user.name=x -c user.email=x@x commit -qm first`
  execFileSync('sh', ['-c', script], { cwd })
  const ended = await exec(
    (index) => {
      if (index === 1) theirs(cwd)
      return index === 0 ? cmd(ours) : [say('done')]
    },
    ['--json', `--view=${how}`, 'x'],
    { cwd, home },
  )
  const report = reportOf(ended)
  const [conflict] = report?.conflicts ?? []
  return { outcome: report?.outcome, why: conflict?.why, content: readFileSync(join(cwd, 'a.txt'), 'utf8') }
}

const strategies = [
  { how: 'copy', test: testUnless(whyNoBubblewrap()) },
  { how: 'overlay', test: testUnless(whyNoBubblewrap() ?? whyNoOverlay()) },
] as const

describe.each(strategies)('a file that somebody else changes during a run ($how)', ({ how, test: it }) => {
  it.each([
    ['* text eol=crlf', '\r\n'],
    ['* text eol=lf', '\n'],
    ['* text=auto', '\n'],
    ['* -text', '\r\n'],
    ['*.txt merge', '\n'],
    ['*.txt merge=union', '\n'],
  ])('is merged with the line endings that it has in the work tree: %s', async (attributes, end) => {
    expect(await bothChange(how, { attributes, file: lines('1', '6', end) })).toEqual({
      outcome: 'landed',
      why: undefined,
      content: lines('one', 'six', end),
    })
  })

  it('is not merged if git has converted only some of its line endings, so that its earlier content is unknown', async () => {
    const file = `1\r\n2\n3\r\n4\n5\n6\n`
    expect(await bothChange(how, { attributes: '* text', file })).toEqual({
      outcome: 'conflict',
      why: 'someone else changed it, and its content before or after the run is unknown',
      content: file.replace('6', 'six'),
    })
  })

  // This filter doesn't change the size of the file.
  const rot13 = `for how in clean smudge; do git config filter.rot.$how 'tr a-zA-Z n-za-mN-ZA-M'; done`
  it.each([
    ['filter=rot', rot13],
    ['ident', 'true'],
    ['working-tree-encoding=ISO-8859-1', 'true'],
  ])('is not merged if its git object has other bytes than the file in the work tree: %s', async (attribute, setup) => {
    // In the git object, the first line already has the text that the run writes. If the object were the base of the merge, the run's change would be lost silently.
    const [file, ours] = [lines('first', '6'), 'sed -i s/first/svefg/ a.txt']
    expect(await bothChange(how, { attributes: `*.txt ${attribute}\n`, setup, file, ours })).toEqual({
      outcome: 'conflict',
      why: 'someone else changed it, and its content before or after the run is unknown',
      content: lines('first', 'six'),
    })
  })

  it.each([
    ['-merge', '-merge'],
    ['binary', '-merge'],
    ['merge=ours', 'merge=ours'],
  ])('is not merged if its attributes forbid that: %s', async (attribute, named) => {
    expect(await bothChange(how, { attributes: `a.txt ${attribute}\n` })).toEqual({
      outcome: 'conflict',
      why: `someone else changed it too, and its git attribute ${named} forbids merging it line by line`,
      content: lines('1', 'six'),
    })
  })

  it('is not merged if the run has changed the attributes', async () => {
    const ours = 'sed -i s/1/one/ a.txt; echo > .gitattributes'
    expect(await bothChange(how, { attributes: 'a.txt -merge\n', ours })).toMatchObject({ outcome: 'conflict' })
  })

  it('is not merged if somebody else has changed the attributes', async () => {
    const theirs = (cwd: string): void => {
      writeFileSync(join(cwd, 'a.txt'), lines('1', 'six'))
      writeFileSync(join(cwd, '.gitattributes'), 'a.txt -merge\n')
    }
    expect(await bothChange(how, { attributes: '', setup: 'touch .gitattributes', theirs })).toMatchObject({
      outcome: 'conflict',
      content: lines('1', 'six'),
    })
  })

  it('causes no conflict, whatever its attributes are, if both sides have the same result', async () => {
    const theirs = (cwd: string): void => writeFileSync(join(cwd, 'a.txt'), lines('one', '6'))
    expect(await bothChange(how, { attributes: 'a.txt binary\n', theirs })).toMatchObject({
      outcome: 'nothing',
      content: lines('one', '6'),
    })
  })

  it('is not merged if its attributes changed between the run and a later agent apply', async () => {
    const base = tempDir()
    const [cwd, home] = [join(base, 'tree'), join(base, 'home')]
    for (const directory of [cwd, home]) mkdirSync(directory)
    writeFileSync(join(cwd, 'a.txt'), lines('1', '6'))
    execFileSync('git', ['init', '-q', cwd])
    await onOverlay(cwd, [cmd('sed -i s/1/one/ a.txt')], { home, how, args: ['--land', 'never'] })
    writeFileSync(join(cwd, 'a.txt'), lines('1', 'six'))
    writeFileSync(join(cwd, '.gitattributes'), 'a.txt -merge\n')
    const { code, stderr } = await agent(['apply', '--last'], { cwd, home })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the git attributes that apply to it have changed since'),
    ])
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe(lines('1', 'six'))
  })
})
