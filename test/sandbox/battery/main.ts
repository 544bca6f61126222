/**
 * `node test/sandbox/battery/main.ts [BACKEND]`: runs the battery as this user, and prints the outcomes as JSON.
 */
import process from 'node:process'
import type { Backend } from '../../../sandbox/index.ts'
import { runBattery } from './run-battery.ts'

const backend = (process.argv[2] ?? 'bubblewrap') as Backend
process.stdout.write(JSON.stringify(await runBattery(backend)))
