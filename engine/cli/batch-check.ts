import { Closing } from '../app/closing.ts'
import { loadRun } from '../app/load-run.ts'
import { commonRequest } from './request-from-options.ts'
import type { BatchRunOptions } from './batch-options.ts'

/**
 * Checks the model names, API keys, settings, rules and hooks for the runs of a batch, before a run sends a request to a model. Starts no run.
 *
 * @param models the names of the models. Empty: the configured model
 * @param tree the work tree of one of the tasks
 * @throws UserError that names the problem
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
