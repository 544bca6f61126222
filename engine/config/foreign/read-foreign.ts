import type { AppPaths } from '../../core/app-paths.ts'
import type { Ignored } from '../ignored.ts'
import type { Layer } from '../merge-layers.ts'
import type { Project } from '../read-project.ts'
import type { Settings } from '../settings-schema.ts'
import { importClaudeProject, importClaudeSettings } from './claude-settings.ts'
import { readCodexConfig, type CodexDoor } from './codex-config.ts'

/** What is imported from other programs' settings. */
type ForeignLayers = {
  /** Layers of the user's settings for other programs. The user's settings for this program override them. */
  readonly user: readonly Layer[]
  /** Layers of a trusted repository's settings for other programs. */
  readonly project: readonly Layer[]
  /** Variables for model requests. Commands never get them. */
  readonly modelVariables: Readonly<Record<string, string>>
  readonly ignored: readonly Ignored[]
}

/** The value if nothing is imported. */
export const noForeignLayers: ForeignLayers = { user: [], project: [], modelVariables: {}, ignored: [] }

/**
 * Reads the settings of other programs. Without an import, only settings that make a run stricter are used; if the user's `import` names a program,
 * all of its settings that have a meaning here are used: the user's and, for Claude Code, those of a trusted repository. Never fails, whatever the
 * files contain, unless the user came through Codex's command line.
 */
export function readForeignLayers(
  { home, codex: folder }: AppPaths,
  project: Project,
  {
    imports,
    trusted,
    door,
  }: {
    readonly imports: NonNullable<Settings['import']>
    readonly trusted: boolean
    readonly door?: CodexDoor | undefined
  },
): ForeignLayers {
  const codex = readCodexConfig(folder, project.workspace, imports.includes('codex'), door)
  const claude = imports.includes('claude') ? importClaudeSettings(home, project) : undefined
  const brought = claude !== undefined && trusted ? importClaudeProject(home, project) : undefined
  return {
    user: [...(codex.layer === undefined ? [] : [codex.layer]), ...(claude?.layers ?? [])],
    project: brought?.layers ?? [],
    modelVariables: claude?.modelVariables ?? {},
    ignored: [...codex.ignored, ...(claude?.ignored ?? []), ...(brought?.ignored ?? [])],
  }
}
