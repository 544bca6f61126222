import { common } from './common.ts'
import { patchFormat } from './patch-format.ts'

/** For OpenAI's models that know the patch format from their training. */
export const gpt = `${common}

Go on until the task is done; do not stop to announce a plan or to ask whether to go on. Do not repeat files or patches in your
messages: whoever reads them sees the changes.`

/** For those of before, which don't. */
export const olderGpt = `${gpt}

${patchFormat}`
