import type { Config } from '../config/load-config.ts'
import { placeOf } from '../config/validate.ts'

/**
 * Returns a notice for the user if the run's sandbox mode comes from Codex's settings, although the user has not imported these settings; otherwise an empty
 * list.
 */
export function describeImports({ settings, origins }: Config): readonly string[] {
  const mode = origins.get('sandbox_mode')
  if (mode === undefined || mode.layer.kind !== 'imported' || settings.import?.includes('codex') === true) return []
  if (mode.layer.text === undefined) return []
  const place = placeOf(mode.layer, mode.path)
  return [
    `${place}: sandbox_mode = ${JSON.stringify(mode.value)} applies here too, because settings that make runs stricter always apply. To change it, set sandbox_mode in your own config.toml, or use -s.`,
  ]
}
