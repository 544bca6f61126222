import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Removes the source maps that lead to no source of ours: nobody looks for lines of a library there, and they make up a tenth of the package. */
export function dropForeignMaps(place: string): void {
  for (const name of globSync('**/*.map', { cwd: place })) {
    const { sources } = JSON.parse(readFileSync(join(place, name), 'utf8')) as { readonly sources: readonly string[] }
    if (sources.every((source) => source.includes('node_modules/'))) rmSync(join(place, name))
  }
}
