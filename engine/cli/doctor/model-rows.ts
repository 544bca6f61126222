import type { ModelFinding } from '../../models/index.ts'
import type { Row } from './doctor-row.ts'

/**
 * The rows about what the configured model needs: a known name, an endpoint and a key. No row contains the key itself.
 *
 * @param name the configured name
 * @param finding undefined if the model is unknown because the configuration can't be read
 * @param program the path of the command that prints the key; undefined if the command is missing or none is named
 */
export function modelRows(
  name: string,
  finding: ModelFinding | undefined,
  program: string | undefined,
): readonly Row[] {
  const model = { group: 'model', check: 'model' } as const
  if (finding === undefined) {
    const found = 'not checked: the configuration that names the model and the provider has an error'
    return [{ ...model, state: 'note', found, next: 'Fix the configuration first, as described below.' }]
  }
  switch (finding.kind) {
    case 'recording':
      return finding.problem === undefined
        ? [{ ...model, state: 'ok', found: `${name}, a recording: no provider and no key are needed` }]
        : [
            {
              ...model,
              state: 'missing',
              found: finding.problem,
              next: 'Name an existing recording, or another model, with -m.',
            },
          ]
    case 'unknown':
      return [
        {
          ...model,
          state: 'missing',
          found: finding.problem,
          next: 'Set model or model_provider in config.toml, or use -m. agent models lists what your providers offer.',
        },
      ]
    case 'provider':
      return [{ ...model, state: 'ok', found: name }, providerRow(finding), keyRow(finding, program)]
    default:
      return finding satisfies never
  }
}

type Placed = Extract<ModelFinding, { kind: 'provider' }>

function providerRow({ provider, model, wire, url, urlProblem }: Placed): Row {
  const row = { group: 'model', check: 'provider' } as const
  if (url === undefined) {
    const next = 'Set base_url of the provider, or openai_base_url, to an http or https URL without a password.'
    return { ...row, state: 'missing', found: `${provider}: ${urlProblem ?? 'no URL is set'}`, next }
  }
  return {
    ...row,
    state: 'ok',
    found: `${provider}, ${url}, wire API ${wire}, model ${model} (the provider was not contacted)`,
  }
}

function keyRow({ provider, key, keyInstructions, problem }: Placed, program: string | undefined): Row {
  const row = { group: 'model', check: 'key' } as const
  switch (key.kind) {
    case 'none':
      return {
        ...row,
        state: problem === undefined ? 'ok' : 'missing',
        found: problem ?? `${provider} needs none`,
      }
    case 'command':
      if (program === undefined) {
        const next =
          'Install this command outside the workspace, or name another command in auth.command of the provider.'
        return {
          ...row,
          state: 'missing',
          found: `the command '${key.command}', which should print the key, does not exist`,
          next,
        }
      }
      return problem === undefined
        ? { ...row, state: 'ok', found: `printed by ${program} (not run here)` }
        : { ...row, state: 'missing', found: problem }
    case 'variable': {
      const names = key.names.toReversed().join(' or ')
      if (key.found === undefined) {
        const next =
          keyInstructions ?? `Set ${names} in the environment, or choose another model with -m or the setting model.`
        return { ...row, state: 'missing', found: `none for ${provider}: ${names} is not set`, next }
      }
      return problem === undefined
        ? { ...row, state: 'ok', found: `in ${key.found} (not tried)` }
        : { ...row, state: 'missing', found: problem, next: `Set ${key.found} anew.` }
    }
    default:
      return key satisfies never
  }
}
