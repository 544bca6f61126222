import { makeRuleSet, noRules, type RuleSet } from '../rules/rule-set.ts'
import { noPermissions, type PermissionSet } from './permission.ts'

/** Combines rules and permissions into one policy. Permissions for commands become ordinary rules. */
export function joinPermissions(
  rules: RuleSet = noRules,
  permissions: PermissionSet = noPermissions,
): { readonly rules: RuleSet; readonly permissions: PermissionSet } {
  if (permissions.commands.length === 0) return { rules, permissions }
  const prefixRules = [...rules.prefixRules, ...permissions.commands]
  return { rules: makeRuleSet(prefixRules, rules.networkRules, rules.hostExecutables), permissions }
}
