import { Closing } from '../app/closing.ts'
import { loadRun } from '../app/load-run.ts'
import { commonRequest } from './request-from-options.ts'
import type { BatchRunOptions } from './batch-options.ts'

/**
 * Checks everything that can be wrong with the runs of a batch before they ask a model: names and keys of models, settings, rules, hooks. It starts no run.
 *
 * @param models the names of the models; empty: the configured one
 * @param tree a repository in which a run works
 * @throws UserError `usage` that names the problem
 */
export async function checkModels(options: BatchRunOptions, models: readonly string[], tree: string): Promise<void> {
  const { model: _, ...configured } = options
  for (const model of models.length === 0 ? [undefined] : models) {
    const closing = new Closing()
    try {
      const common = commonRequest({ ...configured, ...(model === undefined ? {} : { model }), cd: tree })
      const maxCost = options.maxCostPerRun ?? options.maxCost
      const verify = options.verify === undefined ? {} : { verify: { commands: options.verify } }
      const task = { type: 'prompt', prompt: 'check' } as const
      await loadRun({ ...common, ...verify, task, budget: { maxCost } }, closing)
    } finally {
      await closing.close()
    }
  }
}
