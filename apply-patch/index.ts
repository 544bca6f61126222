export type * from './change-set.ts'
