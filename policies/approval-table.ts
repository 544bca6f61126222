import {
  approvalModes,
  answerForAlarm,
  answerForFact,
  answerForInstructions,
  answerForTool,
  answerForWrite,
} from './approval-mode.ts'
import type { SandboxMode } from './action.ts'
import type { Alarm, Fact } from './commands/facts.ts'

/** Effects of commands. `onView`: the command works on a private view. */
const facts: readonly (readonly [name: string, fact: Fact, onView?: true])[] = [
  ['only reads', { class: 'read-only' }],
  ['writes files', { class: 'writes', paths: [] }],
  ['uses the network', { class: 'network', hosts: [] }],
  [
    'runs code, or is an unknown program, or changes which code runs (`PATH=`, `LD_PRELOAD=`)',
    { class: 'runs-code', reason: '' },
  ],
  ['deletes the files that it names', { class: 'destructive', reason: '', extent: 'named' }],
  ['deletes a directory tree, history or uncommitted work', { class: 'destructive', reason: '', extent: 'wide' }],
  [
    'deletes a directory tree, history or uncommitted work, in a run on a private view',
    { class: 'destructive', reason: '', extent: 'wide' },
    true,
  ],
  ['deletes remote data, or data of other programs', { class: 'destructive', reason: '', extent: 'remote' }],
  ['is not understood by the analysis', { class: 'unknown', reason: '' }],
]

const alarms: readonly (readonly [string, Alarm['kind']])[] = [
  ["requests another user's privileges (`sudo`)", 'privilege'],
  ['reads credentials', 'secret'],
  ['runs text as commands (`eval`, `trap`)', 'eval'],
  ['shows the environment, or lets git run other programs (`env`, `git -c`)', 'environment'],
  ['points git at another repository', 'other-repository'],
  ["shows URLs of git's remotes or variables of containers, or resolves host names", 'unsandboxed'],
  ['reads files in a home directory, or system files, that may contain credentials', 'unlisted-file'],
]

const sandboxes: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access']

/** Renders each approval mode's decisions as Markdown tables, by calling the functions that make them. */
export function renderApprovalTables(): string {
  const head = `| | ${approvalModes.map((mode) => `\`${mode}\``).join(' | ')} |\n|---|${approvalModes.map(() => '---|').join('')}`
  const row = (name: string, cells: readonly string[]): string => `| ${name} | ${cells.join(' | ')} |`
  const commands = sandboxes.map((sandbox) => {
    const there = facts.filter(([, , onView]) => onView !== true || sandbox === 'workspace-write')
    const byFact = there.map(([name, fact, onView]) =>
      row(
        name,
        approvalModes.map((mode) => answerForFact(mode, sandbox, fact, onView)),
      ),
    )
    const byAlarm = alarms.map(([name, kind]) =>
      row(
        name,
        approvalModes.map((mode) => answerForAlarm(mode, sandbox, { kind, reason: '' })),
      ),
    )
    return [`A command in the sandbox \`${sandbox}\` that …`, '', head, ...byFact, ...byAlarm].join('\n')
  })
  const patches = sandboxes.flatMap((sandbox) => [
    row(
      `inside the workspace, \`${sandbox}\``,
      approvalModes.map((mode) => answerForWrite(mode, sandbox, true)),
    ),
    row(
      `outside or protected, \`${sandbox}\``,
      approvalModes.map((mode) => answerForWrite(mode, sandbox, false)),
    ),
  ])
  const notes = row(
    'to the instructions of later runs (`AGENTS.md`), by `save_memory`',
    approvalModes.map(answerForInstructions),
  )
  const tools = [
    row(
      'only reads, according to its server',
      approvalModes.map((mode) => answerForTool(mode, true)),
    ),
    row(
      'may write',
      approvalModes.map((mode) => answerForTool(mode, false)),
    ),
  ]
  return [
    ...commands,
    ['A patch …', '', head, ...patches, notes].join('\n'),
    ['A call to an MCP tool that …', '', head, ...tools].join('\n'),
  ].join('\n\n')
}
