import * as z from 'zod'
import { defaultApproval } from '../defaults.ts'
import { approvalWithin } from '../strictness.ts'
import { absolute } from './absolute.ts'
import { row } from './setting-row.ts'

const group = 'decisions'
// A repository can't choose its own judge.
const saidBy = 'user'

/** Settings about the Guardian's decisions, and who answers its questions. */
export const decisionSettings = {
  approval_policy: row({
    group,
    schema: z.enum(['untrusted', 'on-failure', 'on-request', 'never']),
    about:
      'when the Guardian asks: `untrusted`, `on-failure`, `on-request`, `never` ([tables](../../policies/README.md#approval-modes)). With ' +
      '`never`, what fits the sandbox runs and whatever asks for more is refused',
    unset: '`never`',
    value: defaultApproval,
    within: (asked, bound) => approvalWithin(asked, bound),
  }),
  approvals_reviewer: row({
    group,
    schema: z.enum(['user', 'program', 'model', 'auto_review', 'none']),
    about:
      'who answers when the Guardian asks: `user` at a terminal, a `program`, a `model` (Codex: `auto_review`), or `none`, which is a no',
    unset: 'the program where one is named, else the person at the terminal',
    saidBy,
  }),
  approval_program: row({
    group,
    schema: z.tuple([z.string().min(1)], z.string()),
    about:
      'the program that answers, as its words: JSON lines on its standard input and output ([format](../../policies/README.md#reviewers))',
    unset: 'none',
    saidBy,
  }),
  approval_url: row({
    group,
    schema: z.url({ protocol: /^https?$/ }),
    about: 'where questions are posted as JSON instead',
    unset: 'nowhere',
    saidBy,
  }),
  approval_timeout: row({
    group,
    schema: z.number().positive().max(86_400),
    about: 'seconds that a program or a model may take to answer',
    unset: '120, a model 90',
    saidBy,
  }),
  reviewer_model: row({
    group,
    schema: z.string().min(1),
    about: 'the model that reviews, named as for `model`',
    unset: 'the run’s own',
    saidBy,
  }),
  reviewer_policy_file: row({
    group,
    schema: absolute,
    about: 'a file whose text replaces what a reviewing model judges by',
    unset: 'the text shipped',
    saidBy,
  }),
  permissions: row({
    group,
    schema: z.strictObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
    }),
    about:
      'Claude Code’s permission lists, as `Bash(git push:*)`, also read from its settings files. Those of all files add up',
    unset: 'none',
    keys: {
      allow: { about: 'what is let through without asking' },
      ask: { about: 'what is asked about' },
      deny: { about: 'what is refused' },
    },
  }),
}
