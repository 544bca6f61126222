import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'compiled-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Runs `agent sessions list` with these Node flags, and returns the files in the home directory: the compiled code that the program stored. */
function kept(flags: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  spawnSync(process.execPath, [...flags, program, 'sessions', 'list'], { env })
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(home, path)).isFile())
}

describe('compiled code', () => {
  test('comes with the program, so that a run stores none', () => {
    expect(kept([], { HOME: home })).toEqual([])
  })

  // A V8 flag simulates a different version of V8: in both cases, V8 refuses the code that the build compiled.
  test('is stored in the user’s folder, readable only by the user, if V8 refuses the one that came with the program', () => {
    const first = kept(['--no-flush-bytecode'], { HOME: home })
    expect(first).toEqual([expect.stringMatching(/^\.cache\/portcullis\/compiled\/main-sessions-[0-9a-f]{16}-v/)])
    const file = statSync(join(home, first[0] ?? ''))
    expect(file.mode & 0o777).toBe(0o600)
    expect(kept(['--no-flush-bytecode'], { HOME: home })).toEqual(first)
    expect(statSync(join(home, first[0] ?? '')).mtimeMs).toBe(file.mtimeMs)
  })

  test('that was stored is used, although compilers are restricted while a command runs', () => {
    const copy = join(home, 'dist')
    for (const folder of ['bin', 'engine']) {
      cpSync(new URL(`../../../dist/${folder}`, import.meta.url), join(copy, folder), { recursive: true })
    }
    writeFileSync(join(copy, 'engine/sandbox-main.js.cache'), 'not compiled code')
    const cache = join(home, 'cache')
    const keptAt = (): readonly number[] => {
      const env = { HOME: home, XDG_CACHE_HOME: cache }
      expect(spawnSync(process.execPath, [join(copy, 'bin/agent.js'), 'sandbox', '--help'], { env }).status).toBe(0)
      const folder = join(cache, 'portcullis/compiled')
      return readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs)
    }
    const first = keptAt()
    expect(first).toHaveLength(1)
    expect(keptAt()).toEqual(first)
  })

  test('is not stored without a home', () => {
    expect(kept(['--no-flush-bytecode'], {})).toEqual([])
  })
})
