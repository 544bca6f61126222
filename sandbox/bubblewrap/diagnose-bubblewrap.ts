import { ENOSYS } from '../kernel-constants.ts'

/** Why bwrap can't start on this machine, and what the machine's owner can do about it. */
export type Diagnosis = { readonly reason: string; readonly remedy: string }

const instead = 'or use the docker backend'

/** Determines why a trial run failed, and what would help, from what bwrap printed. Only known messages are interpreted; others are quoted. */
export function diagnose(stderr: string, machine: { readonly appArmorRestricts: boolean }): Diagnosis {
  const said = stderr.trim().split('\n').at(-1) ?? ''
  if (machine.appArmorRestricts && /uid map|RTM_NEWADDR|new namespace|Permission denied/i.test(said)) {
    return {
      reason: `AppArmor prevents unprivileged programs from creating user namespaces (${said})`,
      remedy: appArmorProfile,
    }
  }
  if (
    /No permissions to creat(e|ing) (a )?new namespace|Creating new namespace failed: Operation not permitted/i.test(
      said,
    )
  ) {
    return {
      reason: `the kernel, or the container in which this program runs, forbids user namespaces (${said})`,
      remedy: `On a host: sysctl -w kernel.unprivileged_userns_clone=1. In a container: start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, ${instead}. In a chroot, the kernel allows no user namespaces.`,
    }
  }
  if (/No space left on device|Creating new namespace failed: .*(28|ENOSPC)/i.test(said)) {
    return {
      reason: `the limit on user namespaces has been reached or is zero (${said})`,
      remedy: 'sysctl -w user.max_user_namespaces=10000',
    }
  }
  if (/mount proc|Can't mount proc/i.test(said)) {
    return {
      reason: `a new /proc can't be mounted, perhaps because this container masks parts of /proc (${said})`,
      remedy: `Start the container with --security-opt systempaths=unconfined, ${instead}.`,
    }
  }
  if (/RTM_NEWADDR|loopback/i.test(said)) {
    return {
      reason: `a network namespace can't be set up (${said})`,
      remedy: `Allow this process to create user namespaces with full capabilities inside them, ${instead}.`,
    }
  }
  if (/uid map|gid map/i.test(said)) {
    return {
      reason: `user ids can't be mapped into a new user namespace (${said})`,
      remedy: `Start Portcullis outside the container or profile that forbids this, ${instead}.`,
    }
  }
  if (/Unknown option/i.test(said)) {
    return { reason: `this bwrap is too old (${said})`, remedy: 'Install bubblewrap 0.6 or newer.' }
  }
  return {
    reason: said === '' ? 'bwrap failed and printed nothing' : said,
    remedy: `Run \`bwrap --ro-bind / / true\` to see the cause, ${instead}.`,
  }
}

/** Explains why the first program inside the sandbox failed, from its report and its error number. */
export function diagnoseStart(
  report: string,
  error: number,
  machine: { readonly appArmorRestricts: boolean },
): Diagnosis {
  if (error === ENOSYS) {
    return {
      reason: `the kernel, or the container in which this program runs, lacks the system calls that mount by descriptor (${report.trim()})`,
      remedy: `Use Linux 5.12 or newer. If this is a container, start the container with --security-opt seccomp=unconfined, ${instead}.`,
    }
  }
  if (machine.appArmorRestricts) {
    return {
      reason: `AppArmor prevents programs started by bwrap from mounting in their own namespace (${report.trim()}, error ${error})`,
      remedy: `If the profile bwrap-userns-restrict is loaded, remove it, because it forbids such mounts. ${appArmorProfile}`,
    }
  }
  return {
    reason: `programs started by bwrap can't mount in their own namespace (${report.trim()}, error ${error})`,
    remedy: `In a container: start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, ${instead}.`,
  }
}

/**
 * Advice to add an AppArmor profile in the form that Ubuntu uses for programs that create sandboxes. The profile lets bwrap's children have
 * capabilities in their own namespaces.
 */
const appArmorProfile =
  "Give bwrap an AppArmor profile that allows user namespaces: printf 'abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' > /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap"

/** Advice on how to install bwrap on this platform. */
export function installAdvice(platform: NodeJS.Platform): string {
  return platform === 'linux'
    ? 'Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).'
    : 'bubblewrap exists on Linux only: use the seatbelt backend on macOS, the docker backend elsewhere.'
}
