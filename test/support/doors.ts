import { existsSync } from 'node:fs'

// The packages that only few tests need. `npm ci` doesn't install them; `.ci/ensure-doors` does.
const packages = new URL('../doors/node_modules/', import.meta.url)

/** Why a test can't use one of these packages here; undefined if it can. */
export function whyNotInstalled(...names: readonly string[]): string | undefined {
  const missing = names.filter((name) => !existsSync(new URL(name, packages)))
  return missing.length === 0
    ? undefined
    : `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed in test/doors (sh .ci/ensure-doors does that)`
}

/** The path of a file of these packages, which begins with the package's name. */
export function fileOfPackage(path: string): string {
  return new URL(path, packages).pathname
}

/**
 * Imports a file of these packages. Its own types can't be imported, because the package may be missing.
 *
 * @typeParam T what the test uses of it
 */
export async function importOfPackage<T>(path: string): Promise<T> {
  return (await import(new URL(path, packages).href)) as T
}
