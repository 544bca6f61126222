import { CommitError, recover, renderFailure } from '../../apply-patch/index.ts'

/**
 * Recovers a tree if a run was killed while it applied a patch. This must be called before anything else reads the tree. If it succeeds, either the
 * whole patch is applied or none of it.
 *
 * @returns sentences for the user: what was recovered, or why that failed; usually none
 */
export async function recoverTree(workspace: string): Promise<readonly string[]> {
  try {
    const reports = await recover({ root: workspace })
    return reports.flatMap(({ outcome, paths }) => {
      if (outcome !== 'rolled-back' && outcome !== 'completed') return []
      const what = outcome === 'completed' ? 'was completed' : 'was undone'
      return [`An interrupted patch ${what}: ${paths.join(', ')}`]
    })
  } catch (error) {
    if (!(error instanceof CommitError)) throw error
    return [`An interrupted patch could not be recovered: ${renderFailure(error)}`]
  }
}
