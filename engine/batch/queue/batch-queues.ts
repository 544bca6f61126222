import type { BatchFolder } from '../folder/batch-folder.ts'
import { labelSetsOf, type Labels } from '../labels.ts'
import type { Task } from '../tasks/task.ts'
import type { Trial } from '../trials.ts'
import type { Carrier } from './carrier.ts'
import { openJobQueue, type JobQueue } from './redis.ts'
import { registryOf, WorkersThere, type Unserved } from './worker-registry.ts'

/** The queues of a batch, one for each set of labels that tasks need. A worker takes jobs from the queues for which it has all labels. */
export class BatchQueues {
  readonly #labels: ReadonlyMap<string, Labels>
  readonly #queues: ReadonlyMap<string, JobQueue>
  readonly #workers: WorkersThere

  constructor(carrier: Carrier, folder: BatchFolder, tasks: readonly Task[]) {
    this.#labels = new Map(tasks.map(({ id, labels }) => [id, labels]))
    this.#queues = new Map(
      labelSetsOf(tasks).map((labels) => [labels.join(), openJobQueue(carrier, folder.hash, labels)]),
    )
    this.#workers = new WorkersThere(registryOf(folder))
  }

  /** The queue for the jobs of a trial. */
  queueOf(trial: Trial): JobQueue {
    const queue = this.#queues.get(this.#labelsOf(trial).join())
    if (queue === undefined) throw new Error(`the task ${trial.task} does not belong to this batch`)
    return queue
  }

  /** Whether a trial may be handed out now. A trial that needs labels that no worker has isn't handed out, because it would delay the others. */
  mayBegin(trial: Trial): boolean {
    const labels = this.#labelsOf(trial)
    return labels.length === 0 || this.#workers.have(labels)
  }

  /** The number of runs that the live workers can execute at the same time. */
  places(): number {
    return this.#workers.places()
  }

  /** The sets of labels that these trials need and no worker has, with the number of trials that need each set. */
  unserved(open: readonly Trial[]): readonly Unserved[] {
    return this.#workers.unserved(open.map((trial) => this.#labelsOf(trial)))
  }

  /** Closes the queues. @param isSettled whether all trials are settled; if so, the queues are also deleted from Redis */
  async close(isSettled: boolean): Promise<void> {
    if (isSettled) await Promise.all([...this.#queues.values()].map((queue) => queue.clear().catch(() => undefined)))
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()))
  }

  #labelsOf({ task }: Trial): Labels {
    return this.#labels.get(task) ?? []
  }
}
