import * as z from 'zod'
import { names } from '../../core/backend-names.ts'
import { defaultSandbox } from '../defaults.ts'
import { openPresets } from '../host-presets.ts'
import { apart, hostsWithin, limitWithin, modeWithin, rootsWithin, type Reach } from '../strictness.ts'
import { absolute } from './absolute.ts'
import { networkKeys } from './network-keys.ts'
import { row } from './setting-row.ts'

const group = 'sandbox'

const limit = z.union([
  z.int().positive(),
  z.string().regex(/^\d+[KMGkmg]?$/, 'must be a number, or one with K, M or G behind it'),
])

/** Settings about the access of commands. */
export const sandboxSettings = {
  sandbox_mode: row({
    group,
    schema: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
    about: 'what commands may touch: `read-only`, `workspace-write`, `danger-full-access`',
    unset: `\`${defaultSandbox}\``,
    value: defaultSandbox,
    within: (asked, bound = defaultSandbox) => modeWithin(asked, bound),
    // A fixed sandbox setting also fixes that there is a sandbox.
    isFixedBy: (_, fixed) => fixed.startsWith('sandbox_'),
  }),
  transactional: row({
    group,
    schema: z.union([z.boolean(), z.enum(['auto', 'copy', 'reflink', 'overlay'])]),
    about:
      'whether a run works on a private view of the workspace, so that all it changed lands together at its end, or nothing: `true` or `"auto"`, `"reflink"` (shares ' +
      'blocks with the original, where the file system can), `"copy"` (whatever the size), `"overlay"` (Linux, `agent exec`: mounted over the workspace in a namespace of the process)',
    unset: '`false`',
    value: false,
    within: (asked, bound) => bound === undefined || bound === false || (asked !== undefined && asked !== false),
  }),
  sandbox_backend: row({
    group,
    schema: z.enum(names.confining),
    about: `what confines commands: ${names.confining.map((name) => `\`${name}\``).join(', ')}`,
    unset: 'the platform’s own',
  }),
  sandbox_image: row({
    group,
    schema: z.string().min(1),
    about:
      'the image that the docker backend runs commands in; it must be there already, with the tools that they need',
  }),
  sandbox_workspace_write: row({
    group,
    schema: z
      .strictObject({
        writable_roots: z.array(absolute).optional(),
        network_access: z.boolean().optional(),
        allowed_hosts: z
          .array(
            z.union([
              z.string().min(1),
              /** A host that may have an address in a private network. */
              z.strictObject({ host: z.string().min(1), allow_private: z.boolean() }),
            ]),
          )
          .min(1)
          .transform(openPresets)
          .optional(),
      })
      .refine((table) => table.network_access !== true || table.allowed_hosts === undefined, {
        path: ['allowed_hosts'],
        message: 'contradicts network_access = true, which reaches every host: leave one of them out',
      }),
    about: 'what commands may do in `workspace-write`',
    value: { writable_roots: [], network_access: false },
    keys: {
      writable_roots: { about: 'more directories to write in, beside the workspace', unset: 'none' },
      allowed_hosts: {
        about:
          'the only hosts that commands reach, through our proxy, as `example.com`, `*.example.com` or with `:port`; names of registries (`npm`, ' +
          '`pypi`, `crates`, …) stand for their hosts',
        unset: 'none',
      },
      network_access: { about: 'whether commands reach every host', unset: '`false`' },
    },
    within: (asked = {}, bound = {}, key) => {
      if (key === 'writable_roots') return rootsWithin(asked.writable_roots ?? [], bound.writable_roots ?? [])
      return hostsWithin(reach(asked), reach(bound))
    },
    isFixedBy: (key, fixed) => networkKeys.has(key) && networkKeys.has(fixed),
  }),
  sandbox_caches: row({
    group,
    schema: z.array(z.enum(['npm', 'pnpm', 'pip', 'uv', 'cargo', 'go', 'gradle'])),
    about:
      'package managers whose caches are kept from run to run, each in a directory of this project’s own that commands may write to in ' +
      '`workspace-write`: `npm`, `pnpm`, `pip`, `uv`, `cargo`, `go`, `gradle`. What one command puts there, later ones trust',
    unset: 'none',
    within: (asked = [], bound = []) => asked.every((name) => bound.includes(name)),
    // A list of writable paths besides the workspace replaces the lists below it.
    isFixedBy: (_, fixed) => fixed === 'sandbox_workspace_write.writable_roots',
  }),
  protected: row({
    group,
    schema: z.strictObject({ allow: z.array(z.string().min(1)).optional() }),
    about: 'what other programs obey, and commands and patches therefore leave alone',
    saidBy: 'user',
    keys: {
      allow: {
        about:
          'names of protected places that commands and patches may write all the same, as `[".husky"]`; `agent doctor --protected` lists them; ' +
          'never by a repository',
        unset: 'none',
      },
    },
    within: (asked, bound) => (asked?.allow ?? []).every((name) => bound?.allow?.includes(name)),
  }),
  sandbox_read: row({
    group,
    schema: z.strictObject({
      allow: z.array(absolute).optional(),
      deny: z
        .array(
          z.union(
            [absolute, z.string().regex(/^[^/]+$/)],
            'must be an absolute path, start with ~/, or be a name without a slash',
          ),
        )
        .optional(),
    }),
    about: 'what commands may read, in every mode',
    keys: {
      allow: {
        about: 'files and directories to show although they lie in a place that is private or denied',
        unset: 'none',
      },
      deny: {
        about: 'files and directories to hide; `deny = [".env*"]` hides names at any depth',
        unset: 'where credentials are kept',
      },
    },
    within: (asked = {}, bound = {}, key) => {
      if (key === 'deny') return rootsWithin(bound.deny ?? [], asked.deny ?? [])
      const allowed = asked.allow ?? []
      return (bound.allow === undefined || rootsWithin(allowed, bound.allow)) && apart(allowed, bound.deny ?? [])
    },
    // A path that must not be read must not be mounted.
    isFixedBy: (key, fixed) => key === 'sandbox_read.allow' && fixed === 'sandbox_read.deny',
  }),
  sandbox_limits: row({
    group,
    schema: z.strictObject({
      output: limit.optional(),
      processes: limit.optional(),
      memory: limit.optional(),
      cpus: z.number().positive().optional(),
      file_size: limit.optional(),
      disk: limit.optional(),
      files: limit.optional(),
      open_files: limit.optional(),
    }),
    about: 'what one command may use: numbers, sizes also as `"512M"`; `agent doctor` says what is enforced here',
    keys: {
      output: { about: 'what is kept of what it prints' },
      processes: { about: 'how many run at a time' },
      memory: { about: 'all of them together' },
      cpus: { about: 'processors’ worth of time' },
      file_size: { about: 'the size of one file' },
      disk: { about: 'of the disks written to, while one command runs' },
      files: { about: 'files that come to be on these disks, while one command runs' },
      open_files: { about: 'how many files a process has open' },
    },
    within: (asked = {}, bound = {}, key) =>
      limitWithin(key, asked[key as keyof typeof asked], bound[key as keyof typeof bound]),
  }),
  shell_environment_policy: row({
    group,
    schema: z.strictObject({
      inherit: z.enum(['core', 'all', 'none']).optional(),
      exclude: z.array(z.string().min(1)).optional(),
      include_only: z.array(z.string().min(1)).optional(),
      set: z.record(z.string().min(1), z.string()).optional(),
      // Only there so that Codex's files are understood.
      ignore_default_excludes: z.literal(false).optional(),
    }),
    about:
      'which variables commands get, as Codex spells it. Names that look like secrets never pass; `set` gives a command one on purpose',
    value: { inherit: 'core' },
    keys: {
      inherit: {
        about: '`core`: a list of harmless names; `all`: everything that doesn’t look like a secret; `none`',
        unset: '`core`',
      },
      exclude: { about: 'patterns of names to leave out', unset: 'none' },
      include_only: { about: 'the only patterns of names that stay', unset: 'all' },
      set: { about: 'variables to set', unset: 'none' },
    },
    within: (asked, bound, key) => {
      switch (key) {
        case 'inherit':
          return asked?.inherit === 'none' || bound?.inherit === 'all' || asked?.inherit === bound?.inherit
        case 'exclude':
          return (bound?.exclude ?? []).every((pattern) => asked?.exclude?.includes(pattern))
        case 'include_only':
          return (asked?.include_only ?? []).every((pattern) => bound?.include_only?.includes(pattern))
        default:
          return undefined
      }
    },
  }),
  allow_unix_sockets: row({
    group,
    schema: z.boolean(),
    about:
      'lets commands open unix sockets (Chromium, Playwright, tmux, multiprocessing, ssh-agent): their own, and with them any of this machine’s that they can see. ' +
      '`/tmp`, `/run`, credentials and what listens when a command starts stay hidden; what begins to listen later in the workspace or elsewhere doesn’t',
    unset: '`false`',
    saidBy: 'user',
  }),
  dangerously_mount_docker_socket: row({
    group,
    schema: z.boolean(),
    about:
      'gives commands the docker daemon’s socket, and with it the machine: whoever can talk to it is root. Every event and the summary say so',
    unset: '`false`',
    saidBy: 'user',
  }),
}

/** The hosts that commands reach. */
function reach(table: {
  readonly network_access?: boolean | undefined
  readonly allowed_hosts?: readonly (string | { readonly host: string; readonly allow_private: boolean })[] | undefined
}): Reach {
  if (table.allowed_hosts === undefined) return table.network_access === true ? 'all' : []
  return table.allowed_hosts.map((entry) =>
    typeof entry === 'string' ? { host: entry, private: false } : { host: entry.host, private: entry.allow_private },
  )
}
