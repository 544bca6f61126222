import { join } from 'node:path'
import { UserError } from '../../core/user-error.ts'
import { ignoredForFault, ignoredWhole, ignoring, type Ignored } from '../ignored.ts'
import { fromLeaves, keyOf, leavesOf, type Leaf } from '../leaves.ts'
import type { Layer } from '../merge-layers.ts'
import { parseToml } from '../toml.ts'
import { placeOf } from '../validate.ts'
import { readForeignText } from './read-text.ts'
import { soundSettings } from './sound-settings.ts'

/**
 * The keys of Codex's configuration that have the same meaning in the configuration of this program
 * (https://developers.openai.com/codex/config-reference).
 */
const sameMeaning: ReadonlySet<string> = new Set([
  'model',
  'model_provider',
  'model_providers',
  'model_reasoning_effort',
  'model_verbosity',
  'model_context_window',
  'model_auto_compact_token_limit',
  'openai_base_url',
  'approval_policy',
  'approvals_reviewer',
  'sandbox_mode',
  'sandbox_workspace_write',
  'shell_environment_policy',
  'mcp_servers',
  'tool_output_token_limit',
  'web_search',
])

/** What is imported from another program's file. */
type ForeignSettings = {
  /** The imported settings; undefined if no setting of the file is used. */
  readonly layer: Layer | undefined
  readonly ignored: readonly Ignored[]
}

const none: ForeignSettings = { layer: undefined, ignored: [] }

/** The path of Codex's configuration. */
export function codexConfigFile(home: string): string {
  return join(home, '.codex', 'config.toml')
}

/**
 * Reads the settings in Codex's configuration that have the same meaning in this program. Never fails, whatever the file contains.
 *
 * @param whole whether to use all of these settings. Otherwise only those that make a run stricter are used, and other keys aren't reported as ignored
 */
export function readCodexConfig(home: string, whole: boolean): ForeignSettings {
  const path = codexConfigFile(home)
  const text = readForeignText(path)
  if (text === undefined) return none
  if (typeof text !== 'string') return { layer: undefined, ignored: [ignoredWhole(path, text.reason)] }
  const table = tryParse(text, path)
  if (table instanceof UserError) return { layer: undefined, ignored: [ignoredForFault(path, table.message)] }
  const place = { name: path, text }
  const known = Object.fromEntries(Object.entries(table).filter(([key]) => sameMeaning.has(key)))
  const { settings, refused } = soundSettings(known)
  const counting = leavesOf(settings).filter((leaf) => whole || tightens(leaf))
  const layer: Layer | undefined =
    counting.length === 0 ? undefined : { ...place, kind: 'imported', settings: fromLeaves(counting) }
  const relevant = refused.filter((one) => whole || tightens({ path: one.path, value: undefined }))
  const meaningless = whole ? Object.keys(table).filter((key) => !sameMeaning.has(key)) : []
  const unknown = relevant.filter(({ why }) => why === 'it is not a known setting').map((one) => keyOf(one.path))
  return {
    layer,
    ignored: [
      ...ignoring(path, [...meaningless, ...unknown], 'Codex has this setting, but Portcullis does not'),
      ...relevant
        .filter(({ why }) => why !== 'it is not a known setting')
        .flatMap((one) => ignoring(placeOf(place, one.path), [keyOf(one.path)], one.why)),
    ],
  }
}

/**
 * Whether a setting can only make a run stricter than the defaults. Such settings are used even without an import; the user's own settings override
 * them. An undefined value stands for an invalid one, which may have been meant to do so.
 */
function tightens({ path, value }: Leaf): boolean {
  switch (keyOf(path)) {
    case 'sandbox_mode':
      return value === undefined || value === 'read-only'
    case 'shell_environment_policy.inherit':
      return value === undefined || value === 'none'
    case 'shell_environment_policy.exclude':
    case 'shell_environment_policy.include_only':
      return true
    default:
      return false
  }
}

function tryParse(text: string, path: string): Record<string, unknown> | UserError {
  try {
    return parseToml(text, path)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}
