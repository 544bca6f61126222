/** The cost of one workload for one program, as medians over the runs. */
export type Cost = {
  /** Wall time in milliseconds. */
  readonly wallMs: number
  /** User and system time in milliseconds, children included. */
  readonly cpuMs?: number
  /** Peak resident memory in MiB. */
  readonly peakMiB?: number
}

/** One line of the table. `peer` exists only if the peer's program was found and measured in the same run. */
export type BenchRow = {
  readonly name: string
  readonly ours: Cost
  readonly peer?: Cost
  /** What a reader should know about the row, such as the number of runs. */
  readonly note?: string
}
