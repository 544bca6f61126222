import { join } from 'node:path'
import type { Action } from '../action.ts'
import type { Opinion } from '../opinion.ts'
import { matchStars } from '../rules/match-stars.ts'
import type { RuleDecision } from '../rules/rule.ts'
import { absolutePath } from './path-pattern.ts'
import { describePermission, searchPermission, type PathPermission, type PermissionSet } from './permission.ts'

const decisions: Readonly<Record<RuleDecision, Opinion['decision']>> = {
  allow: 'allow',
  prompt: 'ask',
  forbidden: 'deny',
}
const verbs: Readonly<Record<RuleDecision, string>> = { allow: 'allows', prompt: 'asks about', forbidden: 'denies' }

type Permission = Pick<PathPermission, 'decision' | 'text' | 'origin'>

function opinion(permission: Permission, what: string): Opinion {
  const { decision, text } = permission
  return {
    decision: decisions[decision],
    stage: 'permissions',
    reason: `The permission ${text} ${verbs[decision]} ${what}.`,
    rule: describePermission(permission),
  }
}

/**
 * What the permissions say about reading, changing or removing a file. A restriction on reading also restricts changing. A restriction applies to every name of
 * the file, regardless of case, and also to removing a folder that contains the file. A permission that allows something applies only if it
 * matches both the name and the target that the name leads to.
 */
export function permitPath(
  access: 'read' | 'edit' | 'remove',
  path: string,
  cwd: string,
  permissions: PermissionSet,
): readonly Opinion[] {
  const named = absolutePath(path, cwd)
  const names = permissions.realPath === undefined ? [named] : [named, permissions.realPath(named)]
  // The command chooses its own folder, so this folder alone must not determine what a pattern matches.
  const anchors = [...new Set([permissions.base ?? cwd, cwd])]
  const base = anchors.slice(0, 1)
  const wanted = access === 'read' ? 'read' : 'edit'
  const all = [...new Set(names)]
  return permissions.paths
    .filter(
      (permission) => permission.access === wanted || (permission.access === 'read' && permission.decision !== 'allow'),
    )
    .filter(({ decision, pattern: { matches, liesIn } }) =>
      decision === 'allow'
        ? names.every((name) => base.some((anchor) => matches(name, anchor)))
        : all.some((name) =>
            anchors.some((anchor) => matches(name, anchor, true) || (access === 'remove' && liesIn(name, anchor))),
          ),
    )
    .map((permission) => opinion(permission, `${doing[access]} ${path}`))
}

/**
 * What the permissions say about inspecting a file or folder (its name and metadata, not its contents), or searching through it. If a path must not
 * be read, inspecting it is restricted too, and so is inspecting a folder in which nothing may be read.
 */
export function permitLook(path: string, cwd: string, permissions: PermissionSet): readonly Opinion[] {
  const restricting = permissions.paths.filter(({ decision }) => decision !== 'allow')
  return [path, join(path, anyName)].flatMap((one) =>
    permitPath('read', one, cwd, { ...permissions, paths: restricting }),
  )
}

/** A file name that no pattern names explicitly. Only a pattern that covers all files of a folder matches it. */
const anyName = '\u0001'

const doing = { read: 'reading', edit: 'changing', remove: 'removing' } as const

/** What the permissions say about a connection to a host. A permission for `*.HOST` covers all subdomains of HOST, but not HOST itself. */
export function permitHost(host: string, permissions: PermissionSet): readonly Opinion[] {
  return permissions.hosts
    .filter((permission) => permission.host === undefined || matchesHost(host, permission.host))
    .map((permission) => opinion(permission, `a connection to ${host}`))
}

function matchesHost(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

/** What the permissions say about a tool of an MCP server. */
export function permitTool(
  { server, tool, calledAs }: Pick<Extract<Action, { type: 'mcp' }>, 'server' | 'tool' | 'calledAs'>,
  permissions: PermissionSet,
): readonly Opinion[] {
  const name = `mcp__${server}__${tool}`
  return permissions.tools
    .filter((permission) => [name, calledAs ?? name].some((each) => matchStars(permission.name, each)))
    .map((permission) => opinion(permission, name))
}

/** What the permissions say about a web search by the model's provider. */
export function permitSearch(permissions: PermissionSet): readonly Opinion[] {
  return permissions.tools
    .filter(({ name }) => name === searchPermission)
    .map((permission) => opinion(permission, "a web search by the model's provider"))
}
