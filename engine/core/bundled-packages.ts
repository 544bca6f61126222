import { readFileSync } from 'node:fs'

/** A package whose code is part of the built programs. */
type BundledPackage = { readonly name: string; readonly version: string; readonly license: string }

/** The packages whose code is part of this program. There are none if it runs from its sources, which import them. */
export function bundledPackages(): readonly BundledPackage[] {
  try {
    // The build writes this list, which is next to the folder of the program or of the library's chunk.
    return JSON.parse(readFileSync(new URL('../bundled.json', import.meta.url), 'utf8')) as readonly BundledPackage[]
  } catch {
    return []
  }
}
