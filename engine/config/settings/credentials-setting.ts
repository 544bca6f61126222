import * as z from 'zod'
import { credentialPresets } from '../credential-presets.ts'
import { absolute } from './absolute.ts'
import { networkKeys } from './network-keys.ts'
import { row } from './setting-row.ts'

const source = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: absolute }),
  z.strictObject({ command: z.array(z.string()).min(1) }),
])

/** The setting that names the secrets which the sandbox's proxy adds to requests. */
export const credentialsSetting = row({
  group: 'sandbox',
  schema: z.record(
    z.string().regex(/^[\w-]{1,64}$/),
    z.strictObject({
      preset: z.enum(Object.keys(credentialPresets) as [keyof typeof credentialPresets]).optional(),
      from: source.optional(),
      for: z.array(z.string().min(1)).min(1).optional(),
      as: z.enum(['git', 'bearer', 'basic', 'header']).optional(),
      user: z.string().optional(),
      header: z.string().optional(),
      allow: z.array(z.string()).optional(),
    }),
  ),
  about:
    'secrets that commands use and never see, each a table `credentials.<name>`: `from` (`{ env = "…" }`, `{ file = "…" }` or `{ command = ["…"] }`), `for` (hosts), `as` (`git`, `bearer`, `basic` with `user`, `header` with `header`), `allow` (rows such as `"GET /repos/acme/app/**"`), `preset` (for what is left out: ' +
    Object.keys(credentialPresets)
      .map((name) => `\`${name}\``)
      .join(', ') +
    '). `--credential` adds a preset. See [sandbox/credentials](../../sandbox/credentials/README.md)',
  unset: 'none',
  saidBy: 'user',
  // Credentials are used through the network, so fixing the network also fixes them.
  isFixedBy: (_, fixed) => networkKeys.has(fixed),
})
