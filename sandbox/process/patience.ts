/**
 * How long a small program of the system may take that this process waits for. While a process waits in that way, no signal ends it, so a program that
 * hangs, on a dead network disk for example, would hold it forever.
 */
export const patience = { timeout: 60_000, killSignal: 'SIGKILL' } as const

/** The same for a program that works through many files, and so may take long without being stuck. */
export const longPatience = { timeout: 15 * 60_000, killSignal: 'SIGKILL' } as const
