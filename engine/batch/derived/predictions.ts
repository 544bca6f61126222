import { join } from 'node:path'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readIfThere } from '../folder/files.ts'
import { isAnswer } from '../outcome.ts'
import type { TrialResult } from './results.ts'

/** SWE-bench's input for evaluating one instance (https://www.swebench.com/SWE-bench/guides/evaluation/). */
type Prediction = {
  readonly instance_id: string
  readonly model_name_or_path: string
  readonly model_patch: string
}

/** The predictions of one model in one repeat, and the name of their file. */
type PredictionFile = {
  readonly name: string
  readonly model: string
  readonly repeat: number
  readonly predictions: Readonly<Record<string, Prediction>>
}

/**
 * The predictions for SWE-bench, in one file for each model and repeat: a patch, possibly empty, for each task that has an answer. A task without an
 * answer is left out, because a missing answer says nothing about what the model can do.
 *
 * @param configured the name of the configured model, which is used for trials that name no model
 */
export function predictionsOf(
  folder: BatchFolder,
  results: readonly TrialResult[],
  configured = 'configured',
): readonly PredictionFile[] {
  const { models, repeat } = folder.manifest
  const labels = labelsOf(models)
  const files = new Map<string, PredictionFile & { readonly predictions: Record<string, Prediction> }>()
  for (const { trial, settled } of results) {
    if (settled === undefined || !isAnswer(settled.outcome)) continue
    const model = trial.model ?? configured
    const parts = [
      ...(models.length > 1 ? [labels.get(model) ?? plain(model)] : []),
      ...(repeat > 1 ? [`r${trial.repeat}`] : []),
    ]
    const name = ['preds', ...parts, 'json'].join('.')
    const patch = settled.patch === undefined ? '' : (readIfThere(join(folder.path, settled.patch)) ?? '')
    const file = files.get(name) ?? { name, model, repeat: trial.repeat, predictions: {} }
    file.predictions[trial.task] = { instance_id: trial.task, model_name_or_path: model, model_patch: patch }
    files.set(name, file)
  }
  return [...files.values()]
}

/** A name for each model that can be part of a file name. No two models have the same. */
function labelsOf(models: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const label = (model: string): string => {
    let name = plain(model)
    for (let next = 2; taken.has(name); next++) name = `${plain(model)}-${next}`
    taken.add(name)
    return name
  }
  return new Map(models.map((model) => [model, label(model)]))
}

function plain(model: string): string {
  return model.replace(/[^\w-]/g, '-')
}
