import * as z from 'zod'
import { toolList } from './front-matter.ts'

const shared = {
  description: z.string().optional(),
  'allowed-tools': toolList.optional(),
  /** Whether the model may call only the tools in `allowed-tools`, from the use of the definition to the end of the run. */
  restrict: z.boolean().optional(),
  model: z.string().min(1).optional(),
}

// The schemas accept unknown fields, because front matter may contain fields for other programs. An unknown field must never permit anything.
/** The front matter of a skill's `SKILL.md`. */
export const SkillFields = z.looseObject({ ...shared, name: z.string().min(1).optional() })
/** The front matter of a command. */
export const CommandFields = z.looseObject({ ...shared, 'argument-hint': z.string().optional() })
/** The front matter of an agent. `tools` is Claude Code's name for `allowed-tools`. */
export const AgentFields = z.looseObject({ ...shared, name: z.string().min(1).optional(), tools: toolList.optional() })

/** A skill, command or agent that is defined in a Markdown file. */
export type Written = {
  readonly name: string
  readonly description: string
  /** The calls that the definition permits in advance; for an agent, the only calls that it may make. Undefined: the run's own permissions apply. */
  readonly allowedTools: readonly string[] | undefined
  /** Whether the model may make only the calls in `allowedTools`, from the use of the definition to the end of the run. */
  readonly restrict: boolean
  /** The name of the model to use. Undefined: the run's model. */
  readonly model: string | undefined
  /** The path of the Markdown file. */
  readonly path: string
  readonly body: string
}

/** Instructions for one kind of work. The model is always shown the description, and loads the body when it needs it. */
export type Skill = Written & { readonly kind: 'skill' }
/** A prompt with placeholders. A person calls it with `/name arguments`. */
export type Command = Written & { readonly kind: 'command'; readonly argumentHint: string | undefined }
/** A sub-agent with its own system prompt. */
export type AgentDefinition = Written & { readonly kind: 'agent' }

/** All definitions, grouped by kind. If several of one kind have the same name, only the first of them is included. */
export type Definitions = {
  readonly skills: readonly Skill[]
  readonly commands: readonly Command[]
  readonly agents: readonly AgentDefinition[]
  /** Error messages for definitions that can't be read. Each names the file and, if known, the line. */
  readonly faults: readonly string[]
}
