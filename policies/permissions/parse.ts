import type { PrefixRule, RuleDecision, RuleOrigin } from '../rules/rule.ts'
import { splitWords } from '../rules/split-words.ts'
import { pathPattern } from './path-pattern.ts'
import { searchPermission, type HostPermission, type PathPermission, type ToolPermission } from './permission.ts'

/** The meaning of one entry of a permission list, or the reason why it isn't understood. */
type ParsedPermission =
  | { readonly kind: 'command'; readonly rule: PrefixRule }
  | { readonly kind: 'path'; readonly permission: PathPermission }
  | { readonly kind: 'host'; readonly permission: HostPermission }
  | { readonly kind: 'tool'; readonly permission: ToolPermission }
  /** A Claude Code tool that has no counterpart here, so there is nothing to permit. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'fault'; readonly message: string; readonly expected: string }

const reading = new Set(['Read', 'Glob', 'Grep', 'LS', 'NotebookRead'])
const editing = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])
/** The tools in Claude Code up to version 2.1.197 that have no counterpart here (from its `init.tools`, `sdk-tools.d.ts` and changelog). */
const elsewhere = new Set(
  [
    'Agent Artifact AskUserQuestion BashOutput Brief Config CronCreate CronDelete CronList EnterPlanMode EnterWorktree',
    'ExitPlanMode ExitWorktree KillBash KillShell LSP ListMcpResources ListMcpResourcesTool Monitor PowerShell Projects',
    'PushNotification REPL ReadMcpResource ReadMcpResourceDir ReadMcpResourceDirTool ReadMcpResourceTool RemoteTrigger',
    'ReportFindings ScheduleWakeup SendMessage ShowOnboardingRolePicker Skill SlashCommand Sleep StructuredOutput Task',
    'TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch Workflow',
  ].flatMap((line) => line.split(' ')),
)

/** Reads one entry of a permission list: `Tool` or `Tool(what)`. */
export function parsePermission(
  text: string,
  decision: RuleDecision,
  origin: RuleOrigin,
  settingsFolder: string,
): ParsedPermission {
  // An entry that allows something is taken literally. An entry that restricts something is interpreted as broadly as possible.
  const restricts = decision !== 'allow'
  const form = /^([A-Za-z_][\w*.-]*)(?:\(([^]*)\))?$/.exec(text)
  if (form === null)
    return fault(`${JSON.stringify(text)} is not a permission`, 'Tool or Tool(what), with a closing bracket')
  const [, tool = '', what] = form
  if (what === '') return fault(`${text} names nothing`, `${tool} to cover every use, or ${tool}(what)`)
  if (tool.startsWith('mcp__')) return parseTool(tool, what, { text, decision, origin })
  if (tool === 'Bash') return parseCommand(what ?? '*', decision, origin)
  if (reading.has(tool) || editing.has(tool)) {
    const access = reading.has(tool) ? 'read' : 'edit'
    const pattern = pathPattern(what ?? '//**', settingsFolder)
    if (pattern === undefined)
      return fault(`${what ?? ''} is not a path pattern`, "a pattern in gitignore's syntax, without !")
    return { kind: 'path', permission: { text, decision, origin, access, pattern } }
  }
  if (tool === 'WebFetch') {
    const host = what === undefined || what === 'domain:*' ? everyHost : readHost(what, restricts)
    if (host === undefined) return fault(`${text} names no domain`, 'WebFetch(domain:example.com)')
    return { kind: 'host', permission: { text, decision, origin, host: host === everyHost ? undefined : host } }
  }
  if (tool === searchPermission) {
    if (what !== undefined && what !== '*' && !restricts)
      return fault(`${text} restricts the search terms, which can't be checked`, tool)
    return { kind: 'tool', permission: { text, decision, origin, name: tool } }
  }
  if (elsewhere.has(tool)) return { kind: 'elsewhere' }
  return fault(`${tool} is not a known tool`, 'Bash, Read, Edit, Write, WebFetch, WebSearch or mcp__server__tool')
}

function fault(message: string, expected: string): ParsedPermission {
  return { kind: 'fault', message, expected }
}

const everyHost = '*'

/** Reads the host of `domain:HOST`. In a restriction, a host that is given with a port or in a URL stands for the whole host. */
function readHost(what: string, restricts: boolean): string | undefined {
  const plain = /^domain:((?:\*\.)?[\w-]+(?:\.[\w-]+)*)$/.exec(what)?.[1]
  if (plain !== undefined || !restricts) return plain?.toLowerCase()
  const loose = /^(?:domain:|url:)?(?:https?:\/\/)?((?:\*\.)?[\w-]+(?:\.[\w-]+)*)\.?(?::\d+)?(?:\/.*)?$/.exec(what)?.[1]
  return loose?.toLowerCase()
}

function parseTool(tool: string, what: string | undefined, written: Omit<ToolPermission, 'name'>): ParsedPermission {
  if (what !== undefined && written.decision === 'allow')
    return fault(`${tool} takes no brackets`, 'mcp__server, mcp__server__* or mcp__server__tool')
  const [, server = ''] = tool.split('__')
  if (server === '') return fault(`${tool} names no server`, 'mcp__server__tool')
  // If tools of every server were allowed, servers that are added later would be included.
  if (written.decision === 'allow' && server.includes('*')) {
    return fault(`${tool} would allow tools of any server`, 'a named server: mcp__server__*')
  }
  return { kind: 'tool', permission: { ...written, name: tool.split('__').length === 2 ? `${tool}__*` : tool } }
}

/**
 * Parses a permission for commands. `Bash(git push:*)` and `Bash(git push *)` match commands that begin with these words. `Bash(npm run build)` matches only
 * this command. A `*` elsewhere matches any text.
 */
function parseCommand(what: string, decision: RuleDecision, origin: RuleOrigin): ParsedPermission {
  const rule = { decision, justification: undefined, origin }
  const restricts = decision !== 'allow'
  if (/^\w+:[^\s*]+$/.test(what)) {
    return fault(
      `Bash(${what}) names a parameter, but commands have no parameters`,
      'a command, such as Bash(git push:*)',
    )
  }
  const prefix = /^([^*]*?)(?::\*| \*)$/.exec(what)?.[1] ?? (what.includes('*') ? undefined : what)
  if (prefix === undefined) return { kind: 'command', rule: { ...rule, pattern: [], text: what } }
  const words = splitWords(prefix)
  if (words !== undefined && words.length > 0) {
    const pattern = words.map((word) => [word])
    return { kind: 'command', rule: what.endsWith('*') ? { ...rule, pattern } : { ...rule, pattern, exact: true } }
  }
  if (!restricts) return fault(`Bash(${what}) is not a command`, 'words, with quotes closed')
  // An agent may truncate a command when it adds it to a list, which can leave a quote open. Such an entry restricts every command that begins with
  // the words before its first quote or backslash.
  const before = splitWords(prefix.replace(/["'\\][^]*$/, '')) ?? []
  if (before.length === 0) return { kind: 'command', rule: { ...rule, pattern: [], text: '*' } }
  return { kind: 'command', rule: { ...rule, pattern: before.map((word) => [word]) } }
}
