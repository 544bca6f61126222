import { resolve } from 'node:path'
import type { RunLimits } from './batch-options.ts'
import type { ConfigOptions } from './declare/config-options.ts'

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
    ...options.config.flatMap((setting) => ['-c', setting]),
    ...valued('-p', options.profile),
    ...flag(options.trust, '--trust'),
    ...flag(options.isolated, '--isolated'),
    ...flag(options.search, '--search'),
    ...valued('--ask-for-approval', options.askForApproval),
    ...flag(options.fullAuto, '--full-auto'),
    ...flag(options.dangerouslyMountDockerSocket, '--dangerously-mount-docker-socket'),
    ...flag(options.approveForMe, '--approve-for-me'),
    ...valued('--approval-program', options.approvalProgram),
    ...flag(options.failOnNoChange, '--fail-on-no-change'),
    ...(options.verify ?? []).flatMap((command) => ['--verify', command]),
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
