import * as z from 'zod'
import { McpServerTable } from '../server-schema.ts'
import { parseReport } from '../../core/verification-settings.ts'
import { parseDeferral } from '../../tools/search/deferral.ts'
import { absolute } from './absolute.ts'
import { row } from './setting-row.ts'

const group = 'tools'

/** Settings for tools and their sources. */
export const toolSettings = {
  mcp_servers: row({
    group,
    schema: z.record(z.string().min(1), McpServerTable),
    about:
      'MCP servers, each a table `mcp_servers.<name>` with Codex’s keys, and `oauth` (see the page about MCP servers). Those that are started as programs run in the sandbox unless `sandbox = false`. The `.mcp.json` files of trusted repositories and of plugins are used too',
    unset: 'none',
  }),
  plugins: row({
    group,
    schema: z.record(z.string().regex(/^[\w-]+$/), z.strictObject({ path: absolute, enabled: z.boolean().optional() })),
    about:
      'enabled plugins, which are folders of skills, commands, agents, hooks and MCP servers; each is a table `plugins.<name>` with its `path`',
    unset: 'none',
  }),
  tool_folders: row({
    group,
    schema: z.array(absolute),
    about:
      'folders of your own tools: each file is a module whose default export is a tool made with `defineTool`, or a list of such tools. Its code runs inside the process of `agent`',
    unset: 'none',
    saidBy: 'user',
  }),
  import: row({
    group,
    schema: z.array(z.enum(['codex', 'claude'])),
    about:
      'other programs whose settings are used too; your own settings override them: `codex` (`~/.codex/config.toml`, and what its rules allow), `claude` (`model`, `env`, `enabledPlugins` and allow rules of `~/.claude/settings.json`, servers of `~/.claude.json`; from a trusted repository’s `.claude`: `model`, `env`, and plugins that you installed). Instructions and settings that only make runs stricter are used without an import',
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
      'OpenTelemetry: traces and metrics of runs, named according to the GenAI conventions and sent as OTLP in JSON over HTTP. OpenTelemetry’s own variables ' +
      '(`OTEL_EXPORTER_OTLP_ENDPOINT`, `…_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SDK_DISABLED`, `TRACEPARENT`) override this table. A repository can’t set it',
    saidBy: 'user',
    keys: {
      endpoint: {
        about: 'the collector’s address, to which `/v1/traces` and `/v1/metrics` are appended',
        unset: 'none',
      },
      headers: { about: 'HTTP headers for the collector, such as a key', unset: 'none' },
      file: {
        about:
          'a file to which the traces and metrics are written as lines of JSON when a run ends; each run overwrites it',
        unset: 'none',
      },
      content: {
        about: 'whether prompts, answers, commands and their output are included, with secrets masked',
        unset: '`false`',
      },
    },
  }),
  verify: row({
    group,
    schema: z.array(z.string().min(1)),
    about:
      'commands that run in the sandbox when the model is done, as with `--verify`. The model is told about a failure and continues; if the commands still fail in the end, the run fails. Since you chose these commands, nobody is asked to approve them, but rules that forbid them still apply',
    unset: 'none',
    saidBy: 'user',
    within: (asked = [], bound = []) => bound.every((command) => asked.includes(command)),
  }),
  verify_attempts: row({
    group,
    schema: z.int().min(0),
    about:
      'how many times the model is told about a failing `verify` command; `0` means as many times as the budget allows',
    unset: '2',
    saidBy: 'user',
  }),
  verify_report: row({
    group,
    schema: z
      .string()
      .refine(
        (text) => parseReport(text) !== undefined,
        "must be FORMAT:PATH, with the format 'junit', 'tap', 'go-json' or 'jest-json'",
      ),
    about:
      'a report that the `verify` commands write themselves, as `FORMAT:PATH` (`junit`, `tap`, `go-json` or `jest-json`; the path is relative to the workspace). Tests are then compared by what it says',
    unset: 'pytest, node:test, go, vitest, jest and cargo are asked for their results',
    saidBy: 'user',
  }),
  verify_protect: row({
    group,
    schema: z.array(z.string().min(1)),
    about:
      'globs of further files that belong to the judge of `verify`: the command is also run with them as they were before the change',
    unset: 'tests, and the files that configure their runners',
    saidBy: 'user',
  }),
  tool_search: row({
    group,
    schema: z
      .string()
      .refine((text) => parseDeferral(text) !== undefined, "must be 'always', 'off', 'auto' or 'auto:N%'"),
    about:
      'which tools are left out of requests, so that the model has to search for them: `off`: none; `auto`: built-in tools that are rarely needed, and the tools of MCP servers if they take more than N % of 200,000 tokens or if there are more than 64 of them; `always`: these built-in tools and the tools of MCP servers in any case',
    unset: '`auto:10%`',
    isPreference: true,
  }),
  tool_concurrency: row({
    group,
    schema: z.int().min(1).max(64),
    about: 'how many read-only calls may run at a time',
    unset: '10',
    isPreference: true,
  }),
  tool_output_token_limit: row({
    group,
    schema: z.int().min(100),
    about:
      'how much of one result the model sees, in tokens, even if a call asks for more; the middle of a longer result is cut out, and the full result is kept in a file',
    unset: '10,000, unless a call asks for another limit',
    isPreference: true,
  }),
  tool_output_line_limit: row({
    group,
    schema: z.int().min(10),
    about: 'how much of one result the model sees, in lines; otherwise like `tool_output_token_limit`',
    unset: '4,000',
    isPreference: true,
  }),
}
