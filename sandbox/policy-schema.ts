import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { defaultHome, expandHome, homes } from './homes.ts'
import { isNamePattern } from './name-pattern.ts'
import { parsePattern, serviceInstead } from './network/host-pattern.ts'
import { plainPort } from './network/inside.ts'
import { makeServicesSchema } from './network/services-schema.ts'
import { makeCredentialsSchema } from './credentials/credentials-schema.ts'
import { credentialPlaces, protectedPlaces } from './protected/default-places.ts'
import { isUsualList, leavingPath, unusualPath, variableName } from './usual-list.ts'

/**
 * Creates the schema of a policy. This takes longer than checking a policy without a schema (see `usual-policy.ts`), so the schema is created only when
 * it is needed.
 */
export function makePolicySchema() {
  const absolutePath = z
    .string()
    .refine(isAbsolute, 'must be an absolute path')
    .refine(isPlainText, 'must not contain a NUL or an unpaired surrogate')

  /** A list of paths. Its entries are checked together, because such lists are long, and checking each entry would slow down the start of every command. */
  const places = listOfPlaces((entry) => (isPlace(entry) ? undefined : 'must be an absolute path or start with ~/'))

  /** Like `places`, but entries may also be name patterns, which match at any depth. */
  const placesOrNames = listOfPlaces((entry) =>
    isPlace(entry) || /^\*\*\/[^/]+$/.test(entry)
      ? undefined
      : 'must be an absolute path, start with ~/, or be a name at any depth, as in **/.env*',
  )

  const variable = z.string().regex(variableName, 'must be a variable name')

  /**
   * Which of this program's environment variables a command gets. A name passes if it is in `pass`, or if `inherit`, `exclude` and `includeOnly` all let
   * it through. `set` then adds variables or replaces their values.
   */
  const Environment = z.strictObject({
    /** `core` allows only a list of harmless names, `all` allows everything that doesn't look like a secret, and `none` allows nothing. */
    inherit: z.enum(['core', 'all', 'none']).default('core'),
    /** Names that always pass, even if they look like secrets. They are exact names rather than patterns, so that nobody passes a secret by accident. */
    pass: z.array(variable).default([]),
    /** Patterns for the names to leave out. They may contain `*` and `?`, and case doesn't matter. */
    exclude: z.array(variable).default([]),
    /** If this is not empty, only variables whose names match one of these patterns pass. */
    includeOnly: z.array(variable).default([]),
    set: z
      .record(variable, z.string().refine(isPlainText, 'must not contain a NUL or an unpaired surrogate'))
      .default({}),
  })

  /** A host pattern, in the syntax that `parsePattern` accepts. */
  const allowedHost = z
    .union([z.string(), z.strictObject({ host: z.string(), allowPrivate: z.boolean().optional() })])
    .superRefine((input, context) => {
      const pattern = parsePattern(input)
      if ('expected' in pattern) return context.addIssue({ code: 'custom', message: pattern.expected })
      const service = serviceInstead(input)
      if (service === undefined) return
      const message = `${JSON.stringify(pattern.text)}: must not be a loopback address, which commands have themselves: name ${service} in services`
      context.addIssue({ code: 'custom', message })
    })

  /**
   * The network access of commands. With `allowlist`, commands can reach the network only through our proxy, which connects only to the hosts in
   * `allow`. A pattern without a port means ports 80 and 443.
   */
  const Network = z.discriminatedUnion('mode', [
    z.strictObject({ mode: z.enum(['off', 'full']) }),
    z.strictObject({ mode: z.literal('allowlist'), allow: z.array(allowedHost) }),
  ])

  /**
   * The limits for each command. A limit that is left out has a default (except `cpus`), which is enforced if possible. A limit that is given is
   * enforced; if that is impossible, the policy is refused.
   */
  const Limits = z.strictObject({
    /** How long one command may run, in milliseconds. */
    wallTimeMs: z.int().positive().optional(),
    /** The maximum number of bytes that a command may write to stdout and stderr together. A command that writes more is killed. */
    outputBytes: z.int().positive().optional(),
    /** The maximum number of processes and threads that one command may have at the same time. */
    processes: z.int().min(8).optional(),
    /**
     * The maximum memory, in bytes, that all processes of one command together may use. If no control groups can be created, a policy that sets this
     * limit is refused, and one that leaves it out gets a default limit for each process separately.
     */
    memoryBytes: z
      .int()
      .min(32 * 1024 * 1024)
      .optional(),
    /** The size, in bytes, of the largest file that a command may write. */
    fileSizeBytes: z.int().positive().optional(),
    /**
     * How many bytes one command may use on each disk that it can write to. While the command runs, the disks are checked ten times a second. A command
     * that uses more is killed.
     */
    diskBytes: z
      .int()
      .min(1024 ** 2)
      .optional(),
    /**
     * How many files may be created on each disk that a command can write to. While the command runs, the disks are checked ten times a second. A
     * command that exceeds this number is killed.
     */
    files: z.int().min(16).optional(),
    /**
     * How many processors a command may use (processor time per second of wall time), for example 1.5. If this is left out, a command may use all
     * processors.
     */
    cpus: z.number().min(0.01).optional(),
    /** The maximum number of files that one process may have open at the same time. */
    openFiles: z.int().min(32).optional(),
  })

  const [isOverlay, over] = [z.literal(true).optional(), absolutePath.optional()]
  const view = z.strictObject({ path: absolutePath, source: absolutePath, overlay: isOverlay, over })
  const policy = z.strictObject({
    /** With `danger-full-access`, commands are not confined. Only the settings for the environment and the limits apply. */
    mode: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
    /** The directory that the run works in. It is writable in workspace-write mode. */
    workspace: absolutePath,
    /** Additional directories that are writable in workspace-write mode. */
    writableRoots: places.default([]),
    /** Additional files that are writable in workspace-write mode. A file that doesn't exist is skipped. */
    writableFiles: places.default([]),
    /** Files and directories that are visible although they are inside a directory that is denied, or private to the sandbox (`/tmp`, `/run`). */
    readableRoots: places.default([]),
    /**
     * Files and directories that can't be read: absolute paths, or patterns (two stars, a slash, and a name such as `.env*`), which match at any
     * depth below the workspace or another root when a command starts. A list that is given here replaces the default list, which contains the usual
     * locations of credentials.
     */
    deniedReads: placesOrNames.prefault(() => [...credentialPlaces()]),
    /** What bubblewrap shows besides the roots. `closed`: the system's programs and toolchains. `open`: everything except `deniedReads`. */
    home: z.enum(['closed', 'open']).default(defaultHome),
    /**
     * Paths that stay read-only even inside a writable root. Each is an absolute path, a path relative to every writable root, or (after two stars and
     * a slash) a path relative to every directory of a root.
     */
    protectedPaths: longList(
      (entry) =>
        entry === '' ? 'must not be empty' : staysInside(entry) ? undefined : 'must not leave the root with ".."',
      leavingPath,
      (entries) => entries,
    )
      .transform((entries) => [...entries])
      .default(() => [...protectedPlaces()]),
    /**
     * Private views. At each `path` (a directory, given without symlinks), commands see the directory `source` in place of the original. They can't
     * reach the original, and they can't reach `source` at its own path. Paths in this policy refer to the files that commands see. `over`: see `View`.
     * Only backends that can mount support views.
     */
    views: z.array(view).default([]),
    network: Network.default({ mode: 'off' }),
    /**
     * Programs outside the sandbox that commands reach at the same port of their own `localhost`, whatever `network` says: databases, servers that are
     * being developed. Nothing else becomes reachable. The network mode `full` needs none, and refuses them.
     */
    services: makeServicesSchema().default([]),
    /** Secrets that the proxy adds to requests for `http://HOST/…`, whatever `network` says. The network mode `full` has no proxy, and refuses them. */
    credentials: makeCredentialsSchema().default([]),
    /**
     * The socket of a docker daemon that commands see and may use. Commands can then use other unix sockets too. Whoever can use a machine's docker
     * daemon is root on that machine. If this is left out, commands don't see the socket.
     */
    dockerSocket: absolutePath.optional(),
    /**
     * Whether commands may open unix sockets, and so use any socket that they see: no system call filter can distinguish their own. Sockets on which
     * programs of this machine listen when a command starts are hidden, except those that are themselves roots; those of later programs aren't.
     */
    unixSockets: z.boolean().default(false),
    environment: Environment.prefault({}),
    limits: Limits.prefault({}),
  })
  return policy.superRefine(({ network, ...others }, context) => {
    const fault = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message })
    if (others.credentials.length > 0 && others.services.some(({ port }) => port === plainPort))
      fault('services', `must not have one at port ${plainPort}, where commands find the hosts of credentials`)
    for (const key of ['services', 'credentials'] as const) {
      if (others[key].length > 0 && network.mode === 'full')
        fault(key, 'contradict the network mode full, in which commands reach every host themselves: leave one out')
    }
  })
}

/** The schema of a list of paths that are absolute, or start with `~/` for the caller's home directory. Parsing makes all of them absolute. */
function listOfPlaces(faultOf: (entry: string) => string | undefined) {
  return longList(faultOf, unusualPath, (entries) => expandAll(entries)).transform((entries) => [...new Set(entries)])
}

/**
 * The schema of a list of texts. Such a list is usually long and valid, so a single test of the joined texts comes first. Only if that test finds
 * something suspicious is each entry checked, which takes longer than all other checks of a policy.
 *
 * @param suspicious matches only entries that may be invalid or not normalized. An entry that contains a line feed counts as two
 */
function longList(
  faultOf: (entry: string) => string | undefined,
  suspicious: RegExp,
  change: (entries: string[]) => readonly string[],
) {
  const each = z.array(z.string()).superRefine(checkEach(faultOf))
  return z.custom<readonly string[]>().transform((given, context): readonly string[] => {
    if (isUsualList(given, suspicious)) return given
    const checked = each.safeParse(given, { jitless: true })
    if (checked.success) return change(checked.data)
    for (const { message, path } of checked.error.issues) context.addIssue({ code: 'custom', message, path: [...path] })
    return z.NEVER
  })
}

function checkEach(faultOf: (entry: string) => string | undefined) {
  return (entries: readonly string[], context: z.RefinementCtx): void => {
    for (const [index, entry] of entries.entries()) {
      const message = hasNoNul(entry) ? faultOf(entry) : 'must not contain a NUL'
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: [index] })
    }
  }
}

function isPlace(entry: string): boolean {
  return isAbsolute(entry) || entry.startsWith('~/')
}

/** A parsed policy, as the schema returns it. */
export type ParsedPolicy = z.infer<ReturnType<typeof makePolicySchema>>

/** A policy as a caller writes it, before the schema has filled in the defaults. */
export type PolicyInput = z.input<ReturnType<typeof makePolicySchema>>

/** Whether Node passes a text to the system unchanged. */
function isPlainText(text: string): boolean {
  return hasNoNul(text) && text.isWellFormed()
}

function hasNoNul(text: string): boolean {
  return !text.includes('\0')
}

function staysInside(path: string): boolean {
  return !path.includes('..') || !path.split('/').includes('..')
}

/** Expands `~/` in a list of paths. To find the home directories, the system's list of users is read, so this is done once for all paths. */
function expandAll(entries: readonly string[]): readonly string[] {
  const known = entries.some((entry) => entry.startsWith('~')) ? homes() : []
  return entries.flatMap((entry) => (isNamePattern(entry) ? [entry] : expandHome(entry, known)))
}
