import { Option, type Command } from 'commander'
import { another, count, dollars, positive, words } from '../declare/option-values.ts'
import type { Finish } from '../declare/shared-options.ts'
import { landings } from '../exec-options.ts'
import { version } from '../../core/version.ts'
import { claudeVersion, outputFormats, permissionModes, type ClaudeOptions } from './claude-options.ts'

/** Options of Claude Code that change nothing here. */
const [idleFlags, idleOptions] = [
  'await-initialize chrome no-chrome debug-to-stderr exclude-dynamic-system-prompt-sections ide include-hook-events ' +
    'mcp-debug session-mirror',
  'agent betas channels debug-file fallback-model initialize-fields managed-settings permission-prompts plugin-dir ' +
    'name plugin-dir-no-mcp project-config-root task-budget thinking thinking-display',
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
    .option('--verbose', 'needed for the output format stream-json; with json, print all messages')
    .option('--include-partial-messages', 'print messages piece by piece')
    .option('--replay-user-messages', 'with the input format stream-json: repeat each message when its turn begins')
    .option('--model <name>', 'the model; opus, sonnet and haiku are the newest of these families')
    .option('--effort <level>', 'how much the model reasons')
    .addOption(new Option('--permission-mode <mode>', 'when permission is asked').choices(permissionModes))
    .addOption(new Option('--permission-prompt-tool <name>', 'who is asked: the client at stdio').choices(['stdio']))
    .option('--dangerously-skip-permissions', 'ask nobody; the sandbox and what rules forbid remain')
    .option('--allow-dangerously-skip-permissions', 'let the client choose the mode bypassPermissions later')
    .option('--allowedTools, --allowed-tools <tools...>', 'what needs no permission, such as "Bash(git add:*)"', words)
    .option('--disallowedTools, --disallowed-tools <tools...>', 'what is refused', words)
    .option('--tools [tools...]', 'the only tools that may be used', words)
    .option('--max-turns <n>', "end after this number of the model's responses", positive)
    .option('--max-budget-usd <usd>', 'end before the cost exceeds this amount', dollars)
    .option('--max-thinking-tokens <n>', 'how much the model reasons, in tokens', count)
    .option('--mcp-config <configs...>', 'MCP servers, as JSON or in files', another)
    .option('--strict-mcp-config', 'use no other MCP servers')
    .option('--system-prompt [text]', 'instructions that replace the usual ones')
    .option('--append-system-prompt [text]', 'further instructions')
    .option('--system-prompt-file <file>', 'a file with instructions that replace the usual ones')
    .option('--append-system-prompt-file <file>', 'a file with further instructions')
    .option('--add-dir <dirs...>', 'folders that commands may write to as well', another)
    .option('-c, --continue', 'continue the newest session of this folder')
    .option('-r, --resume <session>', 'continue a session of this folder')
    .option('--resume-session-at <uuid>', 'with --resume or --continue: leave out what came after this message')
    .option('--fork-session', 'with --resume or --continue: begin a new session with its history')
    .option('--session-id <uuid>', 'the id of the new session')
    .option('--no-session-persistence', 'store nothing about the run')
    .option('--agents <json>', 'sub-agents, as JSON or in a file')
    .option('--settings <file>', "settings in Claude Code's format, as JSON or in a file")
    .option(
      '--setting-sources [sources]',
      "whose settings of Claude Code's count: user, project, local; empty: nobody's",
    )
    .option('--json-schema <schema>', 'a JSON Schema that the final message must match')
    .addOption(
      new Option('--land <when>', 'when changes land (default: on-success)').choices(
        landings.filter((when) => when !== 'ask'),
      ),
    )
    .addOption(new Option('--debug [filter]', 'changes nothing').hideHelp())
  for (const name of idleFlags.split(' ')) command.addOption(new Option(`--${name}`, 'changes nothing').hideHelp())
  for (const name of idleOptions.split(' '))
    command.addOption(new Option(`--${name} <value>`, 'changes nothing').hideHelp())
  command.action(async (prompt: string | undefined, options: ClaudeOptions) => {
    const { runClaude } = await import('./run-claude.ts')
    finish(await runClaude(prompt, options))
  })
}
