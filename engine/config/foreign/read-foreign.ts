import type { AppPaths } from '../../core/app-paths.ts'
import type { Ignored } from '../ignored.ts'
import type { Layer } from '../merge-layers.ts'
import type { Project } from '../read-project.ts'
import type { Settings } from '../settings-schema.ts'
import { importClaudeProject, importClaudeSettings } from './claude-settings.ts'
import { readCodexConfig } from './codex-config.ts'

/** The result of other programs' settings. */
type ForeignLayers = {
  /** The user's, with lower precedence than their own for this program. */
  readonly user: readonly Layer[]
  /** A trusted repository's. */
  readonly project: readonly Layer[]
  /** Variables for model requests; never for a command. */
  readonly modelVariables: Readonly<Record<string, string>>
  readonly ignored: readonly Ignored[]
}

/** No settings of other programs. */
export const noForeignLayers: ForeignLayers = { user: [], project: [], modelVariables: {}, ignored: [] }

/**
 * Reads other programs' settings. Without an import only settings that make a run stricter apply; the rest does where the user's `import`
 * names the program. No content of their files makes this fail.
 */
export function readForeignLayers(
  { home }: AppPaths,
  project: Project,
  { imports, trusted }: { readonly imports: NonNullable<Settings['import']>; readonly trusted: boolean },
): ForeignLayers {
  const codex = readCodexConfig(home, imports.includes('codex'))
  const claude = imports.includes('claude') ? importClaudeSettings(home, project) : undefined
  const brought = claude !== undefined && trusted ? importClaudeProject(home, project) : undefined
  return {
    user: [...(codex.layer === undefined ? [] : [codex.layer]), ...(claude?.layers ?? [])],
    project: brought?.layers ?? [],
    modelVariables: claude?.modelVariables ?? {},
    ignored: [...codex.ignored, ...(claude?.ignored ?? []), ...(brought?.ignored ?? [])],
  }
}
