import { formatToml, tryParseToml } from '../../config/toml.ts'

/**
 * Combines two versions of a manifest: what describes the package itself and its dependencies is the run's, everything else, which tools read, is the
 * base's. Returns undefined if one of them can't be parsed.
 *
 * @param name the name of the file: `package.json`, `pyproject.toml`, `Cargo.toml` or `go.mod`
 * @param exists whether the run's tree has an entry at a path, relative to the manifest
 */
export function mergeManifest(
  name: string,
  base: string,
  run: string,
  exists: (path: string) => boolean,
): string | undefined {
  switch (name) {
    case 'package.json':
      return mergePackage(base, run, exists)
    case 'pyproject.toml':
      return mergePyproject(base, run)
    case 'Cargo.toml':
      return mergeCargo(base, run, exists)
    default:
      return [...withoutReplaced(run), ...replaced(base)].join('\n')
  }
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

/** The tables of `Cargo.toml` that say what a package consists of. Those for tests, profiles and replaced dependencies aren't among them. */
const ofCrate: ReadonlySet<string> = new Set([
  ...['package', 'lib', 'bin', 'example', 'features', 'workspace', 'target', 'badges', 'cargo-features'],
  ...['dependencies', 'dev-dependencies', 'build-dependencies'],
])

function mergePackage(base: string, run: string, exists: (path: string) => boolean): string | undefined {
  const [before, after] = [parseJson(base), parseJson(run)]
  if (before === undefined || after === undefined) return undefined
  // What tests import by an alias is what it was, unless that is gone.
  const aliases = tableOf(before['imports'])
  const isThere = (key: string): boolean => targetsIn(aliases[key]).every(exists)
  const imports = { ...tableOf(after['imports']), ...pick(aliases, isThere) }
  const merged = {
    ...pick(after, (key) => ofPackage.has(key)),
    ...(Object.keys(imports).length === 0 ? {} : { imports }),
    ...pick(before, (key) => !ofPackage.has(key)),
  }
  return `${JSON.stringify(merged, null, 2)}\n`
}

/** The paths to which an alias leads, each up to where it is a pattern. */
function targetsIn(alias: unknown): readonly string[] {
  if (typeof alias !== 'string') return Object.values(tableOf(alias)).flatMap(targetsIn)
  return alias.startsWith('./') ? [alias.split('*')[0] ?? ''] : []
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

function mergeCargo(base: string, run: string, exists: (path: string) => boolean): string | undefined {
  const [before, after] = [tryParseToml(base), tryParseToml(run)]
  if (before === undefined || after === undefined) return undefined
  const helpers = helperCrates(before)
  const crates = {
    ...tableOf(after['dev-dependencies']),
    ...pick(helpers, (key) => exists(String(tableOf(helpers[key])['path']))),
  }
  const own = {
    ...pick(before, (key) => !ofCrate.has(key)),
    ...pick(after, (key) => ofCrate.has(key)),
    ...(Object.keys(crates).length === 0 ? {} : { 'dev-dependencies': crates }),
  }
  if (after['package'] === undefined) return formatToml(own)
  const [old, now] = [tableOf(before['package']), tableOf(after['package'])]
  return formatToml({ ...own, package: { ...pick(now, (key) => key !== found), ...pick(old, (key) => key === found) } })
}

/** The dependencies of tests alone that are crates in the tree. */
function helperCrates(cargo: Table | undefined): Table {
  const all = tableOf(cargo?.['dev-dependencies'])
  return pick(all, (key) => typeof tableOf(all[key])['path'] === 'string')
}

/** The setting of cargo that says whether it finds tests by their place. */
const found = 'autotests'

/** The directives of a `go.mod` that put other code in the place of a dependency. */
function replaced(text: string): readonly string[] {
  return goLines(text).flatMap(({ directive, line }) => (directive === 'replace' ? [line] : []))
}

function withoutReplaced(text: string): readonly string[] {
  return goLines(text).flatMap(({ directive, line }) => (directive === 'replace' ? [] : [line]))
}

/** The lines of a `go.mod`, each with the directive that it, or the block around it, begins with. */
function goLines(text: string): readonly { readonly directive: string; readonly line: string }[] {
  let block: string | undefined
  return text.split('\n').map((line) => {
    const [word = '', next] = line.trim().split(/\s+/)
    const directive = block ?? (word.startsWith('(') ? word : word.split('(')[0]) ?? ''
    if (block === undefined && (next === '(' || word.endsWith('('))) block = directive
    else if (word === ')') block = undefined
    return { directive, line }
  })
}

/** The settings of tools in a manifest, by their names. Undefined if it can't be parsed. */
export function settingsIn(name: string, text: string): Table | undefined {
  if (name === 'go.mod') return { replace: replaced(text).join('\n').trim() }
  const known = name === 'package.json' ? parseJson(text) : tryParseToml(text)
  switch (known && name) {
    case undefined:
      return undefined
    case 'package.json':
      return pick(known ?? {}, (key) => !ofPackage.has(key) && key !== 'scripts')
    case 'Cargo.toml':
      return {
        ...pick(known ?? {}, (key) => !ofCrate.has(key)),
        [found]: tableOf(known?.['package'])[found],
        helpers: helperCrates(known),
      }
    default:
      return pick(tableOf(known?.['tool']), (key) => !building.has(key))
  }
}

/** What a manifest says of the files with which a package begins; empty if it says nothing. */
export function entriesIn(name: string, text: string): string {
  if (name === 'package.json') return JSON.stringify(pick(parseJson(text) ?? {}, (key) => beginsPackage.has(key)))
  if (name !== 'pyproject.toml') return ''
  const project = tableOf(tryParseToml(text)?.['project'])
  // The name is that of a module, which is imported.
  return `import ${String(project['name'])}\n${JSON.stringify([project['scripts'], project['gui-scripts'], project['entry-points']])}`
}

const beginsPackage: ReadonlySet<string> = new Set(['main', 'module', 'browser', 'exports', 'bin'])

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
