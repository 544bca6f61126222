/**
 * The types of the parts of BullMQ and ioredis that this program uses. The program must build without these packages, because users install them
 * themselves.
 */

/** An ioredis connection. */
export type Redis = {
  info(section: string): Promise<string>
  get(key: string): Promise<string | null>
  call(command: string, ...words: readonly (string | number | Buffer)[]): Promise<unknown>
  callBuffer(command: string, ...words: readonly (string | number | Buffer)[]): Promise<unknown>
  on(event: string, listener: (...args: readonly unknown[]) => void): void
  disconnect(): void
}
/** A BullMQ job. */
export type Job = {
  readonly id?: string
  readonly data: unknown
  readonly failedReason?: string
  getState(): Promise<string>
  remove(): Promise<void>
  /** Gives the job back to the queue. */
  moveToWait(token: string): Promise<unknown>
}
type BullQueue = {
  add(name: string, data: object, options: object): Promise<unknown>
  obliterate(options: object): Promise<void>
  getJob(id: string): Promise<Job | undefined>
  close(): Promise<void>
  on(event: string, listener: (...args: readonly unknown[]) => void): void
}
type BullWorker = {
  on(event: string, listener: (...args: readonly unknown[]) => void): void
  close(force?: boolean): Promise<void>
  pause(doNotWaitActive: boolean): Promise<void>
  resume(): Promise<void>
}
/** The exports of the two packages that this program uses. */
export type Packages = {
  readonly Queue: new (name: string, options: object) => BullQueue
  readonly Worker: new (name: string, act: (job: Job, token?: string) => Promise<void>, options: object) => BullWorker
  readonly UnrecoverableError: new (message: string) => Error
  /** The error to throw after a job was given back to its queue. */
  readonly WaitingError: new () => Error
  readonly Redis: new (url: string, options: object) => Redis
}
