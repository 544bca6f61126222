import { common } from './common.ts'
import { patchFormat } from './patch-format.ts'

/** For OpenAI's models that know the patch format from their training. */
export const gpt = common({
  search: 'Find things with rg and rg --files in the shell, or with grep where there is no rg.',
  edit: 'Change files with apply_patch, not from the shell. One patch may change several files; it applies whole or not at all.',
  list: 'update_plan',
})

/** For those of before, which don't. */
export const olderGpt = `${gpt}

${patchFormat}`
