import { common } from './common.ts'

/** For OpenAI's models, which know the patch format. */
export const gpt = `${common}

Go on until the task is done; do not stop to announce a plan or to ask whether to go on. Do not repeat files or patches in your
messages: whoever reads them sees the changes.`
