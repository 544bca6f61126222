import process from 'node:process'
import { hideSecrets } from '../config/hide-secrets.ts'
import { describeIgnored } from '../config/ignored.ts'
import { isNetworkKey } from '../config/bounds.ts'
import { keyOf, leavesOf } from '../config/leaves.ts'
import type { Config } from '../config/load-config.ts'
import type { Layer } from '../config/merge-layers.ts'
import { defaultSettings } from '../config/settings/index.ts'
import { lineOf } from '../config/toml.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { findAppPaths } from '../core/app-paths.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { approvalModeOf } from '../app/modes.ts'
import { loadRunConfig } from './run-config.ts'
import { findWorkspace } from '../app/workspace.ts'
import { print, printJson } from './print.ts'

/** A key of the configuration that has a value. */
type Row = {
  readonly key: string
  /** The value, with secrets hidden. */
  readonly value: unknown
  readonly source: 'default' | Layer['kind']
  /** Where the value comes from: the path of a file, or the name of an option. Absent: the value is a default. */
  readonly place?: string
  /** The line in the file, counted from 1. */
  readonly line?: number
}

/**
 * `agent config show`: lists each key that has a value, the value, and where it comes from. After that, it lists the permissions, says whether the
 * repository is trusted, and lists configuration that was found but is ignored.
 */
export function configShow(options: ConfigOptions & { readonly json?: true }): number {
  const config = loadRunConfig(options, findWorkspace(options.cd ?? process.cwd()), findAppPaths(process.env))
  const rows = rowsOf(config)
  const { trusted, ignored } = config
  const permissions = config.permissions.map(({ path, layer, lists }) => ({ source: layer, place: path, lists }))
  if (options.json === true) {
    const settings = Object.fromEntries(rows.map(({ key, ...row }) => [key, row]))
    printJson({ trusted, settings, permissions, ignored })
    return exitCodes.done
  }
  const width = Math.max(...rows.map(({ key }) => key.length))
  const lines = [
    ...rows.map((row) => `${row.key.padEnd(width)} = ${JSON.stringify(row.value)}  # ${sourceOf(row)}`),
    ...permissions.flatMap(({ place, lists }) =>
      Object.entries(lists ?? {}).map(
        ([list, patterns]) => `permissions.${list} = ${JSON.stringify(patterns)}  # ${place}`,
      ),
    ),
    `# the repository is ${trusted ? 'trusted' : 'not trusted'}`,
    ...ignored.map((one) => `# ${describeIgnored(one)}`),
  ]
  print(...lines)
  return exitCodes.done
}

function rowsOf({ settings, origins }: Config): readonly Row[] {
  const networkSaid = [...origins.keys()].some(isNetworkKey)
  const unsaid = leavesOf({ ...defaultSettings(), approval_policy: approvalModeOf(settings) }).filter(({ path }) => {
    const key = keyOf(path)
    return !origins.has(key) && !(networkSaid && isNetworkKey(key))
  })
  const said = [...origins].map(([key, { path, value, layer }]): Row => {
    const line = layer.text === undefined ? undefined : lineOf(layer.text, [...(layer.within ?? []), ...path])
    const place = { place: layer.name, ...(line === undefined ? {} : { line }) }
    return { key, value: hideSecrets(path, value), source: layer.kind, ...place }
  })
  const rest = unsaid.map(({ path, value }): Row => ({ key: keyOf(path), value, source: 'default' }))
  return [...said, ...rest].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

function sourceOf({ source, place, line }: Row): string {
  const where = line === undefined ? place : `${place}:${line}`
  switch (source) {
    case 'default':
      return 'default'
    case 'managed':
      return `fixed by ${where}`
    case 'user':
    case '-c':
    case 'flag':
      return `${where}`
    case 'profile':
      return `profile, ${where}`
    case 'imported':
      return `imported from ${where}`
    case 'project':
      return `repository, ${where}`
    default:
      return source satisfies never
  }
}
