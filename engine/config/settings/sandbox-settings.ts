import * as z from 'zod'
import { names } from '../../core/backend-names.ts'
import { defaultSandbox } from '../defaults.ts'
import { apart, hostsWithin, limitWithin, modeWithin, rootsWithin, type Reach } from '../strictness.ts'
import { absolute } from './absolute.ts'
import { allowedHosts } from './allowed-hosts.ts'
import { credentialsSetting } from './credentials-setting.ts'
import { networkKeys } from './network-keys.ts'
import { servicesSetting } from './services-setting.ts'
import { row } from './setting-row.ts'

const group = 'sandbox'

const limit = z.union([
  z.int().positive(),
  z.string().regex(/^\d+[KMGkmg]?$/, 'must be a number, optionally followed by K, M or G'),
])

/** Settings that decide what commands can access. */
export const sandboxSettings = {
  sandbox_mode: row({
    group,
    schema: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
    about: 'what commands may access: `read-only`, `workspace-write`, `danger-full-access`',
    unset: `\`${defaultSandbox}\``,
    value: defaultSandbox,
    within: (asked, bound = defaultSandbox) => modeWithin(asked, bound),
    // Fixing any sandbox setting also bounds the mode, so that a run can't switch the sandbox off.
    isFixedBy: (_, fixed) => fixed.startsWith('sandbox_'),
  }),
  view: row({
    group,
    schema: z.enum(['auto', 'copy', 'reflink', 'overlay']),
    about:
      'how a run\'s private view of the workspace is made: `"reflink"` (shares blocks with the original, if the file system supports that), `"copy"` (whatever the size), `"overlay"` (Linux, `agent exec`: mounted over the workspace in a namespace of the process), or `"auto"`, whichever works',
    unset: '`"auto"`',
    value: 'auto',
    isPreference: true,
  }),
  in_place: row({
    group,
    schema: z.boolean(),
    about:
      'whether runs work in the workspace itself, without a private view: their changes are there at once, and are neither judged nor undone',
    unset: '`false`',
    value: false,
    saidBy: 'user',
    within: (asked, bound) => bound === true || asked !== true,
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
      'the image in which the docker backend runs commands; it must already be on the machine, with the tools that commands need',
  }),
  sandbox_workspace_write: row({
    group,
    schema: z
      .strictObject({
        writable_roots: z.array(absolute).optional(),
        network_access: z.boolean().optional(),
        allowed_hosts: allowedHosts.optional(),
      })
      .refine((table) => table.network_access !== true || table.allowed_hosts === undefined, {
        path: ['allowed_hosts'],
        message: 'contradicts network_access = true, which allows every host; remove one of the two',
      }),
    about: 'what commands may do in the sandbox mode `workspace-write`',
    value: { writable_roots: [], network_access: false },
    keys: {
      writable_roots: { about: 'further writable directories, besides the workspace', unset: 'none' },
      allowed_hosts: {
        about:
          'the only hosts that commands can reach, through our proxy: `example.com` or `*.example.com`, optionally with `:port`; names of registries (`npm`, `pypi`, `crates`, …) stand for their hosts',
        unset: 'none',
      },
      network_access: { about: 'whether commands can reach every host', unset: '`false`' },
    },
    within: (asked = {}, bound = {}, key) => {
      if (key === 'writable_roots') return rootsWithin(asked.writable_roots ?? [], bound.writable_roots ?? [])
      return hostsWithin(reach(asked), reach(bound))
    },
    isFixedBy: (key, fixed) => networkKeys.has(key) && networkKeys.has(fixed),
  }),
  services: servicesSetting,
  credentials: credentialsSetting,
  sandbox_caches: row({
    group,
    schema: z.array(z.enum(['npm', 'pnpm', 'pip', 'uv', 'cargo', 'go', 'gradle'])),
    about:
      'package managers whose caches are kept between runs: `npm`, `pnpm`, `pip`, `uv`, `cargo`, `go`, `gradle`. Each project has caches of its own, which commands can use only in `workspace-write`. There is a risk: later commands trust what earlier commands put into a cache',
    unset: 'none',
    within: (asked = [], bound = []) => asked.every((name) => bound.includes(name)),
    // Fixing the writable roots also fixes the caches, because these are writable too.
    isFixedBy: (_, fixed) => fixed === 'sandbox_workspace_write.writable_roots',
  }),
  protected: row({
    group,
    schema: z.strictObject({ allow: z.array(z.string().min(1)).optional() }),
    about: 'files that control other programs, and that commands and patches therefore can’t change',
    saidBy: 'user',
    keys: {
      allow: {
        about:
          'names of protected places that commands and patches may write to anyway, such as `[".husky"]`; `agent doctor --protected` lists all protected places. A repository can’t set this key',
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
      home: z.enum(['closed', 'open']).optional(),
    }),
    about: 'what commands may read, in every mode',
    keys: {
      allow: {
        about: 'files and directories to show even though commands wouldn’t see them, or they are in a denied place',
        unset: 'none',
      },
      home: {
        about:
          '`"closed"`: of home directories, commands see only toolchains, and of the rest of the machine only the system’s programs; `"open"`: everything but the denied places. A repository can’t set this key. Containers are always closed; sandbox-exec shows everything',
        unset: '`"closed"`',
        saidBy: 'user',
      },
      deny: {
        about: 'files and directories to hide; `deny = [".env*"]` hides names at any depth',
        unset: 'the places where credentials are kept',
      },
    },
    within: (asked = {}, bound = {}, key) => {
      if (key === 'deny') return rootsWithin(bound.deny ?? [], asked.deny ?? [])
      if (key === 'home') return asked.home === 'closed' || asked.home === bound.home
      const allowed = asked.allow ?? []
      return (bound.allow === undefined || rootsWithin(allowed, bound.allow)) && apart(allowed, bound.deny ?? [])
    },
    // Making a path visible would undo its denial, so fixing the denials also fixes which paths may be visible.
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
    about:
      'limits for one command: numbers, or sizes such as `"512M"`; `agent doctor` shows which are enforced on this machine',
    keys: {
      output: { about: 'how much one command may print; a command that prints more is killed' },
      processes: { about: 'how many processes the command may run at a time' },
      memory: { about: 'the memory of all processes of the command together' },
      cpus: { about: 'how many processors the command may use' },
      file_size: { about: 'the size of a single file' },
      disk: { about: 'how much disk space may be used while the command runs, on the disks that it writes to' },
      files: { about: 'how many files may be created while the command runs, on the disks that it writes to' },
      open_files: { about: 'how many files a process may have open' },
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
      // This key is accepted only because Codex's files contain it.
      ignore_default_excludes: z.literal(false).optional(),
    }),
    about:
      'which environment variables commands get, in Codex’s format. Variables that look like secrets are never passed on; to give commands such a variable anyway, use `set`',
    value: { inherit: 'core' },
    keys: {
      inherit: {
        about:
          '`core`: a list of harmless variables; `all`: all variables that don’t look like secrets; `none`: no variables',
        unset: '`core`',
      },
      exclude: { about: 'patterns of names to leave out', unset: 'none' },
      include_only: { about: 'patterns of names to keep; all others are left out', unset: 'all' },
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
      'lets commands open unix sockets (Chromium, Playwright, tmux, multiprocessing, ssh-agent): their own, and also any socket of this machine that they can see. `/tmp`, `/run`, credentials and sockets that are open when a command starts stay hidden from it; sockets that other programs create after the command has started, in the workspace or elsewhere, are visible',
    unset: '`false`',
    saidBy: 'user',
  }),
  dangerously_mount_docker_socket: row({
    group,
    schema: z.boolean(),
    about:
      'gives commands the docker daemon’s socket, and thereby control of the machine: anyone who can talk to the daemon can become root. Every event and the summary of a run mention this setting',
    unset: '`false`',
    saidBy: 'user',
  }),
}

/** Returns the hosts that a table `sandbox_workspace_write` lets commands reach. */
function reach(table: {
  readonly network_access?: boolean | undefined
  readonly allowed_hosts?: readonly (string | { readonly host: string; readonly allow_private: boolean })[] | undefined
}): Reach {
  if (table.allowed_hosts === undefined) return table.network_access === true ? 'all' : []
  return table.allowed_hosts.map((entry) =>
    typeof entry === 'string' ? { host: entry, private: false } : { host: entry.host, private: entry.allow_private },
  )
}
