/**
 * Run before every test file: a test run that git itself started (from a hook, or by `git bisect run`) has that repository in its environment, and every `git`
 * of a test would use it instead of its own.
 */
for (const name of Object.keys(process.env)) if (/^GIT_/.test(name)) delete process.env[name]
