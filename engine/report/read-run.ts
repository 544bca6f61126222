import { fieldsOf, listOf, numberOf, shortTextOf, shortTextsOf, textOf, textsOf, type Fields } from './fields.ts'
import type { ReportRun, RunEnd } from './report-types.ts'
import { describeService, namedService } from '../core/named-services.ts'
import { judgement, runRecord } from '../core/run-record.ts'
import { counted } from '../core/text/counted.ts'

/** The maximum total length, in characters, of the texts that the model got before its prompt. A report has no room for more. */
const longestContext = 40_000
/** The maximum number of notices of each kind, and of contradictions. */
const mostNotes = 50

/** Returns the texts that the model got before its prompt. If their total length exceeds the limit, the rest is cut off. */
export function contextOf(record: Fields): readonly string[] {
  let left = longestContext
  return textsOf(record['context']).flatMap((text) => {
    if (left <= 0) return []
    const shown = text.length <= left ? text : `${text.slice(0, left)}\n[... cut here ...]`
    left -= shown.length
    return [shown]
  })
}

/** Reads the first event of a run. */
export function readStart(event: Fields): Partial<ReportRun> {
  const config = fieldsOf(event['config'])
  const budget = fieldsOf(config['budget'])
  const [maxTokens, maxCost, maxTurns] = ['max_tokens', 'max_cost_usd', 'max_turns'].map((name) =>
    numberOf(budget[name]),
  )
  const withheld = numberOf(fieldsOf(config['environment_withheld'])['variables'])
  const named: readonly (readonly [string, unknown])[] = [
    ['model', config['model']],
    ['reasoning effort', config['reasoning_effort']],
    ['workspace', config['cwd']],
    [
      'sandbox',
      [config['sandbox_mode'], config['sandbox_backend']].filter((each) => typeof each === 'string').join(' by '),
    ],
    ['network', config['network']],
    ['services', servicesOf(config['services'])],
    ['credentials', credentialsOf(config['credentials'])],
    ['approval', config['approval_policy']],
    ['plan mode', config['plan_mode']],
    ['environment', withheld === undefined ? undefined : `${counted(withheld, 'variable')} withheld from commands`],
    [
      'budget',
      Object.entries(budget)
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(', '),
    ],
    ['session', config['session_dir']],
  ]
  return {
    model: shortTextOf(config['model']),
    workspace: textOf(config['cwd']),
    ephemeral: config['ephemeral'] === true,
    budget: {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(maxCost === undefined ? {} : { maxCost }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
    },
    configuration: named.flatMap(([name, given]) => {
      const value = shortTextOf(given)
      return value === undefined || value === '' ? [] : [[name, value] as const]
    }),
    verify: textsOf(fieldsOf(config['verify'])['commands']),
    notes: [...ignoredOf(config['ignored_config']), ...looseOf(config['denies_not_enforced'])],
    outside: outsideOf(event, config),
  }
}

function servicesOf(value: unknown): string {
  return listOf(value)
    .flatMap((each) => namedService.safeParse(each).data ?? [])
    .map(describeService)
    .join(', ')
}

function credentialsOf(value: unknown): string {
  return listOf(value)
    .flatMap((each) => {
      const { name, hosts, allow } = fieldsOf(each)
      return typeof name === 'string' ? [`${name} for ${textsOf(hosts).join(', ')}: ${textsOf(allow).join(', ')}`] : []
    })
    .join('; ')
}

function ignoredOf(value: unknown): readonly string[] {
  return listOf(value)
    .slice(0, mostNotes)
    .map(fieldsOf)
    .map(({ source, keys, reason }) => {
      const names = shortTextsOf(keys).join(', ')
      return `ignored: ${shortTextOf(source) ?? ''}${names === '' ? '' : `: ${names}`} (${shortTextOf(reason) ?? ''})`
    })
}

function looseOf(value: unknown): readonly string[] {
  return listOf(value)
    .slice(0, mostNotes)
    .map(fieldsOf)
    .map(({ deny, why }) => `${shortTextOf(deny) ?? ''}: ${shortTextOf(why) ?? ''}`)
}

function outsideOf(event: Fields, config: Fields): readonly string[] {
  const found: string[] = []
  if (event['sandbox'] === 'external')
    found.push(
      'Portcullis did not confine commands. Whoever started the run stated that its environment confines them.',
    )
  else if (config['sandbox_mode'] === 'danger-full-access')
    found.push('Commands were not confined: they could read and write whatever the user can.')
  if (event['in_place'] !== undefined)
    found.push('The run worked in the workspace itself: no landing judged its changes.')
  if (listOf(event['dangers']).includes('docker-socket')) {
    found.push("Commands could talk to this machine's docker daemon, which gives them root access to this machine.")
  }
  if (config['network'] === 'full') found.push('Commands could reach any host on the network.')
  if (config['network'] === 'allowlist') found.push('Commands could reach the allowed hosts.')
  return found
}

/** Reads the last event of a run. */
export function readTerminal(event: Fields): RunEnd {
  const failed = event['type'] === 'turn.failed'
  const usage = fieldsOf(event['usage'])
  const changes = fieldsOf(event['changes'])
  const reason = shortTextOf(event['reason']) ?? (failed ? 'failed' : 'done')
  return {
    reason,
    result: shortTextOf(event['result']) ?? (failed ? 'failed' : 'done'),
    exitCode: numberOf(event['exit_code']) ?? (failed ? 1 : 0),
    message: shortTextOf(fieldsOf(event['error'])['message']) ?? shortTextOf(event['message']),
    durationMs: numberOf(event['duration_ms']),
    inputTokens: numberOf(usage['input_tokens']) ?? 0,
    cachedTokens: numberOf(usage['cached_input_tokens']) ?? 0,
    outputTokens: numberOf(usage['output_tokens']) ?? 0,
    costUsd: numberOf(event['cost_usd']),
    denied: numberOf(event['denied']) ?? 0,
    auditHead: textOf(event['audit_head']),
    verified: listOf(event['verified'])
      .map(fieldsOf)
      .map(({ command, passed, exit_code: code, duration_ms: ms, attempts, judged }) => ({
        command: textOf(command) ?? '',
        passed: passed === true,
        exitCode: numberOf(code),
        durationMs: numberOf(ms) ?? 0,
        attempts: numberOf(attempts) ?? 1,
        judged: judgement.safeParse(judged).data,
      })),
    record: recordOf(event['record']),
    contradictions: listOf(event['contradictions'])
      .slice(0, mostNotes)
      .map(fieldsOf)
      .map(({ claimed, record }) => ({ claimed: shortTextOf(claimed) ?? '', record: shortTextOf(record) ?? '' })),
    runsLater: listOf(changes['runs_later'])
      .map(fieldsOf)
      .map(({ path, program }) => ({ path: shortTextOf(path) ?? '', program: shortTextOf(program) ?? '' })),
    notCounted: shortTextOf(changes['not_counted']),
    changedFiles: numberOf(changes['files']),
    transaction: transactionOf(event['transaction']),
  }
}

/** Reads the record of a run. A record that this version didn't write is left out as a whole. */
function recordOf(value: unknown): RunEnd['record'] {
  const shortened: unknown = JSON.parse(JSON.stringify(value ?? null), (_, each: unknown) =>
    typeof each === 'string' ? shortTextOf(each) : each,
  )
  return runRecord.safeParse(shortened).data
}

function transactionOf(value: unknown): RunEnd['transaction'] {
  const { outcome, can_undo: canUndo } = fieldsOf(value)
  return typeof outcome === 'string' ? { outcome, canUndo: canUndo === true } : undefined
}
