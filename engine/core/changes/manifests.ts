import { readHostFile } from '../../../sandbox/index.ts'
import { pathOfKey } from './list-files.ts'

/** The maximum number of manifests that are stored. Any change to a manifest that isn't stored counts as a change that may affect what runs. */
const mostManifests = 500

/**
 * Fields of a package.json that can be changed without affecting what runs. A change to a list of dependencies is also harmless if each entry of the
 * new list is a plain version, range or tag of a package in a registry. A change to any other field may affect what runs.
 */
const harmless: ReadonlySet<string> = new Set([
  ...['name', 'version', 'description', 'keywords', 'license', 'author', 'contributors', 'maintainers', 'private'],
  ...['homepage', 'bugs', 'repository', 'funding', 'files', 'engines', 'os', 'cpu', 'sideEffects', 'publishConfig'],
  ...['type', 'types', 'typings', 'browserslist', 'peerDependenciesMeta'],
])
const dependencies: ReadonlySet<string> = new Set([
  ...['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies', 'bundledDependencies'],
])

/** The package.json files of the run's workspaces, as they were before the run changed anything in them. */
export class Manifests {
  readonly #before = new Map<string, string | undefined>()

  /**
   * Stores the present contents of the package.json files among the workspace's files, unless earlier contents are stored already. Stores at most
   * `mostManifests` files.
   *
   * @param keys the keys of the workspace's files, as in `list-files.ts`; files with other names are skipped
   */
  keep(workspace: string, keys: readonly string[]): void {
    for (const key of keys) {
      if (!/(?:^|\/)package\.json$/.test(key) || this.#before.size >= mostManifests) continue
      const path = `${workspace}/${pathOfKey(key)}`
      if (!this.#before.has(path)) this.#before.set(path, readHostFile(path)?.toString())
    }
  }

  /**
   * Whether a change to a file may affect what runs. True in case of doubt, that is, if the file isn't a stored package.json, or if it isn't an
   * object in valid JSON both before and after the change.
   */
  mayRun(path: string): boolean {
    const before = this.#before.get(path)
    if (before === undefined) return true
    const now = readHostFile(path)?.toString()
    return now === undefined || !isHarmlessManifest(before, now)
  }
}

/** Whether the change from one content of a package.json to another certainly doesn't affect what runs. */
export function isHarmlessManifest(before: string, after: string): boolean {
  const [old, fresh] = [objectIn(before), objectIn(after)]
  if (old === undefined || fresh === undefined) return false
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)])
  return [...names].every((name) => {
    if (JSON.stringify(old[name]) === JSON.stringify(fresh[name]) || harmless.has(name)) return true
    return dependencies.has(name) && areFromRegistry(fresh[name])
  })
}

function areFromRegistry(value: unknown): boolean {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((version) => typeof version === 'string' && /^[\w.^~<>=|*+ -]*$/.test(version))
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
