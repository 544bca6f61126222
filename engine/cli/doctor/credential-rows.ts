import { credentialPresets, presetNamed } from '../../config/credential-presets.ts'
import { openCredentials } from '../../config/credentials.ts'
import type { Settings } from '../../config/settings-schema.ts'
import { UserError } from '../../core/user-error.ts'
import type { Row } from './doctor-row.ts'

type Tables = NonNullable<Settings['credentials']>

/** Says which credentials a run here would let commands use, and for what; and which presets would have a value. No row contains a value. */
export async function credentialRows(
  { credentials = {} }: Pick<Settings, 'credentials'>,
  environment: Readonly<NodeJS.ProcessEnv>,
  workspace: string,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [name, table] of Object.entries(credentials)) rows.push(await rowOf(name, table, environment, workspace))
  for (const name of Object.keys(credentialPresets) as (keyof typeof credentialPresets)[]) {
    if (Object.entries(credentials).some(([other, { preset }]) => other === name || preset === name)) continue
    const row = await rowOf(name, { preset: name }, environment, workspace)
    if (row.state === 'missing') continue
    rows.push({ ...row, state: 'note', next: `commands don't have it: --credential ${name} lets them use it unseen` })
  }
  return rows
}

async function rowOf(
  name: string,
  table: Tables[string],
  environment: Readonly<NodeJS.ProcessEnv>,
  workspace: string,
): Promise<Row> {
  const common = { group: 'credentials', check: name } as const
  // The command of a password manager may ask its user something.
  const isCommand = table.from !== undefined && 'command' in table.from
  const tried = isCommand ? { ...table, from: { env: name } } : table
  try {
    const { policy } = await openCredentials(
      { credentials: { [name]: tried } },
      isCommand ? { [name]: 'not-asked-here' } : environment,
      workspace,
    )
    const what = policy
      .map(({ hosts, allow }) => `for ${hosts.join(', ')}: ${allow.join(', ') || 'nothing'}`)
      .join('; ')
    return { ...common, state: 'ok', found: `${sourceOf(table, environment)}, ${what}` }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { ...common, state: 'missing', found: error.message }
  }
}

function sourceOf({ from, preset }: Tables[string], environment: Readonly<NodeJS.ProcessEnv>): string {
  if (from === undefined) {
    const variable = presetNamed(preset)?.from.find((each) => (environment[each] ?? '') !== '')
    return variable === undefined ? 'from what actions/checkout left' : `from ${variable}`
  }
  if ('env' in from) return `from ${from.env}`
  return 'file' in from ? `from ${from.file}` : `from ${from.command[0] ?? 'a command'}, which is not asked here`
}
