import { Option, type Command } from 'commander'
import { count, dollars, positive } from '../declare/option-values.ts'
import type { Finish } from '../declare/shared-options.ts'
import { version } from '../../core/version.ts'
import { claudeVersion, outputFormats, permissionModes, type ClaudeOptions } from './claude-options.ts'

/** Options of Claude Code that change nothing here. */
const withoutEffect = [
  '--agent <name>',
  '--agents <json>',
  '--await-initialize',
  '--betas <names>',
  '--channels <name>',
  '--debug [filter]',
  '--debug-file <path>',
  '--debug-to-stderr',
  '--fallback-model <name>',
  '--ide',
  '--include-hook-events',
  '--initialize-fields <names>',
  '--managed-settings <json>',
  '--permission-prompts <how>',
  '--plugin-dir <dir>',
  '--plugin-dir-no-mcp <dir>',
  '--project-config-root <dir>',
  '--replay-user-messages',
  '--session-mirror',
  '--task-budget <tokens>',
  '--thinking <how>',
  '--thinking-display <how>',
]

/** Declares `agent claude`, which takes the command lines of `claude -p` and of the Agent SDKs. */
export function declareClaude(program: Command, finish: Finish): void {
  const command = program
    .command('claude')
    .description('take a command line of claude -p, or of an Agent SDK')
    .version(`${claudeVersion} (Claude Code protocol; Portcullis ${version})`, '-v, --version')
    .argument('[prompt]', 'what to do; read from standard input if it is omitted')
    .helpCommand(false)
    .option('-p, --print', 'answer and end; without it, the input must be stream-json')
    .addOption(new Option('--output-format <how>', 'what is printed (default: text)').choices(outputFormats))
    .addOption(new Option('--input-format <how>', 'what is read (default: text)').choices(['text', 'stream-json']))
    .option('--verbose', 'needed for the output format stream-json')
    .option('--include-partial-messages', 'print messages piece by piece')
    .option('--model <name>', 'the model; opus, sonnet and haiku are the newest of these families')
    .option('--effort <level>', 'how much the model reasons')
    .addOption(
      new Option('--permission-mode <mode>', 'when permission is asked (default: default)').choices(permissionModes),
    )
    .addOption(
      new Option('--permission-prompt-tool <name>', 'who is asked: stdio, the client at standard input').choices([
        'stdio',
      ]),
    )
    .option('--dangerously-skip-permissions', 'ask nobody; the sandbox and what rules forbid remain')
    .option('--allow-dangerously-skip-permissions', 'let the client choose the mode bypassPermissions later')
    .option('--allowedTools, --allowed-tools <tools...>', 'what needs no permission, such as "Bash(git add:*)"', list)
    .option('--disallowedTools, --disallowed-tools <tools...>', 'what is refused', list)
    .option('--tools [tools...]', 'the only tools that may be used', list)
    .option('--max-turns <n>', "end after this number of the model's responses", positive)
    .option('--max-budget-usd <usd>', 'end before the cost exceeds this amount', dollars)
    .option('--max-thinking-tokens <n>', 'how much the model reasons, in tokens', count)
    .option('--mcp-config <configs...>', 'MCP servers, as JSON or in files', (value: string, earlier?: string[]) => [
      ...(earlier ?? []),
      value,
    ])
    .option('--strict-mcp-config', 'use no other MCP servers')
    .option('--system-prompt [text]', 'instructions that replace the usual ones')
    .option('--append-system-prompt [text]', 'further instructions')
    .option('--add-dir <dirs...>', 'folders that commands may write to as well', list)
    .option('-c, --continue', 'continue the newest session of this folder')
    .option('-r, --resume <session>', 'continue a session of this folder')
    .option('--fork-session', 'with --resume or --continue: begin a new session with its history')
    .option('--session-id <uuid>', 'the id of the new session')
    .option('--no-session-persistence', 'store nothing about the run')
    .option('--settings <file>', "settings in Claude Code's format, as JSON or in a file")
    .option(
      '--setting-sources [sources]',
      "whose settings of Claude Code's count: user, project, local; empty: nobody's",
    )
    .option('--json-schema <schema>', 'a JSON Schema that the final message must match')
  for (const flags of withoutEffect) command.addOption(new Option(flags, 'changes nothing').hideHelp())
  command.action(async (prompt: string | undefined, options: ClaudeOptions) => {
    const { runClaude } = await import('./run-claude.ts')
    finish(await runClaude(prompt, options))
  })
}

/** Adds the words of a list that are separated by commas or spaces, but not within brackets. */
function list(value: string, earlier: readonly string[] | true | undefined): readonly string[] {
  const words: string[] = []
  let [word, depth] = ['', 0]
  for (const letter of `${value},`) {
    if (depth === 0 && /[\s,]/.test(letter)) {
      if (word !== '') words.push(word)
      word = ''
      continue
    }
    depth += letter === '(' ? 1 : letter === ')' && depth > 0 ? -1 : 0
    word += letter
  }
  // A bracket that is never closed belongs to the last word.
  if (depth > 0) words.push(word.slice(0, -1))
  return [...(Array.isArray(earlier) ? (earlier as readonly string[]) : []), ...words]
}
