import { common } from './common.ts'
import { patchFormat } from './patch-format.ts'

/** For Anthropic's models. */
export const claude = `${common}

Do what was asked and nothing beside it: no documents nobody asked for, no comments about what you did, no tidying elsewhere. Calls
that do not depend on each other belong in one response.

${patchFormat}`
