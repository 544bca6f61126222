/** The settings of one invocation of the program, as its arguments specify them. */
export type Settings = {
  readonly command: 'apply' | 'recover' | 'undo' | 'prune'
  /** The patch given as an argument; undefined means standard input. */
  readonly patch: string | undefined
  readonly root: string
  readonly check: boolean
  readonly diff: boolean
  readonly json: boolean
  readonly strict: boolean
  readonly reverse: boolean
  readonly unsafePaths: boolean
  readonly durable: boolean
  /** For `recover`: whether to discard the journals of crashed runs that can't be repaired. */
  readonly abandon: boolean
  /** For `prune`: whether to remove the journals of all trees. */
  readonly all: boolean
}

/** The settings of a call without options. Codex calls the program in this way. */
export const defaults: Settings = {
  command: 'apply',
  patch: undefined,
  root: '.',
  check: false,
  diff: false,
  json: false,
  strict: false,
  reverse: false,
  unsafePaths: false,
  durable: false,
  abandon: false,
  all: false,
}
