import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { RuleError, type Position } from '../rules/rule-error.ts'
import { describePattern, type PrefixRule, type RuleDecision, type RuleLayer } from '../rules/rule.ts'
import { parsePermission } from './parse.ts'
import type { HostPermission, PathPermission, PermissionSet, ToolPermission } from './permission.ts'

/** The lists as a file of another format has them. Absent: empty. */
export type PermissionLists = {
  readonly allow?: readonly string[] | undefined
  readonly ask?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
}

/** A settings file in Claude Code's format. `text` stands for its content where it isn't a file. */
export type PermissionFile = {
  readonly path: string
  readonly layer: RuleLayer
  readonly text?: string
  /** What a file of another format says, read already; `text` then only serves to find where an entry stands. */
  readonly lists?: PermissionLists
  /** What `/path` is relative to. Default: the file's folder, or the folder above where that is `.claude`. */
  readonly folder?: string
}

const lists: readonly (readonly ['deny' | 'ask' | 'allow', RuleDecision])[] = [
  ['deny', 'forbidden'],
  ['ask', 'prompt'],
  ['allow', 'allow'],
]

/**
 * Reads the permission lists (`permissions.allow`, `ask`, `deny`) of settings files. Other settings are left alone.
 * An entry that isn't understood, a list that isn't one, or JSON that doesn't parse throws a `RuleError`: a deny that
 * quietly vanishes is worse than a run that doesn't start.
 */
export function loadPermissions(files: readonly PermissionFile[]): PermissionSet {
  const commands: PrefixRule[] = []
  const paths: PathPermission[] = []
  const hosts: HostPermission[] = []
  const tools: ToolPermission[] = []
  for (const file of files) {
    const text = file.text ?? (file.lists === undefined ? readSettings(file.path) : '')
    const folder = file.folder ?? settingsFolder(file.path)
    const entries = file.lists === undefined ? entriesOf(file.path, text) : listedEntries(file.lists, text)
    for (const { entry, decision, at } of entries) {
      const origin = { path: file.path, line: at.line, layer: file.layer }
      const parsed = parsePermission(entry, decision, origin, folder)
      switch (parsed.kind) {
        case 'command':
          commands.push(parsed.rule)
          break
        case 'path':
          paths.push(parsed.permission)
          break
        case 'host':
          hosts.push(parsed.permission)
          break
        case 'tool':
          tools.push(parsed.permission)
          break
        case 'elsewhere':
          break
        case 'fault':
          throw new RuleError(file.path, at, parsed.message, parsed.expected)
        default:
          parsed satisfies never
      }
    }
  }
  return { commands, paths, hosts, tools }
}

function settingsFolder(path: string): string {
  const folder = dirname(path)
  return basename(folder) === '.claude' ? dirname(folder) : folder
}

function listedEntries(given: PermissionLists, text: string): readonly Entry[] {
  return lists.flatMap(([name, decision]) =>
    (given[name] ?? []).map((entry) => {
      const quoted = [JSON.stringify(entry), `'${entry}'`].find((form) => text.includes(form))
      return { entry, decision, at: quoted === undefined ? start : locate(text, quoted) }
    }),
  )
}

type Entry = { readonly entry: string; readonly decision: RuleDecision; readonly at: Position }

function entriesOf(path: string, text: string): readonly Entry[] {
  const settings = parseSettings(path, text)
  if (!isObject(settings)) throw new RuleError(path, start, 'the settings are not an object', '{"permissions": {…}}')
  const permissions = settings['permissions']
  if (permissions === undefined) return []
  if (!isObject(permissions)) {
    throw new RuleError(
      path,
      locate(text, '"permissions"'),
      'permissions is not an object',
      '{"allow": […], "ask": […], "deny": […]}',
    )
  }
  return lists.flatMap(([name, decision]) => {
    const list = permissions[name]
    if (list === undefined) return []
    const from = text.indexOf(`"${name}"`)
    if (!Array.isArray(list)) {
      throw new RuleError(
        path,
        positionAt(text, from),
        `permissions.${name} is not a list`,
        `"${name}": ["Bash(git push:*)"]`,
      )
    }
    return list.map((entry: unknown) => {
      const at = locate(text, JSON.stringify(entry), from)
      if (typeof entry !== 'string')
        throw new RuleError(path, at, `an entry of permissions.${name} is not a string`, '"Tool(what)"')
      return { entry, decision, at }
    })
  })
}

const start: Position = { line: 1, column: 1 }

function parseSettings(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const offset = /position (\d+)/.exec(message)?.[1]
    const at = offset === undefined ? positionAt(text, text.length) : positionAt(text, Number(offset))
    throw new RuleError(path, at, `the settings are not JSON: ${message}`, 'JSON', { cause })
  }
}

function readSettings(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RuleError(path, start, `the settings can't be read: ${why}`, 'a readable file in UTF-8', { cause })
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function locate(text: string, part: string, from = 0): Position {
  return positionAt(text, Math.max(0, text.indexOf(part, Math.max(0, from))))
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, Math.max(0, offset)).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/**
 * What is left of permissions that come from a place that may only forbid and ask: everything but the allows of a layer,
 * which are given back as they are written.
 */
export function withoutAllows(
  set: PermissionSet,
  layer: RuleLayer,
): { readonly kept: PermissionSet; readonly dropped: readonly { readonly path: string; readonly text: string }[] } {
  const dropped: { readonly path: string; readonly text: string }[] = []
  const keep = <T extends Pick<PrefixRule, 'decision' | 'origin'>>(
    items: readonly T[],
    textOf: (item: T) => string,
  ): T[] =>
    items.filter((item) => {
      if (item.decision !== 'allow' || item.origin.layer !== layer) return true
      dropped.push({ path: item.origin.path, text: textOf(item) })
      return false
    })
  const kept: PermissionSet = {
    ...set,
    commands: keep(set.commands, (rule) => `Bash(${describePattern(rule)})`),
    paths: keep(set.paths, ({ text }) => text),
    hosts: keep(set.hosts, ({ text }) => text),
    tools: keep(set.tools, ({ text }) => text),
  }
  return { kept, dropped }
}
