import * as z from 'zod'
import { runRecord, verified } from '../../core/run-record.ts'

/** The type that marks a JSON document as an in-toto statement. */
export const statementType = 'https://in-toto.io/Statement/v1'
/** The type of the statement's predicate, in its current version. The predicate describes a transactional run. */
export const predicateType = 'https://github.com/portcullis-dev/portcullis/evidence/v1'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** The state of a path after a run. The path is relative to the root of its tree. */
const fileAfter = z.discriminatedUnion('type', [
  z.strictObject({ path: z.string(), type: z.literal('file'), sha256: hash, mode: z.int() }),
  z.strictObject({ path: z.string(), type: z.literal('symlink'), target: z.string() }),
  z.strictObject({ path: z.string(), type: z.literal('directory'), mode: z.int().optional() }),
  z.strictObject({ path: z.string(), type: z.literal('absent') }),
])

/** What the decisions of one run were based on: hashes of the policies of its Guardian and its sandbox. */
export const decidedBy = z.strictObject({
  at: z.string(),
  approval_policy: z.string(),
  sandbox: z.strictObject({
    mode: z.string(),
    backend: z.string(),
    network: z.string(),
    /** The services that commands could reach, as `[NAME=]HOST:PORT`. Absent: none. */
    services: z.array(z.string()).optional(),
    /** The credentials that commands could use, and for what; never their values. Absent: none. */
    credentials: z
      .array(z.strictObject({ name: z.string(), hosts: z.array(z.string()), allow: z.array(z.string()) }))
      .optional(),
    /** Whether commands saw the whole machine except the denied places. Absent: they saw only what was named. */
    home: z.literal('open').optional(),
    image: z.string().optional(),
    /** What confined writes besides mounts: Landlock with its version, or `none`. Absent: a backend without such a fence, or an older run. */
    fence: z.string().optional(),
    policy_sha256: hash,
  }),
  /** Each source of rules, with a hash of its rules. */
  rules: z.array(z.strictObject({ source: z.string(), rules: z.int(), sha256: hash })),
  permissions_sha256: hash,
  /** The hash of all of this except the time and the fence. It is the same for all runs under the same policy, in any workspace and home directory. */
  policy_sha256: hash,
})

/** The schema of the signed statement (in-toto, Statement v1). */
export const statement = z.strictObject({
  _type: z.literal(statementType),
  /** The patch, and the commit that was checked out in each tree when the run started. */
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
    /** The head of the audit log as `RECORDS:HASH`: the number of its records, and the hash of the last one. Null: unknown. */
    audit_head: z.string().nullable(),
    verified: z.array(verified),
    /** What the run did, as its last event says. Null: unknown. */
    record: runRecord.nullable(),
    decided_by: z.array(decidedBy),
    /**
     * `state`: the state of the view, or `reverted` if the changes landed and were then reverted. `since`: when the private view was made, in ISO 8601 format.
     * The statement is about the changes that were made in this view.
     */
    transaction: z.strictObject({ strategy: z.string(), state: z.string(), since: z.string().optional() }),
    /** The files of the trees in the run's view: one entry for each tree, in order. */
    trees: z.array(
      z.strictObject({
        /** The files that the patch changes, in their state after the run. */
        files: z.array(fileAfter),
        /** The source files that the patch doesn't change, in their state when the statement was made. Null: they could not be listed. */
        unchanged_files: z.array(fileAfter).nullable(),
        /** Source files that the statement doesn't cover: submodules, names that aren't UTF-8, unreadable files. */
        left_out: z.array(z.string()),
      }),
    ),
  }),
})

export type Statement = z.infer<typeof statement>
export type FileAfter = z.infer<typeof fileAfter>
export type DecidedBy = z.infer<typeof decidedBy>
