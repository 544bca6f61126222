import { common } from './common.ts'
import { patchFormat } from './patch-format.ts'

/** For all other models, Gemini and local ones among them, and for runs in which models of several makers take turns. */
export const other = `${common}

Act by calling tools; a command or a patch that you only write into a message does nothing. Call them by the names they were declared
with, with arguments in JSON. Do what was asked and nothing beside it. A message without a call ends the run: send it only when the
task is done or cannot be.

${patchFormat}`
