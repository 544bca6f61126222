import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../engine/config/load.ts'
import { tempDir } from '../../support/temp-dir.ts'

function load(toml: string, overrides: readonly string[] = []): unknown {
  return loadConfig(tempDir({ 'config.toml': toml }), overrides)
}

function refusal(
  toml: string,
  overrides: readonly string[] = [],
): { readonly message: string; readonly directory: string } {
  const directory = tempDir({ 'config.toml': toml })
  try {
    loadConfig(directory, overrides)
  } catch (error) {
    return { message: (error as Error).message, directory }
  }
  throw new Error('it was accepted')
}

test('no file means no settings', () => {
  expect(loadConfig(tempDir(), [])).toEqual({})
})

test('a file sets what it names', () => {
  expect(load('model = "gpt-5.5"\n[sandbox_workspace_write]\nnetwork_access = true\n')).toEqual({
    model: 'gpt-5.5',
    sandbox_workspace_write: { network_access: true },
  })
})

describe('-c key=value', () => {
  test('wins over the file, and a later one over an earlier one', () => {
    expect(load('model = "a"', ['model=b', 'model="c"'])).toEqual({ model: 'c' })
  })
  test('sets a nested key and leaves its neighbours', () => {
    expect(
      load('[sandbox_workspace_write]\nnetwork_access = true', ['sandbox_workspace_write.writable_roots=["/srv"]']),
    ).toEqual({ sandbox_workspace_write: { network_access: true, writable_roots: ['/srv'] } })
  })
  test('is refused without an equals sign', () => {
    expect(refusal('', ['model']).message).toBe(`-c 'model': expected key=value, e.g. -c sandbox_mode="read-only"`)
  })
  test('is refused when the key is unknown, and the near one is named', () => {
    expect(refusal('', ['sandbox-mode=read-only']).message).toBe(
      `-c: unknown key 'sandbox-mode'; did you mean 'sandbox_mode'?`,
    )
  })
  test('does not reach the prototype', () => {
    expect(refusal('', ['__proto__.polluted=1']).message).toContain('unknown key')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('broken TOML names file, line and column', () => {
  const { message, directory } = refusal('model = "a"\nsandbox_mode = \n')
  expect(message).toMatch(new RegExp(`^${directory}/config.toml:2:\\d+: not valid TOML: `))
})

test('a wrong value names file and key', () => {
  const { message, directory } = refusal('sandbox_mode = "none"')
  expect(message).toContain(`${directory}/config.toml: key 'sandbox_mode': `)
  expect(message).toContain('workspace-write')
})

test('an unknown nested key names the near one', () => {
  expect(refusal('[sandbox_workspace_write]\nnetwork_acess = true').message).toContain(
    `unknown key 'sandbox_workspace_write.network_acess'; did you mean 'network_access'?`,
  )
})

test('all wrong keys are named at once', () => {
  expect(refusal('sandbox_mode = 1\nmodel = 2').message.split('\n')).toHaveLength(2)
})
