/**
 * The exit codes of the `agent` program. Each way in which a run can end has its own number, so that a pipeline can branch without reading the
 * output.
 *
 * @example if (exitCodes.stoppedByGuardian === 3) console.log('a run that the Guardian stopped exits with 3')
 */
export const exitCodes = {
  /** The run finished by itself. */
  done: 0,
  /** The task failed. */
  failed: 1,
  /** The command line, the configuration, a rule, a recording or another input is invalid. Nothing was run. */
  usage: 2,
  /** The Guardian stopped the run. */
  stoppedByGuardian: 3,
  /** A budget ran out. */
  budget: 4,
  /** The requested sandbox or the private view of a transaction can't be set up on this machine. */
  sandboxUnavailable: 5,
  /** The model's provider failed. */
  provider: 6,
  /** The run was interrupted by SIGINT: 128 + 2, as shells report it. */
  interrupted: 130,
  /** The run was terminated by SIGTERM or SIGHUP: 128 + 15, as shells report SIGTERM. */
  terminated: 143,
} as const

/** The reason why a run or a program ended, by its name in `exitCodes`. Events use these names too. */
export type EndReason = keyof typeof exitCodes
