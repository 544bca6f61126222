import type { PatchChange } from './patch-change.ts'

/** What a command may change: nothing, the workspace, or (without a sandbox) everything. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

/** What one grant of an escalation adds to the sandbox: a single path, host or limit. */
export type Grant =
  | { readonly kind: 'read' | 'write'; readonly path: string }
  /** `private`: whether the host may also have an address that isn't public. Without `port`: ports 80 and 443. */
  | { readonly kind: 'network'; readonly host: string; readonly port?: number; readonly private?: true }
  /** `value`: the requested limit, in the unit that the configuration uses for it. */
  | { readonly kind: 'limit'; readonly name: string; readonly value: number }

/** Something that the model wants to do. Only a Guardian turns it into an `Approved` action. */
export type Action =
  | {
      readonly type: 'exec'
      /** The command that would run, with its arguments, e.g. `['/bin/bash', '-c', script]`. */
      readonly argv: readonly string[]
      readonly cwd: string
      /** The folder of the project in which the run works. Absent: `cwd`. */
      readonly workspace?: string
      /** The sandbox that the command would run in. */
      readonly sandbox: SandboxMode
      /** Set when the model asks for more than the sandbox allows (`sandbox_permissions: require_escalated`). */
      readonly escalation?: {
        readonly justification: string
        /** The exact grants. Absent: whatever the command needs. A reviewer then has to judge a request without limits. */
        readonly grants?: readonly Grant[]
        /** The first words of a command that the model would like to have allowed from now on (`prefix_rule`). Absent: none. */
        readonly prefixRule?: readonly string[]
      }
    }
  | {
      readonly type: 'patch'
      readonly root: string
      readonly sandbox: SandboxMode
      readonly changes: readonly PatchChange[]
      /**
       * Set if the change adds to a file with instructions for agents, wherever that file is. An approval covers only this file. Absent: an ordinary change.
       */
      readonly instructs?: true
    }
  | { readonly type: 'read'; readonly path: string }
  | {
      readonly type: 'network'
      readonly host: string
      readonly port: number
      readonly protocol: string
      /** Whether the request is made inside the sandbox, whose own network policy applies to it. Default: no. */
      readonly sandboxed?: boolean
    }
  | {
      /** The model's provider searches the web and reads pages on the model's behalf. No sandbox confines this. */
      readonly type: 'search'
      /** The name of the model that searches. */
      readonly model: string
      /** The only domains from which results may come; their subdomains are included. Absent: all domains. */
      readonly domains?: readonly string[]
      /** Whether commands may reach the same hosts as the search. */
      readonly fits: boolean
      /** Whether the user requested web search for this run. If so, the approval mode need not ask about it. Default: no. */
      readonly insisted?: boolean
    }
  | {
      readonly type: 'mcp'
      readonly server: string
      readonly tool: string
      /** The name by which the model calls the tool, if it isn't `mcp__SERVER__TOOL`. Permissions may use either. */
      readonly calledAs?: string
      readonly arguments: unknown
      readonly readOnlyHint?: boolean
    }
  /** Ends plan mode, in which nothing may be changed, and carries out the plan. */
  | {
      readonly type: 'plan'
      /** The plan, in words. */
      readonly plan: string
      /** Who requested that a plan be made before anything is changed. */
      readonly requestedBy: 'user' | 'model'
    }
  /** Makes the changes of a run, which worked on a private view, part of the user's files. Only asked if that would lose much. */
  | {
      readonly type: 'land'
      /** What would be lost, one sentence each. */
      readonly losses: readonly string[]
    }

/** The decision about an action. `deny` refuses it, `abort` ends the run. */
export type Decision = 'allow' | 'deny' | 'abort'

/** The Guardian's answer. `deny` lets the run continue and gives a reason that the model can act on; `abort` ends the run. */
export type Verdict = {
  readonly decision: Decision
  /**
   * The sandbox that the action may run in: `as-requested` is the one that the action names; `escalated` also allows exactly what the escalation
   * requested. Approval never removes the sandbox.
   */
  readonly sandbox: 'as-requested' | 'escalated'
  /** How long an escalation's grants are valid: for this command only, or for all later ones in the run too. Absent: no escalation. */
  readonly holds?: 'once' | 'run'
  /** The stage that decided, e.g. `rules`, `analysis`, `mode`, `reviewer:nobody`. */
  readonly decidedBy: string
  /** One or two sentences, written for the model and for the log. */
  readonly reason: string
  /** `file:line` and pattern of the rule that decided, if one did. */
  readonly rule?: string
}

declare const approval: unique symbol

/** An action that a Guardian allowed. The functions that run commands and commit patches accept nothing else. */
export type Approved<A extends Action = Action> = A & { readonly [approval]: true }

/** A verdict, and the approved action if the verdict allows it. */
export type Review<A extends Action = Action> =
  | { readonly verdict: Verdict & { readonly decision: 'allow' }; readonly approved: Approved<A> }
  | { readonly verdict: Verdict & { readonly decision: 'deny' | 'abort' }; readonly approved?: never }
