import { execa } from 'execa'
import process from 'node:process'
import { expect, test } from 'vitest'
import { hidingBubblewrap, needsBubblewrap } from '../support/needs.ts'

const root = new URL('../../', import.meta.url).pathname

test.skipIf(needsBubblewrap())(
  'a demo without bubblewrap says in one line what to install, and does nothing',
  async () => {
    const demo = [...hidingBubblewrap, process.execPath, 'fixtures/demo/demo.ts'] as const
    const { exitCode, stdout, stderr } = await execa({ cwd: root, reject: false })`${demo}`
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toMatch(/^[^\n]*bwrap[^\n]*[Ii]nstall[^\n]*bubblewrap[^\n]*$/)
  },
)
