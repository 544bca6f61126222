import * as z from 'zod'
import { defaultApproval } from '../defaults.ts'
import { approvalWithin } from '../strictness.ts'
import { absolute } from './absolute.ts'
import { row } from './setting-row.ts'

const group = 'decisions'
// A repository can't set the settings that use this value, because it must not choose who judges its own runs.
const saidBy = 'user'

/** Settings for how the Guardian decides and who answers its questions. */
export const decisionSettings = {
  approval_policy: row({
    group,
    schema: z.enum(['untrusted', 'on-failure', 'on-request', 'never']),
    about:
      'when the Guardian asks: `untrusted`, `on-failure`, `on-request`, `never` ([tables](../../policies/README.md#approval-modes)). With `never`, actions that stay within the sandbox run, and requests for access beyond it are refused',
    unset: '`never`',
    value: defaultApproval,
    within: (asked, bound) => approvalWithin(asked, bound),
  }),
  approvals_reviewer: row({
    group,
    schema: z.enum(['user', 'program', 'model', 'auto_review', 'none']),
    about:
      'who answers when the Guardian asks: `user` (the person at the terminal), `program`, `model` (in Codex: `auto_review`), or `none` (whatever needs approval is denied)',
    unset: 'the program if one is configured, otherwise the person at the terminal',
    saidBy,
  }),
  approval_program: row({
    group,
    schema: z.tuple([z.string().min(1)], z.string()),
    about:
      'the program that answers, as a list of its name and arguments; it reads questions and writes answers, each as a line of JSON ([format](../../policies/README.md#reviewers))',
    unset: 'none',
    saidBy,
  }),
  approval_url: row({
    group,
    schema: z.url({ protocol: /^https?$/ }),
    about: 'a URL to which questions are posted as JSON, in place of a program',
    unset: 'none',
    saidBy,
  }),
  approval_timeout: row({
    group,
    schema: z.number().positive().max(86_400),
    about: 'how many seconds a program or a model has to answer',
    unset: '120 for a program, 90 for a model',
    saidBy,
  }),
  reviewer_model: row({
    group,
    schema: z.string().min(1),
    about: 'the model that answers if `approvals_reviewer` is `model`; named in the same way as in `model`',
    unset: 'the run’s own',
    saidBy,
  }),
  reviewer_policy_file: row({
    group,
    schema: absolute,
    about: 'a file whose text replaces the policy that a reviewing model applies',
    unset: 'the built-in text',
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
      'Claude Code’s permission lists, with entries such as `Bash(git push:*)`; also read from its settings files. The lists of all files are combined',
    unset: 'none',
    keys: {
      allow: { about: 'what is allowed without asking' },
      ask: { about: 'what needs approval' },
      deny: { about: 'what is refused' },
    },
  }),
}
