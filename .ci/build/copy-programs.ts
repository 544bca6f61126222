import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Parts of `dist/` that only the library needs: its bundles, with the chunks that they share, whose names end with a hash. */
const ofLibrary = /^index\.js|-[A-Z\d]{8}\.js/

/**
 * Copies the built programs from `dist/`, without the library, the types and the source maps.
 *
 * @param compiled whether to copy V8's compiled code too, which only the Node that runs this build can use
 */
export function copyPrograms(to: string, { compiled }: { readonly compiled: boolean }): void {
  cpSync('package.json', join(to, 'package.json'))
  const isNeeded = (path: string): boolean =>
    !ofLibrary.test(basename(path)) && !path.endsWith('.map') && (compiled || !path.endsWith('.cache'))
  for (const file of ['bundled.json', 'THIRD_PARTY_LICENSES']) cpSync(join('dist', file), join(to, 'dist', file))
  for (const part of ['apply-patch', 'bin', 'chunks', 'engine'])
    cpSync(join('dist', part), join(to, 'dist', part), { recursive: true, filter: isNeeded })
}
