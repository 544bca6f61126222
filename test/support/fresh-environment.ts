import process from 'node:process'

/**
 * This runs before every test file. Test files share a process, so each of them begins with the environment variables that the process was started
 * with, whatever the files before it have set. If git itself started the tests (from a hook, or by `git bisect run`), the environment names the
 * repository in which git was run, and every `git` of a test would use that repository instead of the test's own. Those variables are removed.
 */
const shared = globalThis as { environmentOfTests?: NodeJS.ProcessEnv }
shared.environmentOfTests ??= { ...process.env }
for (const name of Object.keys(process.env)) if (!(name in shared.environmentOfTests)) delete process.env[name]
for (const [name, value] of Object.entries(shared.environmentOfTests)) {
  if (/^GIT_/.test(name)) delete process.env[name]
  else process.env[name] = value
}
