export type * from './action.ts'
