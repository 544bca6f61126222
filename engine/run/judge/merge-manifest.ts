import { formatToml, tryParseToml } from '../../config/toml.ts'

/**
 * Combines two versions of a manifest: what describes the package itself and its dependencies is the run's, everything else, which tools read, is the
 * base's. Returns undefined if one of them can't be parsed.
 *
 * @param name the name of the file: `package.json` or `pyproject.toml`
 */
export function mergeManifest(name: string, base: string, run: string): string | undefined {
  return name === 'package.json' ? mergePackage(base, run) : mergePyproject(base, run)
}

/** Returns the settings of tools that differ, each as a path of keys. Undefined if a manifest can't be parsed. */
export function changedSettings(name: string, base: string, run: string): readonly string[] | undefined {
  const [before, after] = [base, run].map((text) => settingsIn(name, text))
  if (before === undefined || after === undefined) return undefined
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
}

type Table = Readonly<Record<string, unknown>>

/** What npm's documentation of `package.json` says about a package itself. */
const ofPackage: ReadonlySet<string> = new Set([
  ...['name', 'version', 'description', 'keywords', 'homepage', 'bugs', 'license', 'author', 'contributors', 'funding'],
  ...['files', 'exports', 'main', 'browser', 'bin', 'man', 'directories', 'repository', 'module', 'types', 'typings'],
  ...['dependencies', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta', 'bundleDependencies'],
  ...['optionalDependencies', 'overrides', 'resolutions', 'engines', 'os', 'cpu', 'private', 'publishConfig'],
  ...['workspaces', 'type', 'imports', 'sideEffects', 'packageManager', 'devEngines'],
])

/** The tables of `pyproject.toml` that describe a project, and those in `tool` with which it is built. */
const ofProject: ReadonlySet<string> = new Set(['project', 'build-system', 'dependency-groups'])
const building: ReadonlySet<string> = new Set([
  'setuptools',
  'setuptools_scm',
  'poetry',
  'flit',
  'pdm',
  'uv',
  'maturin',
  'cython',
])

function mergePackage(base: string, run: string): string | undefined {
  const [before, after] = [parseJson(base), parseJson(run)]
  if (before === undefined || after === undefined) return undefined
  return `${JSON.stringify({ ...pick(after, (key) => ofPackage.has(key)), ...pick(before, (key) => !ofPackage.has(key)) }, null, 2)}\n`
}

function mergePyproject(base: string, run: string): string | undefined {
  const [before, after] = [tryParseToml(base), tryParseToml(run)]
  if (before === undefined || after === undefined) return undefined
  const tools = {
    ...pick(tableOf(after['tool']), (key) => building.has(key)),
    ...pick(tableOf(before['tool']), (key) => !building.has(key)),
  }
  const own = { ...pick(before, (key) => !ofProject.has(key)), ...pick(after, (key) => ofProject.has(key)) }
  return formatToml({ ...own, ...(Object.keys(tools).length === 0 ? {} : { tool: tools }) })
}

function settingsIn(name: string, text: string): Table | undefined {
  if (name === 'package.json') {
    const known = parseJson(text)
    return known && pick(known, (key) => !ofPackage.has(key) && key !== 'scripts')
  }
  const known = tryParseToml(text)
  return known && pick(tableOf(known['tool']), (key) => !building.has(key))
}

function pick(table: Table, wants: (key: string) => boolean): Table {
  return Object.fromEntries(Object.entries(table).filter(([key]) => wants(key)))
}

function tableOf(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {}
}

function parseJson(text: string): Table | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? tableOf(value) : undefined
  } catch {
    return undefined
  }
}
