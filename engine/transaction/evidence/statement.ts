import * as z from 'zod'
import { verified } from '../../core/run-summary.ts'

/** What kind of statement it is. */
export const statementType = 'https://in-toto.io/Statement/v1'
/** What its predicate tells: of a run that is a transaction, in this version of ours. */
export const predicateType = 'https://github.com/portcullis-dev/portcullis/evidence/v1'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** A path as a run left it, from the top of its tree. */
const fileAfter = z.discriminatedUnion('type', [
  z.strictObject({ path: z.string(), type: z.literal('file'), sha256: hash, mode: z.int() }),
  z.strictObject({ path: z.string(), type: z.literal('symlink'), target: z.string() }),
  z.strictObject({ path: z.string(), type: z.literal('directory') }),
  z.strictObject({ path: z.string(), type: z.literal('absent') }),
])

/** What one run of the session was decided by: hashes of what its Guardian and its sandbox went by. */
export const decidedBy = z.strictObject({
  at: z.string(),
  approval_policy: z.string(),
  sandbox: z.strictObject({
    mode: z.string(),
    backend: z.string(),
    network: z.string(),
    image: z.string().optional(),
    policy_sha256: hash,
  }),
  /** Each source of rules with the hash of the rules that it gave. */
  rules: z.array(z.strictObject({ source: z.string(), rules: z.int(), sha256: hash })),
  permissions_sha256: hash,
})

/** The statement (in-toto, Statement v1). */
export const statement = z.strictObject({
  _type: z.literal(statementType),
  /** The patch, and the commit that was checked out in each tree when the run began. */
  subject: z
    .array(
      z.strictObject({
        name: z.string(),
        digest: z.union([z.strictObject({ sha256: hash }), z.strictObject({ gitCommit: z.string() })]),
      }),
    )
    .min(1),
  predicateType: z.literal(predicateType),
  predicate: z.strictObject({
    version: z.string(),
    session: z.string(),
    at: z.string(),
    model: z.string().nullable(),
    result: z.string().nullable(),
    exit_code: z.int().nullable(),
    cost_usd: z.number().nullable(),
    /** How far the audit log has come, `RECORDS:HASH`. */
    audit_head: z.string().nullable(),
    verified: z.array(verified),
    decided_by: z.array(decidedBy),
    transaction: z.strictObject({ strategy: z.string(), state: z.string() }),
    /** What each tree holds, in the order of the trees. */
    trees: z.array(
      z.strictObject({
        /** What the patch changes, as the run left it. */
        files: z.array(fileAfter),
        /** The other source files, as they were when the statement was made. Null: they could not be listed. */
        unchanged_files: z.array(fileAfter).nullable(),
        /** Source files of which it says nothing: submodules, names that are not UTF-8, what can't be read. */
        left_out: z.array(z.string()),
      }),
    ),
  }),
})

export type Statement = z.infer<typeof statement>
export type FileAfter = z.infer<typeof fileAfter>
export type DecidedBy = z.infer<typeof decidedBy>
