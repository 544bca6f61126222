import { resolve } from 'node:path'
import type { ConfigOptions } from './declare/config-options.ts'

/** The limits and checks of each run in a batch, with the same names and meanings as the options of `agent exec`. */
type RunLimits = {
  readonly maxTurns?: number
  readonly maxTokens?: number
  readonly timeout?: number
  readonly failOnNoChange?: true
  readonly verify?: readonly string[]
  readonly verifyRed?: readonly string[]
  readonly verifyAttempts?: number
}

/** The options of `agent batch run`, as parsed. */
export type BatchRunOptions = ConfigOptions &
  RunLimits & {
    readonly output: string
    readonly workers?: number
    readonly repeat: number
    readonly shard?: string
    readonly attempts: number
    readonly maxCost?: number
    readonly maxCostPerRun?: number
    readonly rpm?: number
    readonly tpm?: number
    readonly filter?: readonly string[]
    readonly slice?: string
    readonly shuffle?: number
    readonly limit?: number
    readonly dryRun?: true
    readonly queue?: string
    readonly throughQueue?: true
    readonly retrySeconds?: number
  }

/** The options of `agent batch report`. */
export type BatchReportOptions = { readonly format?: (typeof batchReportFormats)[number] }

/** The formats in which a batch's statistics can be shown. */
export const batchReportFormats = ['text', 'md', 'csv', 'json'] as const

/**
 * Turns the options of a batch into the corresponding arguments of `agent exec`; the paths of `--add-dir` become absolute. The model and the
 * directory are left out, because they differ between runs.
 */
export function execWords(options: ConfigOptions & RunLimits): readonly string[] {
  const flag = (is: boolean | undefined, name: string): readonly string[] => (is === true ? [name] : [])
  const valued = (name: string, value: string | number | undefined): readonly string[] =>
    value === undefined ? [] : [name, String(value)]
  return [
    ...valued('-s', options.sandbox),
    ...(options.addDir ?? []).flatMap((directory) => ['--add-dir', resolve(directory)]),
    ...(options.allowRead ?? []).flatMap((path) => ['--allow-read', path]),
    ...(options.service ?? []).flatMap((service) => ['--service', service]),
    ...(options.credential ?? []).flatMap((credential) => ['--credential', credential]),
    ...options.config.flatMap((setting) => ['-c', setting]),
    ...valued('-p', options.profile),
    ...flag(options.trust, '--trust'),
    ...flag(options.isolated, '--isolated'),
    ...flag(options.search, '--search'),
    ...valued('--ask-for-approval', options.askForApproval),
    ...flag(options.fullAuto, '--full-auto'),
    ...flag(options.openHome, '--open-home'),
    ...flag(options.dangerouslyMountDockerSocket, '--dangerously-mount-docker-socket'),
    ...flag(options.approveForMe, '--approve-for-me'),
    ...valued('--approval-program', options.approvalProgram),
    ...flag(options.failOnNoChange, '--fail-on-no-change'),
    ...(options.verify ?? []).flatMap((command) => ['--verify', command]),
    ...(options.verifyRed ?? []).flatMap((command) => ['--verify-red', command]),
    ...valued('--verify-attempts', options.verifyAttempts),
    ...valued('--max-turns', options.maxTurns),
    ...valued('--max-tokens', options.maxTokens),
    ...valued('--timeout', options.timeout),
  ]
}

/** The models that `-m A,B` names, without duplicates. A relative path in `replay:PATH` is made absolute. */
export function modelsOf(model: string | undefined): readonly string[] {
  const names = (model ?? '').split(',').filter((name) => name !== '')
  return [...new Set(names)].map((name) =>
    name.startsWith('replay:') ? `replay:${resolve(name.slice('replay:'.length))}` : name,
  )
}
