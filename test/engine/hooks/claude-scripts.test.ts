import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap, needsPrograms } from '../../support/needs.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { repository } from '../../support/workspace.ts'
import { commands } from './hooks-support.ts'
import { done, items, run, toldModel, withHooks } from './run-support.ts'

const patch = (text: string): Reply => [call('apply_patch', { input: text })]
const added = patch('*** Begin Patch\n*** Add File: app.js\n+const x = eval(input)\n*** End Patch\n')
const writes = (path: string, line: string): Reply =>
  patch(`*** Begin Patch\n*** Add File: ${path}\n+${line}\n*** End Patch\n`)
const file = (path: string): string => readFileSync(path, 'utf8')

/** Scripts written for Claude Code, based on its guide and reference. They run here unchanged. */
describe.skipIf(needsBubblewrap() || needsPrograms('jq', 'python3'))('scripts written for Claude Code', () => {
  test('a logger writes every command to a file in the user’s folder', async () => {
    const log = `jq -r '"\\(.tool_input.command) - \\(.tool_input.description // "no description")"' >> ~/.claude/commands.log`
    const ended = await withHooks({ PreToolUse: [commands('Bash', log)] }, [run('ls'), done])
    expect(file(join(ended.home, '.claude/commands.log'))).toBe('ls - no description\n')
  })

  test('a formatter is run on every file that was written', async () => {
    const format = `jq -r '.tool_input.file_path' | while read -r file; do sed -i 's/$/;/' "$file"; done`
    const ended = await withHooks({ PostToolUse: [commands('Edit|MultiEdit|Write', format)] }, [added, done])
    expect(file(join(ended.cwd, 'app.js'))).toBe('const x = eval(input);\n')
  })

  test('a formatter for one kind of file leaves the others alone', async () => {
    const format = `jq -r '.tool_input.file_path' | { read file_path; if echo "$file_path" | grep -q '\\.ts$'; then sed -i 's/  */ /g' "$file_path"; fi; }`
    const two = patch('*** Begin Patch\n*** Add File: a.ts\n+let  a\n*** Add File: b.md\n+two  words\n*** End Patch\n')
    const ended = await withHooks({ PostToolUse: [commands('Edit|Write', format)] }, [two, done])
    expect([file(join(ended.cwd, 'a.ts')), file(join(ended.cwd, 'b.md'))]).toEqual(['let a\n', 'two  words\n'])
  })

  test('a formatter in the repository is found relative to the project’s folder', async () => {
    const script = `#!/usr/bin/env python3
import json, sys
path = json.load(sys.stdin).get("tool_input", {}).get("file_path", "")
if path.endswith((".md", ".mdx")):
    text = open(path, encoding="utf-8").read()
    lines = [line.rstrip() for line in text.splitlines()]
    open(path, "w", encoding="utf-8").write("\\n".join(lines) + "\\n")
    print(f"tidied {path}")
`
    const settings = {
      hooks: {
        PostToolUse: [commands('Edit|MultiEdit|Write', '"$CLAUDE_PROJECT_DIR"/.claude/hooks/markdown_formatter.py')],
      },
    }
    const cwd = repository({
      '.claude/settings.json': JSON.stringify(settings),
      '.claude/hooks/markdown_formatter.py': script,
    })
    chmodSync(join(cwd, '.claude/hooks/markdown_formatter.py'), 0o755)
    const ended = await withHooks({}, [writes('notes.md', 'a line   '), done], { cwd, args: ['--trust'] })
    expect(ended.stderr).not.toContain("can't work")
    expect(file(join(cwd, 'notes.md'))).toBe('a line\n')
  })

  test('a security reminder in Python blocks what it objects to', async () => {
    const script = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
text = data["tool_input"].get("content") or data["tool_input"].get("new_string") or ""
if data["tool_name"] in ("Edit", "Write") and "eval(" in text:
    print("eval runs whatever it is given: parse the input instead", file=sys.stderr)
    sys.exit(2)
`
    const guard = commands('Edit|Write', 'python3 ~/.claude/hooks/reminder.py')
    const ended = await withHooks({ PreToolUse: [guard] }, [added, done], {
      files: { '.claude/hooks/reminder.py': script },
    })
    expect(existsSync(join(ended.cwd, 'app.js'))).toBe(false)
    expect(toldModel(ended)).toContain('parse the input instead')
  })

  test('a one-line guard in Python keeps files from being changed', async () => {
    const guard = `python3 -c "import json, sys; data=json.load(sys.stdin); path=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if any(p in path for p in ['.env', 'package-lock.json', '.git/']) else 0)"`
    const hooks = { PreToolUse: [commands('Edit|Write', guard)] }
    const replies = [writes('package-lock.json', '{}'), writes('package.json', '{}'), done]
    const ended = await withHooks(hooks, replies)
    expect(['package-lock.json', 'package.json'].map((name) => existsSync(join(ended.cwd, name)))).toEqual([
      false,
      true,
    ])
  })

  test('a validator of commands suggests what to use instead', async () => {
    const script = `#!/usr/bin/env python3
import json, re, sys
rules = [(r"\\bgrep\\b(?!.*\\|)", "use rg instead of grep"), (r"\\bfind\\s+\\S+\\s+-name\\b", "use rg --files instead of find -name")]
try:
    data = json.load(sys.stdin)
except json.JSONDecodeError as error:
    print(f"bad input: {error}", file=sys.stderr)
    sys.exit(1)
command = data.get("tool_input", {}).get("command", "")
if data.get("tool_name") != "Bash" or not command:
    sys.exit(1)
issues = [message for pattern, message in rules if re.search(pattern, command)]
if issues:
    for message in issues:
        print(f"- {message}", file=sys.stderr)
    sys.exit(2)
`
    const hooks = { PreToolUse: [commands('Bash', '~/.claude/hooks/validate.py')] }
    const ended = await withHooks(hooks, [run('grep -r x .'), run('touch ran'), done], {
      files: { '.claude/hooks/validate.py': script },
    })
    expect(JSON.stringify(ended.requests[1]?.body)).toContain('use rg instead of grep')
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(true)
  })

  const validator = `#!/usr/bin/env python3
import json, re, sys, datetime
data = json.load(sys.stdin)
if re.search(r"(?i)\\b(password|secret|key|token)\\s*[:=]", data.get("prompt", "")):
    print(json.dumps({"decision": "block", "reason": "the prompt holds what looks like a secret"}))
    sys.exit(0)
print(f"Context: the year is {datetime.date(2031, 1, 1).year}")
`

  test('a validator of prompts refuses one with a secret, and adds context to others', async () => {
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command: '~/.claude/hooks/prompt.py' }] }] }
    const files = { '.claude/hooks/prompt.py': validator }
    const fine = await withHooks(hooks, [done], { files })
    expect([fine.code, toldModel(fine).includes('the year is 2031')]).toEqual([0, true])
    const refused = await withHooks(hooks, [done], { files, prompt: 'password: hunter2' })
    expect([refused.code, refused.requests.length]).toEqual([3, 0])
    expect(refused.stderr).toContain('looks like a secret')
  })

  test('a notification says that a person is needed', async () => {
    const notify = `jq -r '"\\(.notification_type): \\(.message)"' >> ~/.claude/notifications.log`
    const hooks = { Notification: [commands('permission_prompt', notify), commands('idle_prompt', 'exit 2')] }
    const ended = await withHooks(hooks, [run('touch ran'), done], { args: ['--ask-for-approval', 'untrusted'] })
    expect(file(join(ended.home, '.claude/notifications.log'))).toMatch(/^permission_prompt: \S/)
  })

  test('an approver in Python allows reading documents and does not decide about other calls', async () => {
    const script = `import json, sys
data = json.load(sys.stdin)
if data["tool_name"] == "Read" and data["tool_input"].get("file_path", "").endswith((".md", ".txt", ".json")):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "a document"}, "suppressOutput": True}))
sys.exit(0)
`
    const cwd = repository({ 'a.md': 'words' })
    const hooks = { PreToolUse: [commands('Read', 'python3 ~/.claude/approve.py')] }
    const ended = await withHooks(hooks, [[call('read_file', { path: 'a.md' })], done], {
      cwd,
      files: { '.claude/approve.py': script },
    })
    expect(toldModel(ended)).toContain('words')
  })

  test('a reminder at the end sends the model back only once, using the field that says whether it did', async () => {
    const stop = `input=$(cat); if [ "$(echo "$input" | jq -r '.stop_hook_active')" = "true" ]; then exit 0; fi; echo '{"decision": "block", "reason": "run the tests first"}'`
    const ended = await withHooks({ Stop: [commands(undefined, stop)] }, [done, [say('tests are green')]])
    expect([ended.code, ended.requests.length]).toEqual([0, 2])
    expect(toldModel(ended)).toContain('run the tests first')
  })

  test('a loader at the start gives the model context as JSON', async () => {
    const load = `jq -n --arg at "$CLAUDE_PROJECT_DIR" '{hookSpecificOutput: {hookEventName: "SessionStart", additionalContext: ("open issues of " + $at)}}'`
    const ended = await withHooks({ SessionStart: [commands('startup|resume', load)] }, [done])
    expect(toldModel(ended)).toContain(`open issues of ${ended.cwd}`)
    expect(items(ended)[0]).toMatchObject({ type: 'hook', event: 'SessionStart', status: 'completed' })
  })
})
