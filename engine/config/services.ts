import { faultOfServices, parseService, writeService, type Service } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Adds the values of `--service` to the configured services. A value that names one of them again changes nothing.
 *
 * @throws UserError `usage` with the value and what was expected
 */
export function addServices(configured: readonly string[], given: readonly string[]): readonly string[] {
  return given.reduce<readonly string[]>((known, text) => {
    const service = parseService(text)
    if ('expected' in service) throw new UserError('usage', `--service ${service.expected}`)
    if (known.some((other) => isSameService(other, text))) return known
    const services = [...known, text]
    const fault = faultOfList(services)
    if (fault !== undefined) throw new UserError('usage', `--service ${JSON.stringify(text)}: ${fault}`)
    return services
  }, configured)
}

/** Says why a list of services, each of which is valid, is impossible; undefined if it isn't. */
export function faultOfList(services: readonly string[]): string | undefined {
  return faultOfServices(services.map(parseService).filter((service): service is Service => !('expected' in service)))
}

/** Whether two texts name the same service in the same way. */
export function isSameService(one: string, other: string): boolean {
  return normalized(one) === normalized(other)
}

/** What to write in place of a host that is in the loopback interface. */
export function serviceAdvice(service: string): string {
  return `must not be a loopback address, because commands have a loopback interface of their own. A server of this machine is a service: --service ${service}, or services = [${JSON.stringify(service)}] in your own config.toml`
}

function normalized(text: string): string {
  const service = parseService(text)
  return 'expected' in service ? text : writeService(service)
}
