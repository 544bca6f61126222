import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import type { OwnProcess } from '../app/run-request.ts'

const variable = 'PORTCULLIS_STARTED_FOR'

/** The command line that started this program, without the arguments that the user gave. It can be used to start the program again. */
export function thisProgram(): readonly string[] {
  return [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)]
}

/**
 * Variables that a shell sets when it starts. A process with the environment from `startedFor` is started through a shell. It must therefore remove
 * these variables, except those that were set in the process that called `startedFor`.
 */
const shellVariables = ['PWD', 'OLDPWD', 'SHLVL', '_'] as const

/**
 * The environment of a process that is started in order to show the view of a session. An additional variable contains the session's id and the names
 * of those `shellVariables` that are already set.
 */
export function startedFor(session: string): Readonly<Record<string, string>> {
  const all = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const known = shellVariables.filter((name) => process.env[name] !== undefined)
  return { ...(Object.fromEntries(all) as Record<string, string>), [variable]: [session, ...known].join(' ') }
}

/**
 * Returns the id of the session whose view this process was started to show; undefined if it was not started for this purpose. Removes the variable
 * that contains the id, and the variables that the shell added, so that child processes don't inherit them.
 */
export function takeStartedFor(): string | undefined {
  const [session = '', ...known] = process.env[variable]?.split(' ') ?? []
  delete process.env[variable]
  if (!/^[\da-f-]{36}$/.test(session)) return undefined
  for (const name of shellVariables) if (!known.includes(name)) delete process.env[name]
  return session
}

/**
 * Lets a run restart the program in this process (execve(2)). The process keeps its id, standard streams, terminal and parent, so programs that wait
 * for it or send it signals notice no difference.
 */
export function ownProcess(): OwnProcess {
  const session = takeStartedFor()
  return {
    ...(session === undefined ? {} : { startedFor: session }),
    startAnew: async (id, start) => {
      // `process.execve` has existed since Node 22.15.
      if (typeof process.execve !== 'function') return `it needs Node 22.15 or newer, but this is ${process.version}`
      const found = start([...thisProgram(), ...process.argv.slice(2)])
      if ('why' in found) return found.why
      // The restarted program would never learn of a signal that has arrived since the event loop last polled. Node polls between two of these.
      await setImmediate()
      await setImmediate()
      return process.execve(found.argv[0], found.argv, startedFor(id))
    },
  }
}
