import { join, relative } from 'node:path'
import { readHostFile, SandboxError, type Sandbox, type SandboxPolicy } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { PrivateView } from '../../transaction/stored-view.ts'
import type { StoredRun } from './base-cache.ts'
import type { JudgeTree } from './judge-tree.ts'
import { copyTrees, makeLayers, withheldFromLayers, type JudgeTrees, type Withheld } from './judge-trees.ts'
import { LayersDiffer, runUnderJudge } from './run-under-judge.ts'
import type { WatchOptions } from './watched-command.ts'

type TrialOptions = {
  readonly view: PrivateView
  readonly workspace: string
  readonly open: (policy: SandboxPolicy) => Promise<Sandbox>
  /** The files of the judge, by their paths in the tree that contains the workspace. */
  readonly judged: () => readonly string[]
}

/**
 * Runs commands in throw-away trees. Those are layers over the base where that is possible: what they cost depends on what was changed and not on what there is.
 * Where something fails in layers that works in copies, the command runs again, in copies.
 */
export class Trials {
  readonly #options: TrialOptions
  #withheld: Promise<Withheld | undefined> | undefined

  constructor(options: TrialOptions) {
    this.#options = options
  }

  /**
   * @param watch how the command's tests are watched in a tree, in which `read` reads a file
   * @param prepare makes changes to the base
   */
  async run(
    watch: (read: (path: string) => string | undefined) => WatchOptions,
    context: ToolContext,
    prepare: (trees: readonly JudgeTree[]) => void = () => undefined,
  ): Promise<StoredRun | undefined> {
    const layers = await this.#makeLayers(context)
    try {
      if (layers !== undefined) return await this.#runIn(layers, watch, context, prepare)
    } catch (error) {
      if (error instanceof SandboxError) this.#withheld = Promise.resolve(undefined)
      else if (!(error instanceof LayersDiffer)) throw error
    }
    return this.#runIn(await copyTrees(this.#options.view, context.signal), watch, context, prepare)
  }

  async #makeLayers({ sandbox: { backend, policy }, workspace }: ToolContext): Promise<JudgeTrees | undefined> {
    const { view } = this.#options
    this.#withheld ??= backend === 'bubblewrap' ? withheldFromLayers(view, policy) : Promise.resolve(undefined)
    const withheld = await this.#withheld
    try {
      return withheld && (await makeLayers(view, [workspace, ...policy.writableRoots], withheld))
    } catch {
      this.#withheld = Promise.resolve(undefined)
      return undefined
    }
  }

  async #runIn(
    { trees, views, remove }: JudgeTrees,
    watch: (read: (path: string) => string | undefined) => WatchOptions,
    context: ToolContext,
    prepare: (trees: readonly JudgeTree[]) => void,
  ): Promise<StoredRun | undefined> {
    const { workspace, open, judged } = this.#options
    try {
      prepare(trees)
      const tree = trees.find(({ view }) => isInside(workspace, view.path))
      if (tree === undefined) throw new TypeError('the workspace is in no tree of the view')
      const root = tree.view.path
      return await runUnderJudge(
        watch((path) => tree.text(path)),
        {
          ...{ context, views, root, open },
          readInTree: (path) => {
            const place = tree.find(join(relative(root, workspace), path))
            return place === undefined ? undefined : readHostFile(place, { maxBytes: 64 * 1024 * 1024 })
          },
          states: tree.statesOf(judged()),
        },
      )
    } finally {
      await remove()
    }
  }
}
