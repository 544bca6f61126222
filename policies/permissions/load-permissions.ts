import { basename, dirname } from 'node:path'
import { RuleError } from '../rules/rule-error.ts'
import { describePattern, type PrefixRule, type RuleDecision, type RuleLayer, type RuleOrigin } from '../rules/rule.ts'
import { readLists, type ListedEntry, type PermissionLists } from './lists.ts'
import { parsePermission } from './parse.ts'
import type { HostPermission, PathPermission, PermissionSet, ToolPermission } from './permission.ts'

/** A file with permissions, in Claude Code's format unless `lists` is given. `text` is its content; absent: it is read from `path`. */
export type PermissionFile = {
  readonly path: string
  readonly layer: RuleLayer
  readonly text?: string
  /** The parsed lists of a file in another format. `text` then only serves to find the position of an entry. */
  readonly lists?: PermissionLists
  /** The folder that patterns such as `/path` are relative to. Default: the file's folder, or if that is `.claude`, the folder that contains it. */
  readonly folder?: string
  /**
   * Whether the file is untrusted. If so, and if `loadPermissions` is given `leaveOut`, nothing in the file stops or slows a run: faulty entries are
   * ignored and reported, and its restrictions count only up to a certain length. Absent: no.
   */
  readonly untrusted?: boolean
}

/** Something that was ignored in a settings file, and the reason. */
export type LeftOut = { readonly path: string; readonly what: string; readonly why: string }

/** The maximum total length of the restrictions in an untrusted file, because each file that a run touches is compared with all of them. */
const mostUntrusted = 32 * 1024

/**
 * Reads the permission lists (`permissions.allow`, `ask`, `deny`) of settings files. Other settings are ignored. Throws a `RuleError` for an entry
 * that isn't understood, an invalid list, invalid JSON or an unreadable file: a denial that quietly vanishes is worse than a run that doesn't start.
 *
 * @param leaveOut called instead of throwing if an error can be ignored: one in an allow entry, in any entry of a repository, or anywhere in an
 *   untrusted file. Absent: every error is thrown.
 * @example
 * const text = '{"permissions":{"deny":["Bash(git push:*)"]}}'
 * const permissions = loadPermissions([{ path: '/home/me/.claude/settings.json', layer: 'user', text }])
 */
export function loadPermissions(files: readonly PermissionFile[], leaveOut?: (what: LeftOut) => void): PermissionSet {
  const commands: PrefixRule[] = []
  const paths: PathPermission[] = []
  const hosts: HostPermission[] = []
  const tools: ToolPermission[] = []
  for (const file of files) {
    const folder = file.folder ?? settingsFolder(file.path)
    for (const { entry, decision, at } of readEntries(file, leaveOut)) {
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
          if (leaveOut === undefined || (decision !== 'allow' && file.layer !== 'project'))
            throw new RuleError(file.path, at, parsed.message, parsed.expected)
          leaveOut({
            path: file.path,
            what: `permissions.${listOf[decision]} ${entry}`,
            why: `not understood, so it has no effect: ${parsed.message}`,
          })
          break
        default:
          parsed satisfies never
      }
    }
  }
  return { commands, paths, hosts, tools }
}

const listOf: Readonly<Record<RuleDecision, string>> = { forbidden: 'deny', prompt: 'ask', allow: 'allow' }

function readEntries(file: PermissionFile, leaveOut: ((what: LeftOut) => void) | undefined): readonly ListedEntry[] {
  try {
    const entries = readLists(file)
    if (file.untrusted !== true || leaveOut === undefined) return entries
    let length = 0
    const kept = entries.filter(({ entry }) => (length += entry.length) <= mostUntrusted)
    if (kept.length < entries.length) {
      const what = `${entries.length - kept.length} of ${entries.length} permissions`
      leaveOut({
        path: file.path,
        what,
        why: `the permissions of a repository that is not trusted may have at most ${mostUntrusted} characters in total`,
      })
    }
    return kept
  } catch (error) {
    if (!(error instanceof RuleError) || file.untrusted !== true || leaveOut === undefined) throw error
    leaveOut({ path: file.path, what: '', why: `it can't be read, so nothing in it has an effect: ${error.message}` })
    return []
  }
}

function settingsFolder(path: string): string {
  const folder = dirname(path)
  return basename(folder) === '.claude' ? dirname(folder) : folder
}

/**
 * Removes the allow entries of sources that may only deny and ask. Returns the permissions that remain (`kept`) and the removed ones (`dropped`), each
 * of the latter with its origin and its text; a permission for commands is described in a simplified form.
 *
 * @param only tells whether the permissions of a source may only deny and ask
 * @example
 * const text = '{"permissions":{"allow":["Bash(git push:*)"]}}'
 * const permissions = loadPermissions([{ path: '/home/me/.claude/settings.json', layer: 'user', text }])
 * const { kept, dropped } = withoutAllows(permissions, () => true)
 */
export function withoutAllows(
  set: PermissionSet,
  only: (origin: RuleOrigin) => boolean,
): {
  readonly kept: PermissionSet
  readonly dropped: readonly { readonly origin: RuleOrigin; readonly text: string }[]
} {
  const dropped: { readonly origin: RuleOrigin; readonly text: string }[] = []
  const keep = <T extends Pick<PrefixRule, 'decision' | 'origin'>>(
    items: readonly T[],
    textOf: (item: T) => string,
  ): T[] =>
    items.filter((item) => {
      if (item.decision !== 'allow' || !only(item.origin)) return true
      dropped.push({ origin: item.origin, text: textOf(item) })
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
