import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { rulesIn } from '../../../engine/config/policy-files.ts'
import type { LeftOut } from '../../../policies/index.ts'
import { tempDir } from '../../support/temp-dir.ts'

test.skipIf(process.platform !== 'linux')(
  'a rule file whose name is not UTF-8 is never mixed up with another one',
  () => {
    const folder = tempDir({ 'rules/r\ufffd.rules': '', 'rules/a.rules': '' })
    const directory = join(folder, 'rules')
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/r`), Buffer.of(0xe4), Buffer.from('.rules')]), '')
    expect(() => rulesIn(folder, 'user')).toThrow(/\/rules: the name of the rule file .* is not UTF-8; rename the file/)
    const leftOut: LeftOut[] = []
    const found = rulesIn(folder, 'project', leftOut)
    expect(found.map(({ path }) => path)).toEqual([join(directory, 'a.rules'), join(directory, 'r\ufffd.rules')])
    expect(leftOut).toMatchObject([{ path: directory, why: expect.stringContaining('is not UTF-8') }])
  },
)
