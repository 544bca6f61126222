import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { Action } from '../../policies/action.ts'
import {
  createGuardian,
  loadPermissions,
  nobody,
  RuleError,
  withoutAuditLog,
  type ApprovalMode,
} from '../../policies/index.ts'
import { shellAction } from './decisions.ts'

type Lists = { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[] }

function decision(action: Action | string, lists: Lists, approvalMode: ApprovalMode = 'never'): string {
  const text = JSON.stringify({ permissions: lists, model: 'x' }, null, 2)
  const permissions = loadPermissions([{ path: '/repo/.claude/settings.json', layer: 'project', text }])
  const guardian = createGuardian({ approvalMode, permissions, reviewer: nobody, audit: withoutAuditLog() })
  return guardian.assess(typeof action === 'string' ? shellAction(action) : action).decision
}

function read(path: string): Action {
  return { type: 'read', path }
}

function patch(path: string): Action {
  return { type: 'patch', root: '/repo', sandbox: 'workspace-write', changes: [{ path, kind: 'update' }] }
}

describe('Bash permissions', () => {
  test.each([
    ['Bash(git push:*)', ['git push', 'git push origin', 'env git -C . push'], ['git pull', 'git stash push']],
    ['Bash(git push *)', ['git push', 'git push origin'], ['git pushx']],
    ['Bash(ls *)', ['ls', 'ls -la'], ['lsof']],
    ['Bash(ls*)', ['ls', 'lsof -i'], ['cat ls']],
    ['Bash(rm -rf /)', ['rm -rf /', 'rm -fr /'], ['rm -rf build']],
    ['Bash(* --force)', ['tool x --force'], ['tool x']],
    ['Bash(curl http://*)', ['curl http://a.b'], ['curl https://a.b']],
    ['Bash', ['ls', 'true'], []],
    ['Bash(*)', ['ls'], []],
  ])('deny %s', (entry, denied, others) => {
    for (const line of denied) expect([line, decision(line, { deny: [entry] })]).toEqual([line, 'deny'])
    for (const line of others) expect([line, decision(line, { deny: [entry] })]).toEqual([line, 'allow'])
  })

  test('an allow never makes a hole in a deny, and ask beats allow', () => {
    expect(decision('git push origin', { allow: ['Bash(git push origin)'], deny: ['Bash(git *)'] }, 'untrusted')).toBe(
      'deny',
    )
    expect(decision('make x', { allow: ['Bash(make *)'], ask: ['Bash(make x)'] }, 'untrusted')).toBe('ask')
  })

  test('every command of a line must be allowed by itself', () => {
    const allow = { allow: ['Bash(npm run test:*)', 'Bash(npm run build)', 'Bash(docker * ps)'] }
    for (const line of [
      'npm run test',
      'npm run test -- -u',
      'npm run build',
      'npm run test && npm run build | head',
      'docker -H x ps',
    ]) {
      expect([line, decision(line, allow, 'untrusted')]).toEqual([line, 'allow'])
    }
    for (const line of [
      'npm run testx',
      'npm run build x',
      'npm run test; npm run deploy',
      'npm run test > f',
      'npm run test $(make)',
      'docker ps x',
      'npm run $x',
    ]) {
      expect([line, decision(line, allow, 'untrusted')]).toEqual([line, 'ask'])
    }
  })
})

describe('Read and Edit permissions', () => {
  test.each([
    ['Read(./secrets/**)', ['/repo/secrets/a', '/repo/secrets/a/b'], ['/repo/src/secrets.ts']],
    ['Read(/src/*.ts)', ['/repo/src/a.ts'], ['/repo/src/sub/a.ts', '/src/a.ts']],
    ['Read(//etc/**)', ['/etc/passwd'], ['/repo/etc/passwd']],
    ['Read(~/notes/*)', [`${homedir()}/notes/x`], ['/repo/notes/x']],
    ['Read(*.sql)', ['/repo/a.sql', '/repo/deep/er/a.sql'], ['/repo/a.sqlx']],
    ['Read(logs/[a-c]?.log)', ['/repo/logs/b1.log'], ['/repo/logs/d1.log', '/repo/logs/b12.log']],
    ['Read', ['/repo/a'], []],
  ])('deny %s', (entry, denied, others) => {
    // Patterns relative to the folder of a run are read from the root of a patch.
    for (const path of denied)
      expect([path, decision(patch(path), { deny: [entry] }), decision(`cat ${path}`, { deny: [entry] })]).toEqual([
        path,
        'deny',
        'deny',
      ])
    for (const path of others) expect([path, decision(`cat ${path}`, { deny: [entry] })]).toEqual([path, 'allow'])
  })

  test('hold for reads, redirections, other readers and folders changed to', () => {
    const deny = { deny: ['Read(//repo/secrets/**)'] }
    expect(decision(read('/repo/secrets/a'), deny)).toBe('deny')
    for (const line of [
      'cat secrets/a',
      'head -1 < secrets/a',
      'grep x secrets/*',
      'cat ./x/../secrets/a',
      'cd secrets && cat a',
      'diff secrets/a b',
    ]) {
      expect([line, decision(line, deny)]).toEqual([line, 'deny'])
    }
    expect(decision('cat src/a', deny)).toBe('allow')
  })

  test('Edit and Write hold for patches and for files that commands write', () => {
    for (const entry of ['Edit(/dist/**)', 'Write(/dist/**)']) {
      expect(decision(patch('/repo/dist/a.js'), { deny: [entry] })).toBe('deny')
      for (const line of ['echo x > dist/a', 'touch dist/a', 'cp a dist/b', 'ls | tee dist/x']) {
        expect([line, decision(line, { deny: [entry] })]).toEqual([line, 'deny'])
      }
      expect(decision('cat dist/a', { deny: [entry] })).toBe('allow')
    }
  })

  test('an allow saves asking for a patch, but not for one outside or of protected files', () => {
    const allow = { allow: ['Edit(//**)'] }
    expect(decision(patch('/repo/a'), allow, 'untrusted')).toBe('allow')
    expect(decision(patch('/etc/x'), allow, 'untrusted')).toBe('ask')
    expect(decision(patch('/repo/.git/config'), allow, 'untrusted')).toBe('ask')
  })
})

describe('WebFetch and MCP permissions', () => {
  const to = (host: string): Action => ({ type: 'network', host, port: 443, protocol: 'https' })
  const call = (server: string, tool: string): Action => ({ type: 'mcp', server, tool, arguments: {} })

  test('a domain allows itself, and with a star what is below it', () => {
    expect(decision(to('a.example'), { allow: ['WebFetch(domain:a.example)'] })).toBe('allow')
    expect(decision(to('b.a.example'), { allow: ['WebFetch(domain:a.example)'] })).toBe('ask')
    expect(decision(to('b.a.example'), { allow: ['WebFetch(domain:*.a.example)'] })).toBe('allow')
    expect(decision(to('eviltoo.a.example.com'), { allow: ['WebFetch(domain:*.a.example)'] })).toBe('ask')
    expect(decision('curl https://a.example/x', { deny: ['WebFetch(domain:a.example)'] })).toBe('deny')
  })

  test("a search by the model's provider, which otherwise may reach what commands may and no host that is forbidden", () => {
    const search = (fits: boolean, domains?: string[]): Action => {
      return { type: 'search', model: 'm', fits, ...(domains === undefined ? {} : { domains }) }
    }
    expect(decision(search(false), {})).toBe('ask')
    expect(decision(search(true), {}, 'never')).toBe('allow')
    expect(decision(search(true), {}, 'untrusted')).toBe('ask')
    expect(decision(search(false), { allow: ['WebSearch'] })).toBe('allow')
    expect(decision(search(true), { deny: ['WebSearch'] }, 'bypass')).toBe('deny')
    const evil = { deny: ['WebFetch(domain:evil.example)'] }
    expect(decision(search(true), evil, 'never')).toBe('ask')
    expect(decision(search(true, ['good.example']), evil, 'never')).toBe('allow')
    expect(decision(search(true, ['example']), evil, 'never')).toBe('ask')
    expect(decision(search(true), { ...evil, allow: ['WebSearch'] }, 'never')).toBe('allow')
  })

  test('a server, all of its tools, one of them', () => {
    expect(decision(call('gh', 'read'), { allow: ['mcp__gh'] })).toBe('allow')
    expect(decision(call('gh', 'read'), { allow: ['mcp__gh__*'], deny: ['mcp__gh__delete'] })).toBe('allow')
    expect(decision(call('gh', 'delete'), { allow: ['mcp__gh__*'], deny: ['mcp__*__delete'] })).toBe('deny')
    expect(decision(call('gh2', 'read'), { allow: ['mcp__gh'] })).toBe('ask')
  })
})

describe('a settings file with a fault stops the run, with place and reason', () => {
  const errorOf = (text: string): string => {
    try {
      loadPermissions([{ path: 's.json', layer: 'user', text }])
    } catch (error) {
      if (error instanceof RuleError) return `${error.line}:${error.column}: ${error.message}`
      throw error
    }
    return 'loaded'
  }

  test.each([
    ['{"permissions": {"deny": "Bash(touch *)"}}', /^1:18: permissions.deny is not a list/],
    ['{\n  "permissions": {\n    "deny": ["Bash(rm *"]\n  }\n}', /^3:14: "Bash\(rm \*" is not a permission/],
    ['{"permissions": {"deny": ["Bash(rm *)",]}}', /^1:\d+: the settings are not JSON/],
    ['{"permissions": []}', /^1:2: permissions is not an object/],
    ['[]', /^1:1: the settings are not an object/],
    ['{"permissions": {"allow": [5]}}', /^1:28: an entry of permissions.allow is not a string/],
    ['{"permissions": {"deny": ["Bsah(rm *)"]}}', /^1:27: Bsah is not a tool known here/],
    ['{"permissions": {"deny": ["Bash()"]}}', /names nothing/],
    ['{"permissions": {"deny": ["Bash(run_in_background:true)"]}}', /names a parameter/],
    ['{"permissions": {"deny": ["Read(!x)"]}}', /is not a path pattern/],
    ['{"permissions": {"allow": ["WebFetch(https://x)"]}}', /names no domain/],
    ['{"permissions": {"allow": ["mcp__*"]}}', /would allow tools of any server/],
  ])('%s', (text, message) => expect(errorOf(text)).toMatch(message))

  test('settings without permissions, and tools that are not here, are no fault', () => {
    expect(errorOf('{"hooks": {}}')).toBe('loaded')
    expect(errorOf('{"permissions": {"allow": ["Agent(x)", "Skill(y *)", "WebSearch"]}}')).toBe('loaded')
  })
})
