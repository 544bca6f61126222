import { loadConfig, type Config, type ConfigSources } from '../../../engine/config/load-config.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** What configures a run that a command line for Codex started. `<root>` in the file stands for the repository. */
export type Given = {
  readonly file?: string
  readonly profile?: string
  readonly own?: string
  readonly overrides?: readonly string[]
  readonly door?: Partial<NonNullable<ConfigSources['codex']>>
  readonly flags?: ConfigSources['flags']
}

/** Loads the configuration of a run that a command line for Codex started. */
export function load({ file, profile, own, overrides = [], door, flags = [] }: Given): Config {
  const root = tempDir()
  const folder = tempDir({
    ...(file === undefined ? {} : { 'config.toml': file.replaceAll('<root>', root) }),
    ...(profile === undefined ? {} : { 'ci.config.toml': profile }),
  })
  const user = tempDir(own === undefined ? {} : { 'config.toml': own })
  const nowhere = '/nowhere'
  return loadConfig({
    places: { home: nowhere, config: user, managed: nowhere, managedClaude: nowhere, state: nowhere, codex: folder },
    project: { root, workspace: root },
    overrides,
    flags,
    codex: { userConfig: true, rules: true, strict: false, ...door },
  })
}
