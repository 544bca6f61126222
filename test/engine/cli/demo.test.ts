import { execa } from 'execa'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { expect, test } from 'vitest'
import { testUnlessOnCi, whyNoBubblewrap } from '../../support/needs.ts'

const root = new URL('../../../', import.meta.url).pathname

testUnlessOnCi(whyNoBubblewrap())(
  'the picture of a run in the engine’s README is what the demo prints, and it leaves a report',
  async () => {
    const { exitCode, stdout, stderr } = await execa({
      cwd: root,
      reject: false,
    })`${process.execPath} fixtures/demo/demo.ts`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /OPENAI_API_KEY=.*ANTHROPIC_API_KEY.*\n {2}node dist\/bin\/agent\.js exec -C .* "make the tests pass"$/,
    )

    const page = readFileSync(`${root}demo-report.html`, 'utf8')
    expect(page).toContain('What needs attention')
    expect(page).toContain('demo.rules:2 forbidden git push')

    const [, picture = ''] = /```text\n([^]*?)```/.exec(readFileSync(`${root}engine/README.md`, 'utf8')) ?? []
    const shown = linesOf(picture)
    const printed = linesOf(stderr)
    expect(shown).not.toEqual([])
    // The picture may leave out lines, but must not change them or their order.
    let at = 0
    const invented = shown.filter((line) => {
      const found = printed.indexOf(line, at)
      if (found >= 0) at = found + 1
      return found < 0
    })
    expect(invented).toEqual([])
  },
)

test('the README shows the report of the demo as a picture that exists', () => {
  const [, path = ''] = /!\[[^\]]+\]\(([^)]+\.png)\)/.exec(readFileSync(`${root}README.md`, 'utf8')) ?? []
  expect(
    readFileSync(root + path)
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
})

test('the two commands are at the top of the README', () => {
  const [, commands = ''] = /## Two commands\n\n```sh\n([^]*?)```/.exec(readFileSync(`${root}README.md`, 'utf8')) ?? []
  expect(commands.split('\n').map((line) => line.split('#')[0]?.trim())).toEqual([
    'npm ci && npm run demo',
    'npm ci && npm test',
    '',
  ])
})

/** Lines without the parts that vary: times, ids, and the paths of the demo and this clone. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replaceAll(/\d+\.\d s/g, 'N s')
        .replaceAll(/[\w/.-]*\/portcullis-demo-\w+\/home/g, '~')
        .replaceAll(/[\w/.-]*\/portcullis-demo-\w+\//g, '')
        .replaceAll(/replay:\S*\/conversation/g, 'replay:conversation')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
        // This is the end of the session's id, and the rest of the command, which may name a directory.
        .replace(/resume [0-9a-f]{12}.*/, 'resume ID'),
    )
}
