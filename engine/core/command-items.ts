import * as z from 'zod'

/** Ours: the Guardian's decision about the call behind an item. */
export const verdict = z.object({
  decision: z.enum(['allow', 'deny', 'abort']),
  decided_by: z.string(),
  reason: z.string(),
  rule: z.string().optional(),
})

/** Ours: something the sandbox refused while a command ran, and how to allow it. */
const denial = z.object({
  kind: z.enum(['path', 'host', 'syscall', 'limit', 'quarantine']),
  subject: z.string(),
  rule: z.string(),
  certainty: z.enum(['proven', 'suspected']),
  how_to_allow: z.string(),
})

/** The fields of all items. */
export const common = {
  id: z.string(),
  /** Ours: the file with the whole item, when it was too long for one line. */
  whole_file: z.string().optional(),
  /** Ours: who did it, where it was an agent that the run handed work to. */
  agent_id: z.string().optional(),
}

/** The item of a command, whoever requested it. */
const ran = {
  /** stdout and stderr as they came, cut in the middle when long. */
  aggregated_output: z.string(),
  /** Null while it runs, and for a command that was declined or killed, or did not start. */
  exit_code: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  sandbox: z.string().optional(),
  duration_ms: z.number().optional(),
  /** How a command ended that has no exit code. */
  ended_by: z.enum(['signal', 'timeout', 'cancelled']).optional(),
  /** The file with the whole output when `aggregated_output` was cut. */
  output_file: z.string().optional(),
  verdict: verdict.optional(),
  denials: z.array(denial).optional(),
}

/** A command of the model's. */
export const commandExecution = z.object({
  ...common,
  type: z.literal('command_execution'),
  /** The argument vector, quoted for a shell. */
  command: z.string(),
  ...ran,
  call_id: z.string(),
  cwd: z.string(),
  /** What it was granted beyond the run's sandbox, in words. Absent: nothing. */
  granted: z.array(z.string()).optional(),
})

/** Ours: a command of `--verify`, run after the model had come to its end. */
export const verification = z.object({
  ...common,
  type: z.literal('verification'),
  /** As the user wrote it. */
  command: z.string(),
  /** Counted from 1: how often the model had come to its end by then. */
  attempt: z.int(),
  ...ran,
})
