/** What a call of the program asks for. */
export type Settings = {
  readonly command: 'apply' | 'recover' | 'undo'
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
  /** Of `recover`: give up what can't be put in order. */
  readonly abandon: boolean
}

/** What a call without any option means: Codex's way of calling. */
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
}
