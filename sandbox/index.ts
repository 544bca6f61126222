export { credentialPlaces } from './credential-places.ts'
export { doctor, isDockerUsable, renderDoctor, type BackendReport, type DoctorReport } from './doctor.ts'
export { looksLikeSecret, refusalOfVariable } from './environment.ts'
export { SandboxError, type SandboxErrorCode, type SandboxErrorData } from './errors.ts'
export { finishReviews } from './finish-reviews.ts'
export { openSandbox, type SandboxOptions } from './open-sandbox.ts'
export { closedTemporaryDirectory } from './scratch.ts'
export { matchesName } from './name-pattern.ts'
export { describeAddress, type NetworkDecision } from './network/decide.ts'
export type { NetworkOptions } from './network/proxy.ts'
export { parsePolicy, SandboxPolicy, type SandboxPolicyInput } from './policy.ts'
export type { LimitName, Remedy } from './denials/remedy.ts'
export { accessDenial } from './denials/access.ts'
export { renderDenial } from './denials/render.ts'
export type {
  Backend,
  Command,
  Denial,
  ExecResult,
  Sandbox,
  SandboxProcess,
  Terminal,
  TerminalSize,
} from './sandbox.ts'
