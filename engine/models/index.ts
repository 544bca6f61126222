export { openModel } from './open.ts'
export type { ModelOptions } from './options.ts'
export { recordModel } from './record.ts'
