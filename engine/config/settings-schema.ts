import * as z from 'zod'
import type { ApprovalMode } from '../../policies/index.ts'
import { settingsShape } from './settings/index.ts'

/** The contents of a configuration file. An absent key takes the default in the table of settings. */
export const ConfigFile = z.strictObject(settingsShape)

export type ConfigFile = z.infer<typeof ConfigFile>

/** The settings merged from files, the profile, `-c` and flags. Only a flag can set the approval policy to `bypass`. */
export type Settings = Omit<ConfigFile, 'approval_policy'> & { readonly approval_policy?: ApprovalMode | undefined }

/**
 * Which repositories are trusted. The settings in a repository are used only if the repository is trusted. A table `projects."/path"` says
 * whether the repository with the root `/path` is.
 */
const projects = z
  .record(z.string().min(1), z.strictObject({ trust_level: z.enum(['trusted', 'untrusted']) }))
  .optional()

export type Projects = z.infer<typeof projects>

/** The user's file: settings, profiles and trust. */
export const UserFile = ConfigFile.extend({
  /** The profile that is used without `-p`. Default: none. */
  profile: z.string().min(1).optional(),
  /** Named sets of settings, each a table `profiles.<name>`. A profile overrides the rest of the file. */
  profiles: z.record(z.string().min(1), ConfigFile).optional(),
  projects,
})

/** The machine owner's file. Other files can only make its settings stricter. */
export const ManagedFile = ConfigFile.extend({ projects })
