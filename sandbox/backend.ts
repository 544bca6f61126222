import process from 'node:process'

/** What the rest of the program has to know about a backend before loading it. */
type BackendFacts = {
  /**
   * Whether the backend confines commands at all. A backend that doesn't confine them is used only for danger-full-access, and no settings file can name it.
   */
  readonly confines: boolean
  /** The platform on which this is the default backend for confinement. If it is absent, the backend isn't the default on any platform. */
  readonly platform?: NodeJS.Platform
  /** Whether the backend can restrict commands to an allow-list of hosts. */
  readonly hasAllowlist: boolean
  /** Whether the sandbox has its own `/tmp`. */
  readonly hasPrivateTmp: boolean
  /** Whether the backend can mount files. If so, commands can see different content at a path than the host has there. */
  readonly hasViews: boolean
  /** Whether programs come from an image instead of from this machine. */
  readonly hasImage: boolean
  /** Whether the backend stands for an external sandbox. Choosing it opens no sandbox: it declares that an external sandbox confines commands. */
  readonly isStated: boolean
}

const confining = {
  confines: true,
  hasAllowlist: false,
  hasPrivateTmp: false,
  hasViews: false,
  hasImage: false,
  isStated: false,
} satisfies BackendFacts

/**
 * All backends. To add a backend, add its folder, a row here and an import in `load-backend.ts`. Like `unconfined`, `external` confines nothing: the
 * user has declared that an external sandbox confines commands.
 */
const backends = {
  bubblewrap: { ...confining, platform: 'linux', hasAllowlist: true, hasPrivateTmp: true, hasViews: true },
  docker: { ...confining, hasAllowlist: true, hasPrivateTmp: true, hasViews: true, hasImage: true },
  seatbelt: { ...confining, platform: 'darwin' },
  unconfined: { ...confining, confines: false },
  external: { ...confining, confines: false, isStated: true },
} as const satisfies Readonly<Record<string, BackendFacts>>

/** The name of a backend. */
export type Backend = keyof typeof backends

type Having<Fact extends keyof BackendFacts, Value> = {
  [Name in Backend]: (typeof backends)[Name] extends Readonly<Record<Fact, Value>> ? Name : never
}[Backend]

/** A backend that confines commands. */
export type ConfiningBackend = Having<'confines', true>

/** A backend that can be requested by its name. `external` is not one of them: it only declares that an external sandbox confines commands. */
export type NamedBackend = Having<'isStated', false>

/**
 * The names of all backends.
 *
 * @example console.log(backendNames()) // bubblewrap, docker, …
 */
export function backendNames(): readonly Backend[] {
  // The cast is safe, because the object is a constant: it has exactly the keys that its type has.
  return Object.keys(backends) as Backend[]
}

/**
 * The backend that confines commands on this platform by default.
 *
 * @example console.log(confiningBackend()) // bubblewrap, on Linux
 */
export function confiningBackend(): Backend {
  return backendNames().find((name) => factsOf(name).platform === process.platform) ?? 'bubblewrap'
}

/**
 * The facts about one backend.
 *
 * @example console.log(backendNames().filter((name) => factsOf(name).hasAllowlist))
 */
export function factsOf(backend: Backend): BackendFacts {
  return backends[backend]
}
