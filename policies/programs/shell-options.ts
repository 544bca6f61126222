/** Names for `set -o` and `bash -o` that change nothing about which commands run (bash(1), `set`). */
export const shellOptions: ReadonlySet<string> = new Set([
  ...['errexit', 'nounset', 'pipefail', 'xtrace', 'verbose', 'noglob', 'noclobber', 'noexec', 'notify', 'posix'],
])
