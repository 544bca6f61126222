/**
 * Run before every test file: a test run that git itself started (from a hook, or by `git bisect run`) is told which repository that
 * was in the environment, and each `git` of a test would work in it instead of in its own.
 */
for (const name of Object.keys(process.env)) if (/^GIT_/.test(name)) delete process.env[name]
