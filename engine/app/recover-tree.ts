import { CommitError, recover, renderFailure } from '../../apply-patch/index.ts'

/**
 * Recovers a tree in which a run was killed while it applied a patch, so that the tree is all old or all new before anything looks at it.
 *
 * @returns sentences for the user: what was done, or what could not be and why; usually none
 */
export async function recoverTree(workspace: string): Promise<readonly string[]> {
  try {
    const reports = await recover({ root: workspace })
    return reports.flatMap(({ outcome, paths }) => {
      if (outcome !== 'rolled-back' && outcome !== 'completed') return []
      const what = outcome === 'completed' ? 'was completed' : 'was taken back'
      return [`A patch that was cut off ${what}: ${paths.join(', ')}`]
    })
  } catch (error) {
    if (!(error instanceof CommitError)) throw error
    return [`A patch that was cut off could not be put in order: ${renderFailure(error)}`]
  }
}
