import type { Config } from '../config/load-config.ts'
import { placeOf } from '../config/validate.ts'

/**
 * Explains where another program's settings made this run stricter without being asked, such as that nothing can be written. Undefined
 * where there is nothing to explain.
 */
export function describeImports({ settings, origins }: Config): readonly string[] {
  const mode = origins.get('sandbox_mode')
  if (mode === undefined || mode.layer.kind !== 'imported' || settings.import?.includes('codex') === true) return []
  const place = placeOf(mode.layer, mode.path)
  return [
    `${place}: sandbox_mode = ${JSON.stringify(mode.value)} holds here too, since it only restricts. Say sandbox_mode in your own config.toml, or -s, for another one.`,
  ]
}
