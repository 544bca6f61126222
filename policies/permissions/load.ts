import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { RuleError, type Position } from '../rules/rule-error.ts'
import type { PrefixRule, RuleDecision, RuleLayer } from '../rules/rule.ts'
import { parsePermission } from './parse.ts'
import type { HostPermission, PathPermission, PermissionSet, ToolPermission } from './permission.ts'

/** A settings file in Claude Code's format. `text` stands for its content where it isn't a file. */
export type PermissionFile = {
  readonly path: string
  readonly layer: RuleLayer
  readonly text?: string
  /** What `/path` is relative to. Default: the file's folder, or the folder above where that is `.claude`. */
  readonly folder?: string
}

const lists: readonly (readonly [string, RuleDecision])[] = [
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
    const text = file.text ?? readSettings(file.path)
    const folder = file.folder ?? settingsFolder(file.path)
    for (const { entry, decision, at } of entriesOf(file.path, text)) {
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
