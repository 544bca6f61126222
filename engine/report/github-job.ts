import { shellJoin } from '../core/text/shell-join.ts'
import type { Report } from './report-types.ts'

/** Adapts a report to the workflow that runs this program, as its runner's variables name it. Outside of one, the report stays as it is. */
export function asOfJob(report: Report, env: Readonly<Record<string, string | undefined>>): Report {
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '', GITHUB_RUN_ID: id = '' } = env
  if (!/^https?:\/\/[\w.:-]+$/.test(server) || !/^[\w.-]+\/[\w.-]+$/.test(repository) || !/^\d+$/.test(id))
    return report
  const job = {
    artifacts: `${server}/${repository}/actions/runs/${id}#artifacts`,
    download: shellJoin(['gh', 'run', 'download', id, '--repo', repository]),
  }
  return { ...report, job }
}
