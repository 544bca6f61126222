import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { terminalProgram } from '../../sandbox/terminal/terminal-program.ts'

test('the terminal program for each processor is the one that was tested on it', () => {
  const digest = (architecture: 'x64' | 'arm64'): string =>
    createHash('sha256').update(terminalProgram(architecture, 7)).digest('hex')
  expect({ x64: digest('x64'), arm64: digest('arm64') }).toMatchInlineSnapshot(`
    {
      "arm64": "de2341de5dfee95a68ffdeee49d73c7adccd371ac0cdb8c3107d84f796fa4972",
      "x64": "255fa32c482748ee6c6b6ad232d3cc772451f773f145ddc964ad71672b15dcd2",
    }
  `)
})
