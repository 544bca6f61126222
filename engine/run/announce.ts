import type { Verification } from '../core/verification-settings.ts'
import type { Credential, Service } from '../../sandbox/index.ts'
import { schemaVersion } from '../core/events.ts'
import { withheldBy } from '../core/sandbox-status.ts'
import type { Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'

/**
 * The maximum number of denied files without full protection that the first event lists. The rules of a repository can deny very many files, and the
 * event's line must not become too long.
 */
const mostLoose = 50

/** Announces a run: its settings, and what the user should know before anything happens. */
export function announce(options: RunOptions, recorder: Recorder): void {
  const { policy, backend } = options.sandbox
  const { maxTurns, maxTokens, maxCost, timeoutMs } = options.budget
  const ignored = (options.ignoredConfig ?? []).map((entry) => ({ ...entry, keys: [...entry.keys] }))
  const loose = (options.looseDenies ?? []).slice(0, mostLoose).map((entry) => ({ ...entry }))
  recorder.emit({
    type: 'thread.started',
    thread_id: options.session.threadId,
    schema_version: schemaVersion,
    config: given({
      model: options.model.name,
      cwd: options.workspace,
      sandbox_mode: policy.mode,
      sandbox_backend: backend,
      network: policy.mode === 'danger-full-access' ? 'full' : policy.network.mode,
      services: policy.services.length === 0 ? undefined : policy.services.map(namedOnly),
      credentials: policy.credentials.length === 0 ? undefined : policy.credentials.map(rowsOf),
      environment_withheld: { ...withheldBy(options.sandbox) },
      approval_policy: options.approvalPolicy,
      reasoning_effort: options.reasoningEffort,
      plan_mode: options.planMode?.requestedBy,
      budget: given({ max_turns: maxTurns, max_tokens: maxTokens, max_cost_usd: maxCost, timeout_ms: timeoutMs }),
      not_shown: options.notShown === undefined || options.notShown.length === 0 ? undefined : [...options.notShown],
      transaction: options.transaction?.facts,
      verify: options.verify && verification(options.verify),
      session_dir: options.session.directory,
      ephemeral: options.session.kept ? undefined : (true as const),
      ignored_config: ignored.length === 0 ? undefined : ignored,
      denies_not_enforced: loose.length === 0 ? undefined : loose,
    }),
  })
  recorder.emit({ type: 'turn.started' })
  const { name } = options.model
  const { takenFrom } = options.factsOf(name)
  const taken =
    takenFrom === undefined
      ? []
      : [`The price or the context window of ${name} is unknown; what is missing is taken from ${takenFrom}.`]
  for (const message of [...taken, ...(options.notices ?? [])]) recorder.complete({ type: 'error', message })
  if (options.planMode?.requestedBy !== undefined) {
    recorder.complete({ type: 'plan_mode', state: 'entered', requested_by: options.planMode.requestedBy })
  }
  options.hooks?.report((item) => recorder.complete(item))
}

function rowsOf({ name, hosts, allow }: Credential): { name: string; hosts: string[]; allow: string[] } {
  return { name, hosts: [...hosts], allow: [...allow] }
}

function namedOnly({ name, host, port }: Service): Pick<Service, 'name' | 'host' | 'port'> {
  return { ...(name === undefined ? {} : { name }), host, port }
}

/** Removes the undefined fields from an object. */
function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> }
}

function verification({ commands, attempts, red }: Verification): {
  commands: string[]
  attempts: number
  red?: string[]
} {
  return { commands: [...commands], attempts, ...(red.length === 0 ? {} : { red: [...red] }) }
}
