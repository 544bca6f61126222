import { common, waitsForCommands, type Part } from './common.ts'
import { patchFormat } from './patch-format.ts'

const words = {
  search: 'Find things with rg and rg --files in the shell, or with grep if there is no rg.',
  edit: 'Change files with apply_patch, not from the shell. One patch may change several files; it applies completely or not at all.',
  list: 'update_plan',
}

/** The instructions for those OpenAI models whose training included the patch format and commands that continue as sessions. */
export const gpt = (part: Part): string =>
  common(
    {
      ...words,
      longCommands:
        'A command that takes longer than its yield_time_ms continues as a session: wait for its end with write_stdin,\n  and end servers and watchers with kill_session. Nothing outlives the run.',
    },
    part,
  )

/** The instructions for OpenAI's older models, which were trained neither on the patch format nor on commands that continue as sessions. */
export const olderGpt = (part: Part): string =>
  `${common({ ...words, longCommands: waitsForCommands }, part)}\n\n${patchFormat}`
