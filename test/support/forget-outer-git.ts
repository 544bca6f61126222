/**
 * This runs before every test file. If git itself started the tests (from a hook, or by `git bisect run`), their environment names the repository in
 * which git was run, and every `git` of a test would use that repository instead of the test's own.
 */
for (const name of Object.keys(process.env)) if (/^GIT_/.test(name)) delete process.env[name]
