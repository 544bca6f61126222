/** Names of options that can be given to `set -o` and `bash -o` without making the shell run anything more (bash(1), `set`). */
export const shellOptions: ReadonlySet<string> = new Set([
  ...['errexit', 'nounset', 'pipefail', 'xtrace', 'verbose', 'noglob', 'noclobber', 'noexec', 'notify', 'posix'],
])
