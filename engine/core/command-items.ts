import * as z from 'zod'

/** Not in Codex: the Guardian's decision about the call behind an item. */
export const verdict = z.object({
  decision: z.enum(['allow', 'deny', 'abort']),
  decided_by: z.string(),
  reason: z.string(),
  rule: z.string().optional(),
})

/** Not in Codex: something the sandbox refused while a command ran, and how to allow it. */
const denial = z.object({
  kind: z.enum(['path', 'host', 'syscall', 'limit', 'git']),
  subject: z.string(),
  rule: z.string(),
  certainty: z.enum(['proven', 'suspected']),
  how_to_allow: z.string(),
})

/** The fields that all items have. */
export const common = {
  id: z.string(),
  /** Not in Codex: the file that contains the whole item, if the item was too long for one line. */
  whole_file: z.string().optional(),
  /** Not in Codex: the id of the sub-agent that caused this item. Absent: the run's own model did. */
  agent_id: z.string().optional(),
}

/** The fields shared by all items for commands, whether the model or the user requested the command. */
const ran = {
  /** stdout and stderr in the order in which they arrived, with the middle cut out if they are long. */
  aggregated_output: z.string(),
  /** The exit code; null while the command runs, or if it was declined, was killed, did not start, or its end isn't known. */
  exit_code: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  sandbox: z.string().optional(),
  duration_ms: z.number().optional(),
  /**
   * For a command that failed without an exit code and without `ended_by`: whether it had started. If so, it may have taken effect, and nobody knows how it ended.
   */
  started: z.boolean().optional(),
  /** How a command without an exit code ended. */
  ended_by: z.enum(['signal', 'timeout', 'cancelled']).optional(),
  /** The file with the whole output, if `aggregated_output` was cut. */
  output_file: z.string().optional(),
  verdict: verdict.optional(),
  denials: z.array(denial).optional(),
}

/** A command that the model requested. */
export const commandExecution = z.object({
  ...common,
  type: z.literal('command_execution'),
  /** The argument vector, quoted for a shell. */
  command: z.string(),
  ...ran,
  call_id: z.string(),
  cwd: z.string(),
  /** The permissions beyond the run's sandbox that the command was granted, each as a phrase. Absent: none. */
  granted: z.array(z.string()).optional(),
})

/** Not in Codex: a `--verify` command, run after the model had finished. */
export const verification = z.object({
  ...common,
  type: z.literal('verification'),
  /** The command as the user wrote it. */
  command: z.string(),
  /**
   * How many times the model had finished when this command ran: 1 at first, and one more each time the model continued after a failed verification.
   */
  attempt: z.int(),
  ...ran,
})
