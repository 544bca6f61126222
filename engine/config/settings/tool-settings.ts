import * as z from 'zod'
import { McpServerTable } from '../server-schema.ts'
import { parseDeferral } from '../../tools/search/deferral.ts'
import { absolute } from './absolute.ts'
import { row } from './setting-row.ts'

const group = 'tools'

/** Settings of tools, and of where they come from. */
export const toolSettings = {
  mcp_servers: row({
    group,
    schema: z.record(z.string().min(1), McpServerTable),
    about:
      'servers of the Model Context Protocol, each a table `mcp_servers.<name>` with Codex’s keys; they run in the sandbox. A trusted ' +
      'repository’s `.mcp.json` counts too, and so do those of plugins',
    unset: 'none',
  }),
  plugins: row({
    group,
    schema: z.record(z.string().regex(/^[\w-]+$/), z.strictObject({ path: absolute, enabled: z.boolean().optional() })),
    about:
      'folders of skills, commands, agents, hooks and MCP servers that are switched on, each a table `plugins.<name>` with its `path`',
    unset: 'none',
  }),
  tool_folders: row({
    group,
    schema: z.array(absolute),
    about: 'folders of tools that you wrote: modules of one `defineTool` each, whose code runs in this program',
    unset: 'none',
    saidBy: 'user',
  }),
  import: row({
    group,
    schema: z.array(z.enum(['codex', 'claude'])),
    about:
      'other programs whose settings count too, below yours: `codex` (`~/.codex/config.toml`, what its rules allow), `claude` (`model`, `env`, ' +
      '`enabledPlugins` and allowed permissions of `~/.claude/settings.json`, servers of `~/.claude.json`; of a trusted repository’s `.claude`: ' +
      '`model`, `env`, plugins that you installed). Instructions, and what only makes runs stricter, count without it',
    unset: 'none',
    saidBy: 'user',
    within: (asked = [], bound = []) => asked.every((name) => bound.includes(name)),
  }),
  otel: row({
    group,
    schema: z.strictObject({
      endpoint: z.url({ protocol: /^https?$/ }).optional(),
      headers: z.record(z.string().min(1), z.string()).optional(),
      file: absolute.optional(),
      content: z.boolean().optional(),
    }),
    about:
      'OpenTelemetry: traces and metrics of runs, with the names of the GenAI conventions, as OTLP in JSON over HTTP. Its own variables ' +
      '(`OTEL_EXPORTER_OTLP_ENDPOINT`, `…_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SDK_DISABLED`, `TRACEPARENT`) win over ' +
      'this table; never by a repository',
    saidBy: 'user',
    keys: {
      endpoint: { about: 'the collector’s address, to which `/v1/traces` and `/v1/metrics` are added', unset: 'none' },
      headers: { about: 'what is sent along to it, such as a key', unset: 'none' },
      file: {
        about: 'a file that gets the same as lines of JSON when a run ends, in place of the one before',
        unset: 'none',
      },
      content: {
        about: 'whether prompts, answers, commands and what they print are told too, secrets masked',
        unset: '`false`',
      },
    },
  }),
  verify: row({
    group,
    schema: z.array(z.string().min(1)),
    about:
      'commands that run in the sandbox when the model is done, as with `--verify`. One that fails is told to the model, which works on; in the end the run ' +
      'has failed. They are your words: nobody is asked about them, and rules that forbid hold',
    unset: 'none',
    saidBy: 'user',
    within: (asked = [], bound = []) => bound.every((command) => asked.includes(command)),
  }),
  verify_attempts: row({
    group,
    schema: z.int().min(0),
    about: 'how often a command of `verify` that fails is told to the model; `0`: until a budget ends',
    unset: '2',
    saidBy: 'user',
  }),
  tool_search: row({
    group,
    schema: z
      .string()
      .refine((text) => parseDeferral(text) !== undefined, "must be 'always', 'off', 'auto' or 'auto:N%'"),
    about:
      'which tools requests leave out, to be searched for: `off` none; `auto` those of ours that are needed rarely, and those of servers where ' +
      'they would take more than N % of 200,000 tokens or are more than 64; `always` those of servers in any case',
    unset: '`auto:10%`',
    isPreference: true,
  }),
  tool_concurrency: row({
    group,
    schema: z.int().min(1).max(64),
    about: 'how many calls run at a time, of those that only read',
    unset: '10',
    isPreference: true,
  }),
  tool_output_token_limit: row({
    group,
    schema: z.int().min(100),
    about:
      'how many tokens of one result the model is shown, whatever a call asks for; beyond it the middle is cut out, and the whole is kept',
    unset: '10,000 where a call asks for none',
    isPreference: true,
  }),
  tool_output_line_limit: row({
    group,
    schema: z.int().min(10),
    about: 'the same in lines',
    unset: '4,000',
    isPreference: true,
  }),
}
