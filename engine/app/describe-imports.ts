import type { Config } from '../config/load-config.ts'
import { placeOf } from '../config/validate.ts'

/**
 * Explains how another program's settings made this run stricter than the user asked for, for example because nothing can be written. Empty if there is
 * nothing to explain.
 */
export function describeImports({ settings, origins }: Config): readonly string[] {
  const mode = origins.get('sandbox_mode')
  if (mode === undefined || mode.layer.kind !== 'imported' || settings.import?.includes('codex') === true) return []
  const place = placeOf(mode.layer, mode.path)
  return [
    `${place}: sandbox_mode = ${JSON.stringify(mode.value)} applies here too, since it only restricts. To change it, set sandbox_mode in your own config.toml, or use -s.`,
  ]
}
