import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { makeCase, runProgram } from '../apply-patch/case-tools.ts'
import { testEveryCase } from '../apply-patch/every-case.ts'
import { testUnless } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const release = new URL('../../release/', import.meta.url).pathname
const program = join(release, `apply-patch-${process.platform}-${process.arch}`)
const missing = existsSync(program) ? undefined : 'apply-patch as a single file is not built: run `npm run release`'
const command = [program]

const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n'

/** Makes a folder in which everything that Bun could read tells it to run `planted.js`, which would leave the file `ran` behind. */
function hostileFolder() {
  const preload = 'preload = ["./planted.js"]\n'
  const { cwd } = makeCase({
    files: {
      'a.txt': 'one\n',
      'planted.js': `require('node:fs').writeFileSync('ran', '')\n`,
      'bunfig.toml': `${preload}[run]\n${preload}`,
      '.env':
        'BUN_OPTIONS=--preload=./planted.js\nNODE_OPTIONS=--require=./planted.js\nXDG_STATE_HOME=./state-of-env\n',
      'package.json': '{ "type": "module", "imports": { "#*": "./planted.js" }, "preload": ["./planted.js"] }\n',
      'tsconfig.json':
        '{ "compilerOptions": { "paths": { "*": ["./planted.js"] }, "jsxImportSource": "./planted.js" } }\n',
      'node_modules/commander/index.js': `require('node:fs').writeFileSync('ran', '')\n`,
    },
  })
  return cwd
}

describe.skipIf(missing !== undefined)('apply-patch as a single file', () => {
  testEveryCase(command)

  test.each<Readonly<Record<string, string>>>([
    {},
    { BUN_OPTIONS: '--preload=./planted.js' },
    { BUN_OPTIONS: '--version' },
    { BUN_BE_BUN: '1' },
    { BUN_CONFIG_FILE: './bunfig.toml' },
    { BUN_INSPECT_PRELOAD: './planted.js' },
    { NODE_OPTIONS: '--require=./planted.js' },
  ])('in a hostile folder and with the environment %o, it runs no code but its own', (env) => {
    for (const args of [[], ['--json']]) {
      const cwd = hostileFolder()
      const { status, stdout, stderr } = runProgram(cwd, patch, { command, args, env })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toMatch(args.length === 0 ? /^Success\. Updated the following files:\nM a\.txt\n$/ : /^\{/)
      expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
      for (const name of ['ran', 'state-of-env']) expect(existsSync(join(cwd, name))).toBe(false)
    }
  })

  test('opens no socket for a debugger', async () => {
    const folder = tempDir()
    const socket = join(folder, 'socket')
    const env = { BUN_INSPECT: `ws+unix://${socket}`, XDG_STATE_HOME: folder }
    // It waits for a patch.
    const child = spawn(program, { cwd: folder, env, stdio: ['pipe', 'ignore', 'inherit'] })
    await setTimeout(1000)
    expect(existsSync(socket)).toBe(false)
    expect(child.exitCode).toBe(null)
    child.kill()
  })

  test('has the version of the package, and the help and the refusals of the program on Node', () => {
    const cwd = tempDir()
    const places = [[], ['--version'], ['--help'], ['undo'], ['--no-such-option'], ['a', 'b'], ['']]
    for (const args of places)
      expect(runProgram(cwd, '', { command, args }), args.join(' ')).toEqual(runProgram(cwd, '', { args }))
  })

  test('reads its arguments as the program on Node does', () => {
    const shell = (start: string): unknown => {
      const cwd = tempDir({ 'a.txt': 'one\n' })
      return runProgram(cwd, '', { command: ['sh', '-c', `${start} "$(printf '\\377')" --check`] })
    }
    const node = `'${process.execPath}' '${new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname}'`
    expect(shell(`'${program}'`)).toEqual(shell(node))
  })
})

const formats = {
  'linux-x64': { magic: '7f454c46', at: 18, machine: 62, bytes: 2 },
  'linux-arm64': { magic: '7f454c46', at: 18, machine: 183, bytes: 2 },
  'darwin-x64': { magic: 'cffaedfe', at: 4, machine: 0x01000007, bytes: 4 },
  'darwin-arm64': { magic: 'cffaedfe', at: 4, machine: 0x0100000c, bytes: 4 },
} as const

testUnless(missing).each(Object.entries(formats))('the file for %s is a program for that system', (system, format) => {
  const start = readFileSync(join(release, `apply-patch-${system}`)).subarray(0, 32)
  expect(start.toString('hex', 0, 4)).toBe(format.magic)
  expect(start.readUIntLE(format.at, format.bytes)).toBe(format.machine)
})
